"""A measure is a value: its `repr` is its name, its argument, its column and its key."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ir_measures import CalcResults
from ir_measures.measures import base as ir_measures

from momentrank.errors import UsageError
from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.params import JUDGED_ONLY, REL, Param
from momentrank.scoring import Evaluator
from momentrank.segments import Bools, Floats

if TYPE_CHECKING:
    from ir_measures.util import Metric

    from momentrank.scoring import Qrels, Run


class MeasureError(UsageError):
    """An unknown measure, or a parameter that is unknown, missing or not valid."""


class Measure(ir_measures.Measure):
    """A measure: it turns relevance into a number per query.

    `nDCG(iou=0.5)@10` sets parameters and returns another measure. Subclasses define `NAME`,
    `PARAMS` and `per_query`.
    """

    NAME = ""
    PARAMS: ClassVar[Mapping[str, Param]] = {}
    MATCH = "iou"
    CONVENTIONS: ClassVar[dict[str, dict[str, Any]]] = {}
    """Defaults that a convention changes."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.SUPPORTED_PARAMS = dict(cls.PARAMS)  # where ir_measures looks

    def __init__(self, **params: object) -> None:
        """Set parameters.

        Raises:
            MeasureError: there is no such parameter, or the value is not allowed.
        """
        for name, value in params.items():
            param = self.PARAMS.get(name)
            if param is None:
                raise MeasureError(f"{self.NAME} has no parameter {name!r}{self._suggest(name)}")
            if not param.accepts(value):
                raise MeasureError(f"{self.NAME}: {name} must be {param.allowed}, not {value!r}")
        in_order = [name for name in self.PARAMS if name in params]
        super().__init__(  # type: ignore[no-untyped-call]  # (ir_measures has no types)
            **{name: _plain(params[name]) for name in in_order}
        )

    def _suggest(self, name: str) -> str:
        near = get_close_matches(name, self.PARAMS, n=1)
        there = ", ".join(self.PARAMS) or "none"
        return f"; did you mean {near[0]}?" if near else f"; its parameters: {there}"

    def __repr__(self) -> str:
        # A parameter whose default depends on the convention is always shown where it is set.
        varies = {name for defaults in self.CONVENTIONS.values() for name in defaults}
        shown = {
            name: value
            for name, value in self.params.items()
            if name != self.AT_PARAM and (value != self.PARAMS[name].default or name in varies)
        }
        brackets = ",".join(f"{name}={value!r}" for name, value in shown.items())
        cutoff = self.params.get(self.AT_PARAM)
        return self.NAME + (f"({brackets})" if shown else "") + (f"@{cutoff}" if cutoff else "")

    def validate_params(self) -> None:
        """Check that nothing is missing.

        Raises:
            MeasureError: a parameter without a default is not set.
        """
        for name in self.missing():
            if name == self.AT_PARAM:
                raise MeasureError(f"{self!r} needs a cutoff: {self!r}@10")
            raise MeasureError(f"{self!r} needs {name}: {self(**{name: 0.5})!r}")

    def missing(self) -> list[str]:
        """Return the required parameters that are not set."""
        required = [name for name, param in self.PARAMS.items() if param.required]
        return [name for name in required if name not in self.params]

    def settings(self, convention: str) -> dict[str, Any]:
        """Return every parameter's value: set, or the default of the convention or the paper."""
        defaults = {name: param.default for name, param in self.PARAMS.items()}
        common = {"match": self.MATCH, "judged_only": False, "rel": 1}
        return common | defaults | self.CONVENTIONS.get(convention, {}) | self.params

    def depth(self) -> int | None:
        """Return how many results of each list are read; None: all."""
        params = self.settings("")
        whole = params["judged_only"] or params["match"] == "bin"
        return None if whole else params.get("cutoff")

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query, shape (queries,)."""
        raise NotImplementedError

    def evaluator(  # type: ignore[override]  # (ir_measures knows no convention)
        self, qrels: "Qrels", convention: str = "paper"
    ) -> Evaluator:
        """Return an evaluator of this measure."""
        return Evaluator([self], qrels, convention)

    def iter_calc(
        self, qrels: "Qrels", run: "Run", convention: str = "paper"
    ) -> "Iterator[Metric]":
        """Yield the value of each query."""
        return self.evaluator(qrels, convention).iter_calc(run)

    def calc_aggregate(self, qrels: "Qrels", run: "Run", convention: str = "paper") -> float:
        """Return the value over all queries."""
        return self.evaluator(qrels, convention).calc_aggregate(run)[self]

    def calc(self, qrels: "Qrels", run: "Run", convention: str = "paper") -> CalcResults:
        """Return the value over all queries, and each query's."""
        evaluator = self.evaluator(qrels, convention)
        return CalcResults(evaluator.calc_aggregate(run)[self], list(evaluator.iter_calc(run)))


def _plain(value: object) -> object:
    """Return whole numbers as integers: 1.0 and 1 are the same value."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


COMMON = {"rel": REL, "judged_only": JUDGED_ONLY}


def total(relevance: Relevance, values: Floats | Bools, cutoff: int | None = None) -> Floats:
    """Return the sum of the items' values up to a cutoff, in rank order; shape (queries,)."""
    values = values if cutoff is None else np.where(relevance.rank <= cutoff, values, 0.0)
    sums = np.bincount(relevance.query, values, len(relevance.total))
    return sums.astype(np.float64, copy=False)


def table(relevance: Relevance, cutoff: int) -> Floats:
    """Return the gains at each rank, 0 where a list is shorter; shape (queries, cutoff)."""
    gains = np.zeros((len(relevance.total), cutoff))
    rows = relevance.rank <= cutoff
    gains[relevance.query[rows], relevance.rank[rows] - 1] = relevance.gain[rows]
    return gains


def share(part: Floats, whole: Floats) -> Floats:
    """Return `part / whole`, and 0 where the whole is 0."""
    result: Floats = np.divide(part, whole, out=np.zeros(len(part)), where=np.asarray(whole) > 0)
    return result
