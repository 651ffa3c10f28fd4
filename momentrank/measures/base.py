"""A measure is a value: its `repr` is its name, its argument, its column and its key."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np

from momentrank.errors import UsageError
from momentrank.matching.aligned import AlignedRun, Params, Relevance, ranks
from momentrank.measures.params import (
    BIN,
    JUDGED_ONLY,
    NOT_STRICT,
    ONCE,
    REL,
    SEEN,
    TOL,
    Choice,
    Param,
    Threshold,
    plain,
)
from momentrank.segments import Bools, Floats, Ints

RELEVANT, NULL, EITHER, ANY = "relevant", "null", "either", "any"
"""The queries that a measure is over: those with a relevant moment, those without one, both, told
apart, or both alike."""
CUTOFF = "cutoff"
"""The parameter that `measure @ K` sets."""


class MeasureError(UsageError):
    """An unknown measure, or a parameter that is unknown, missing or not valid."""


class Measure:
    """A measure: it turns relevance into a number per query.

    `nDCG(iou=0.5)@10` sets parameters and returns another measure. Measures with the same name
    are equal. Subclasses define `NAME`, `PARAMS` and `per_query`.
    """

    NAME: ClassVar[str] = ""
    SOURCE: ClassVar[str] = ""
    """The paper and the place in it, or the script, that defines it."""
    ALIASES: ClassVar[tuple[str, ...]] = ()
    """Other accepted names."""
    PARAMS: ClassVar[Mapping[str, Param]] = {}
    MATCH: ClassVar[str] = "iou"
    """The relevance model, where `match` can't be set; "" looks at times alone, and needs none."""
    SHOWN: ClassVar[tuple[str, ...]] = ()
    """Parameters that every output shows, set or not."""
    SUMMED: ClassVar[bool] = False
    """Whether the value over all queries is the sum, not the mean."""
    BOUNDED: ClassVar[bool] = True
    """Whether the value depends on whether unjudged results are relevant."""
    OVER: ClassVar[str] = RELEVANT
    """The queries that it is over: `RELEVANT`, `NULL`, `EITHER` or `ANY`."""
    COLLECTIVE: ClassVar[bool] = False
    """Whether a query's value depends on the other queries."""
    ADDITIVE: ClassVar[bool] = False
    """Whether the value is the sum of what each item adds."""

    def __init_subclass__(cls) -> None:
        """Show the source and the parameters in `help`."""
        super().__init_subclass__()
        lines = [
            f"    {name}: {param.allowed}; {param.desc}"
            f" ({'required' if param.required else f'default: {param.default!r}'})"
            for name, param in cls.PARAMS.items()
        ]
        source = f"    Source: {cls.SOURCE}"
        cls.__doc__ = "\n".join([cls.__doc__ or "", source, "", "    Parameters:", "", *lines])

    def __init__(self, **params: object) -> None:
        """Set parameters.

        Raises:
            MeasureError: there is no such parameter, or the value is not allowed.
        """
        values = {name: plain(value) for name, value in params.items()}
        for name, value in values.items():
            param = self.PARAMS.get(name)
            if param is None:
                raise MeasureError(f"{self.NAME} has no parameter {name!r}{self._suggest(name)}")
            if not param.accepts(value):
                raise MeasureError(f"{self.NAME}: {name} must be {param.allowed}, not {value!r}")
        in_order = [name for name in self.PARAMS if name in params]
        self.params: dict[str, Any] = {name: _shortest(values[name]) for name in in_order}

    def __call__(self, **params: object) -> Self:
        """Return the measure with other parameters."""
        return type(self)(**{**self.params, **params})

    def __matmul__(self, cutoff: int) -> Self:
        """Return the measure with a cutoff."""
        return type(self)(**{**self.params, CUTOFF: cutoff})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def _suggest(self, name: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(name, self.PARAMS, n=1)
        names = ", ".join(self.PARAMS) or "none"
        return f"; did you mean {near[0]}?" if near else f"; its parameters: {names}"

    def __repr__(self) -> str:
        shown = {
            name: value
            for name, value in self.params.items()
            if name != CUTOFF and (value != self.PARAMS[name].default or self.PARAMS[name].varies)
        }
        brackets = ",".join(
            f"{name}={self.PARAMS[name].show(value)}" for name, value in shown.items()
        )
        cutoff = self.params.get(CUTOFF)
        return self.NAME + (f"({brackets})" if shown else "") + (f"@{cutoff}" if cutoff else "")

    def validate_params(self) -> None:
        """Check that nothing is missing.

        Raises:
            MeasureError: a parameter without a default is not set.
        """
        for name in self.missing():
            if name == CUTOFF:
                raise MeasureError(f"{self!r} needs a cutoff: {self!r}@10")
            raise MeasureError(f"{self!r} needs {name}: {self(**{name: 0.5})!r}")

    def missing(self) -> list[str]:
        """Return the required parameters that are not set."""
        required = [name for name, param in self.PARAMS.items() if param.required]
        return [name for name in required if name not in self.params]

    def settings(self, changes: Params = MappingProxyType({})) -> dict[str, Any]:
        """Return every parameter's value: set, or the default of the convention or the paper.

        `changes` are a convention's own defaults; those of parameters that the measure lacks have
        no effect.
        """
        defaults = {name: param.default for name, param in self.PARAMS.items()}
        common = {"match": self.MATCH, "judged_only": False, "rel": 1}
        changed = {name: value for name, value in changes.items() if name in self.PARAMS}
        return common | defaults | changed | self.params

    def over(self) -> str:
        """Return the queries that the mean is over, where a convention leaves some out."""
        return self.OVER

    def depth(self) -> int | None:
        """Return how many results of each list are read; None: all."""
        params = self.settings()
        whole = params["judged_only"] or params["match"] in {"bin", "video"}
        return None if whole else params.get("cutoff")

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query, shape (queries,)."""
        raise NotImplementedError

    def per_assignment(
        self, aligned: AlignedRun, relevance: Relevance, params: Params, level: Floats
    ) -> Floats:
        """Return the value of each query if unjudged items had the levels `level` (items,).

        That is 0 for all others. `relevance` may hold all queries several times, one after another.
        """
        return self.per_query(aligned, assign(relevance, params, level), params)

    def highest(
        self, aligned: AlignedRun, relevance: Relevance, params: Params, level: Floats
    ) -> Floats:
        """Return the highest value of each query over all levels of unjudged items up to `level`.

        Here, all that count are relevant: none of them lowers the value.
        """
        return self.per_assignment(aligned, relevance, params, level)

    def highest_difference(
        self, aligned: AlignedRun, relevance: Relevance, params: Params, level: Floats, number: Ints
    ) -> Floats:
        """Return the highest difference of each query's other list and this one.

        The lists of two runs follow each other; items of both have the same `number` (items,).
        Here, what only one list has does not change the value of the other one; and either each
        item adds its own, or one hit is all: no more than one item of both is then best.
        """
        value = self.per_query(aligned, relevance, params)
        if self.ADDITIVE:
            alone = relevance._replace(query=np.arange(len(level)), total=0 * number)
            adds = self.per_assignment(aligned, alone, params, level)
            query, weight = join(relevance, level, number, adds)
            return swap(value) - value + np.bincount(query, np.maximum(weight, 0.0), len(value))
        shared = number_shared(relevance, level, number)
        best = np.full(len(value), -np.inf)
        for at in range(1 + int(shared.max(initial=0))):
            own = np.where((shared == at) & (at > 0), level, 0.0)
            other = np.where(shared == 0, level, own)
            with_own, with_other = (
                self.per_assignment(aligned, relevance, params, each) for each in (own, other)
            )
            np.maximum(best, swap(with_other) - with_own, out=best)
        return best


def swap(values: Floats) -> Floats:
    """Return the values of each query's other list: those of two runs follow each other."""
    swapped: Floats = np.roll(values, len(values) // 2)
    return swapped


def join(relevance: Relevance, level: Floats, number: Ints, adds: Floats) -> tuple[Ints, Floats]:
    """Return the unjudged items of both lists for each query: the query, and what each adds.

    To the other list's value minus this one's, the most first; an item of both is one.
    """
    rows, queries = np.flatnonzero(level), len(relevance.total)
    own = relevance.query[rows]
    query = np.append(own, (own + queries // 2) % queries)
    key = query * (1 + number.max(initial=0)) + np.tile(number[rows], 2)
    _, first, item = np.unique(key, return_index=True, return_inverse=True)
    added = np.bincount(item, np.append(-adds[rows], adds[rows]), len(first))
    order = np.lexsort((-added, query[first]))
    return query[first][order], added[order]


def number_shared(relevance: Relevance, level: Floats, number: Ints) -> Ints:
    """Return 1, 2, ... for the unjudged items of a query that both lists have, 0 for others."""
    rows = np.flatnonzero(level)
    items, first, item, times = np.unique(
        number[rows], return_index=True, return_inverse=True, return_counts=True
    )
    both = np.flatnonzero(times > 1)  # by query: numbers are
    place = np.zeros(len(items), dtype=np.int64)
    place[both] = ranks(relevance.query[rows[first[both]]])
    shared = np.zeros(len(level), dtype=np.int64)
    shared[rows] = place[item]
    return shared


def assign(relevance: Relevance, params: Params, level: Floats) -> Relevance:
    """Return relevance in which some items meet a segment of their own, of a level above 0."""
    hit = level >= params["rel"]
    gain = level if params["match"] == "iou" else hit.astype(np.float64)
    total = relevance.total + np.bincount(relevance.query[hit], minlength=len(relevance.total))
    relevant = relevance.relevant | hit
    return relevance._replace(gain=relevance.gain + gain, relevant=relevant, total=total)


def _shortest(value: object) -> object:
    """Return whole numbers as integers: 1.0 and 1 are the same value."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


COMMON = {"rel": REL, "judged_only": JUDGED_ONLY}
MODEL_PARAMS: dict[str, Param] = {
    "match": Choice("iou", "overlap", "bin", "tol", desc="the relevance model"),
    "iou": Threshold(None, "iou: the threshold, or a range of them"),
    "strict": NOT_STRICT,
    "once": ONCE,
    "bin": BIN,
    "tol": TOL,
    "seen": SEEN,
    **COMMON,
}
WITH_UNJUDGED = {name: param for name, param in MODEL_PARAMS.items() if name != "judged_only"}
"""Without the choice to remove unjudged results."""


class ByModel(Measure):
    """A measure with the parameter `match`; a model's own parameters go with that model."""

    OWN: ClassVar[dict[str, tuple[str, ...]]] = {
        "iou": ("iou", "strict"),
        "maxiou": (),
        "overlap": ("once",),
        "bin": ("bin",),
        "tol": ("tol", "seen"),
    }

    def missing(self) -> list[str]:
        needs_iou = self.settings()["match"] == "iou" and "iou" not in self.params
        return super().missing() + ["iou"] * needs_iou

    def validate_params(self) -> None:
        match = self.settings()["match"]
        for model, names in self.OWN.items():
            for name in names:
                if model != match and name in self.params:
                    raise MeasureError(f"{self!r}: {name} belongs to match={model!r}")
        super().validate_params()


def total(relevance: Relevance, values: Floats | Bools, cutoff: int | None = None) -> Floats:
    """Return the sum of the items' values up to a cutoff, in rank order; shape (queries,)."""
    values = values if cutoff is None else np.where(relevance.rank <= cutoff, values, 0.0)
    sums = np.bincount(relevance.query, values, len(relevance.total))
    return sums.astype(np.float64, copy=False)


def running(query: Ints, values: Floats | Bools) -> Floats:
    """Return the sum of the values so far in the list of each query, shape (n,)."""
    sums = np.cumsum(values, dtype=np.float64)
    first = np.flatnonzero(np.diff(query, prepend=-1))
    before = np.append(0.0, sums)[first]
    so_far: Floats = sums - np.repeat(before, np.diff(first, append=len(query)))
    return so_far


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
