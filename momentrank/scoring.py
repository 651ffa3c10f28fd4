"""The evaluator: scores runs against qrels by a convention; and the values that it returns.

Qrels and runs are what `momentrank.data` reads, or `Segments`, by task if several; they are never
changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from momentrank import conventions, data, formats, mismatches
from momentrank.errors import UsageError, warn
from momentrank.formats.source import count
from momentrank.formats.table import Truth
from momentrank.ids import IdError
from momentrank.matching.aligned import AlignedRun, align, memoize, restore_own_ids
from momentrank.measures.base import RELEVANT, Measure
from momentrank.measures.parse import parse_measure
from momentrank.mismatches import Unmatched, find_unmatched
from momentrank.segments import (
    Floats,
    Ints,
    Segments,
    distinct,
    find_null,
    find_repeats,
    make_frame,
    stack,
)
from momentrank.unjudged import (
    EXPECTED,
    UPPER,
    Find,
    Unjudged,
    check_measure,
    find_highest_difference,
    read_unjudged,
)

if TYPE_CHECKING:
    import pandas as pd

    from momentrank.conventions.base import Convention
    from momentrank.data import Data, Warn
    from momentrank.formats.text import Time
    from momentrank.significance import Bands

    Run = Data | Mapping[str, Segments]


PerQuery = dict[Measure, tuple[list[str], Floats]]
"""By measure: the scored queries, and their values, shape (queries,)."""


class Metric(NamedTuple):
    """The value of a measure for a query."""

    query_id: str
    measure: Measure
    value: float


class Scores(dict[Measure, float]):
    """Values by measure; a measure can be looked up as requested, or by its name."""

    def __init__(self, convention: "Convention", values: dict[Measure, float]) -> None:
        """Take the values of measures, resolved by the convention."""
        super().__init__(values)
        self.convention = convention

    def __missing__(self, key: Measure | str) -> float:
        measure = parse_measure(key) if isinstance(key, str) else key
        if (
            not isinstance(measure, Measure)
            or (resolved := self.convention.resolve(measure)) not in self
        ):
            raise KeyError(key)
        return self[resolved]


@dataclass(frozen=True, eq=False)
class Evaluation(Mapping[str, float]):
    """A run's values, by the names of measures or of the cells of a benchmark's table.

    `result["R@1,0.5"]`, `result[R(iou=0.5) @ 1]`; `result.to_frame()`, also per query. Values are
    shares from 0 to 1, even if the convention prints percent.
    """

    convention: "Convention"
    values_by_name: Mapping[str, float]
    per_query: PerQuery = field(repr=False)
    """By measure: the queries that count and their values; a benchmark's table has none."""
    upper: Mapping[str, float] = field(default_factory=dict)
    """If asked for: the values if unjudged results were as good as the measures allow."""
    expected: Mapping[str, float] = field(default_factory=dict)
    """If asked for: the values expected by rates."""
    assumed: PerQuery = field(default_factory=dict, repr=False)
    """The values of each query behind `upper` or `expected`."""
    queries: Sequence[str] = field(default=(), repr=False)
    """All queries, in the order of the qrels."""
    left_out: Sequence[str] = ()
    """Those without a relevant moment, if measures of relevance leave them out."""

    def __getitem__(self, key: Measure | str) -> float:
        if key in self.values_by_name:
            return self.values_by_name[str(key)]
        measure = parse_measure(key) if isinstance(key, str) else key
        name = repr(self.convention.resolve(measure))
        if name not in self.values_by_name:
            raise KeyError(f"{name} was not computed; available: {', '.join(self)}")
        return self.values_by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_by_name)

    def __len__(self) -> int:
        return len(self.values_by_name)

    def to_frame(self, *, per_query: bool = False) -> "pd.DataFrame":
        """Return the values as a frame `measure, value`; per query, `query_id` and a column each.

        Raises:
            UsageError: pandas is not installed, or a benchmark's own table has no such values.
        """
        more = {UPPER: self.upper, EXPECTED: self.expected}
        other = {name: values for name, values in more.items() if values}
        if not per_query:
            columns = {name: [of.get(key) for key in self] for name, of in other.items()}
            return make_frame({"measure": list(self), "value": list(self.values()), **columns})
        if not self.per_query:
            raise UsageError(
                f"the table of {self.convention.name} has no per-query values;"
                " name a measure, such as 'R@1,0.5'"
            )
        by_name = {repr(measure): scored for measure, scored in self.per_query.items()}
        for measure, scored in self.assumed.items():
            by_name |= {f"{measure!r} {name}": scored for name in other}
        counted = {name for names, _ in by_name.values() for name in names}
        queries = [name for name in self.queries if name in counted]
        table: dict[str, Any] = {"query_id": queries}
        table |= {name: _join(queries, *scored) for name, scored in by_name.items()}
        return make_frame(table)

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        lines = [f"{name:{width}}  {value:.4f}" for name, value in self.items()]
        for kind, values in ((UPPER, self.upper), (EXPECTED, self.expected)):
            lines += [f"{name:{width}}  {value:.4f}  {kind}" for name, value in values.items()]
        left = [f"# left out: {describe_left_out(self)}"] if self.left_out else []
        return "\n".join([f"# convention: {self.convention.name}", *left, *lines])

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; without pandas, that is the text."""
        with suppress(UsageError):
            return str(self.to_frame().to_html(index=False))
        return None


def _join(queries: Sequence[str], names: Sequence[str], values: Floats) -> Floats:
    """Return the value of each of some queries, NaN where it has none."""
    value_of = dict(zip(names, values.tolist(), strict=True))
    return np.array([value_of.get(name, np.nan) for name in queries])


def describe_left_out(scored: "Evaluation | Evaluator") -> str:
    """Return how many queries measures of relevance leave out, as one line."""
    number = f"{len(scored.left_out)} of {count(len(scored.queries), 'query')}"
    return f"{number}, without a relevant moment, by measures of relevance"


class CalcResults(NamedTuple):
    """The values over all queries, and those of each query."""

    aggregated: Scores
    per_query: list[Metric]


class Evaluator:
    """Scores several runs against the same qrels; a malformed run is a SegmentError."""

    def __init__(
        self, measures: Iterable[Measure], qrels: "Truth | Data", convention: "str | Convention"
    ) -> None:
        """Check the measures and the qrels; `Segments` are taken as they are.

        Raises:
            MeasureError: a measure lacks a parameter.
            UsageError: the convention does not exist or does not define a measure.
            SegmentError: the qrels are malformed.
        """
        self.convention = conventions.get(convention)
        asked = list(measures)
        for measure in asked:
            measure.validate_params()
            self.convention.check(measure)
        self.measures = list(dict.fromkeys(map(self.convention.resolve, asked)))
        self.truth = self._read_truth(qrels)
        self.qrels = self.truth.segments

    def _read_truth(self, qrels: "Truth | Data") -> Truth:
        if isinstance(qrels, Segments):
            return Truth(qrels)
        if not isinstance(qrels, Truth):
            chosen = self.convention
            how: Any = {"negative": chosen.negative, "negatives": chosen.check_negatives(())}
            qrels = data.as_truth(qrels, chosen.time, warn, **how)
        return qrels.distinct() if self.convention.distinct else qrels

    @property
    def queries(self) -> list[str]:
        """All queries of the qrels."""
        return self.qrels.queries

    @property
    def left_out(self) -> list[str]:
        """The queries without a relevant moment, if a measure leaves them out."""
        if not self.convention.leaves_out or all(m.over() != RELEVANT for m in self.measures):
            return []
        return find_null(self.qrels)

    @property
    def depth(self) -> int | None:
        """How many results of each list are read; None: all."""
        return self.convention.depth(self.measures)

    def read(
        self,
        run: "Data",
        name: str,
        time: "Time | None" = None,
        *,
        require_match: bool = True,
    ) -> formats.Lists:
        """Return the lists of a run of any kind, as far as they are scored; see `match`."""
        how: Any = {
            "tasks": bool(self.convention.tasks),
            "time": time or self.convention.time,
            "truth": self.truth,
        }
        in_memory = not isinstance(run, str | Path)
        lists = data.as_lists(run, name, **how, warn=warn) if in_memory else None

        def load(depth: int | None, tell: "Warn") -> formats.Lists:
            if lists is not None:
                return lists
            return data.as_lists(run, name, **how, depth=depth, warn=tell)

        return self.match(load, name, warn, require_match=require_match)

    def match(
        self,
        read: Callable[[int | None, "Warn"], formats.Lists],
        name: str,
        warn: "Warn",
        *,
        require_match: bool = True,
    ) -> formats.Lists:
        """Return a run's lists with the ids of the qrels; warn about what they don't share.

        `read` returns the first results of each list, or all, and calls a function with warnings;
        `name` is the run's, for messages. Without `require_match`, no match at all is a warning.
        """

        def load(depth: int | None, tell: "Warn") -> formats.Lists:
            try:
                lists = read(depth, tell).items()
                return {task: restore_own_ids(run, self.qrels) for task, run in lists}
            except IdError as exc:
                raise IdError(f"{name}: {exc}") from exc

        lists = load(self.depth, warn)
        if self.convention.distinct and any(len(find_repeats(run)[0]) for run in lists.values()):
            if self.depth is not None:
                lists = load(None, lambda _: None)  # others take the places of those that repeat
            lists = {task: distinct(run) for task, run in lists.items()}
        check = partial(mismatches.check_lists, self.convention, self.truth)
        try:
            check(lists, name, warn)
        except mismatches.NoOverlapError as exc:
            try:
                if self.depth is None:
                    raise
                check(load(None, lambda _: None), name, warn)  # matches may be further down
            except mismatches.NoOverlapError:
                if require_match and self.convention.needs_match:
                    raise
                warn(str(exc))
        return lists

    def iter_calc(self, run: "Run", unjudged: Unjudged | None = None) -> Iterator[Metric]:
        """Yield the value of each measure for each scored query; see `per_query`."""
        yield from _metrics(self.per_query(run, unjudged))

    def calc_aggregate(self, run: "Run", unjudged: Unjudged | None = None) -> Scores:
        """Return each measure over all scored queries: the mean or, for counts, the sum."""
        return self.totals(self.per_query(run, unjudged))

    def calc(self, run: "Run", unjudged: Unjudged | None = None) -> CalcResults:
        """Return both: `aggregated`, by measure, and `per_query`, a list of metrics."""
        scored = self.per_query(run, unjudged)
        return CalcResults(self.totals(scored), list(_metrics(scored)))

    def totals(self, scored: PerQuery) -> Scores:
        """Return each measure over all scored queries."""
        totals = {
            measure: self.aggregate(measure, values) for measure, (_, values) in scored.items()
        }
        return Scores(self.convention, totals)

    def per_query(self, run: "Run", unjudged: Unjudged | None = None) -> PerQuery:
        """Return the scored queries and their values for each measure.

        Args:
            run: `Segments` by task are taken as they are, as `momentrank.data` returns them; any
                other run is read and compared with the qrels first.
            unjudged: what unjudged results count as. None: not relevant. "bounds": as good as the
                measure allows, the upper bound. Rates: the expected value (`momentrank.unjudged`).
                Measures that do not depend on them are then left out.

        Raises:
            UsageError: the convention or a measure has no bounds, or rates are not valid.
        """
        return self.per_query_of_each(run, [None if unjudged is None else self.assume(unjudged)])[0]

    def assume(self, unjudged: Unjudged) -> Find:
        """Return what computes the values if unjudged results count as `unjudged`; see above."""
        if not self.convention.bounded:
            raise UsageError(
                f"the convention {self.convention.name} has no bounds for unjudged results; use the"
                " convention paper or tvr-ranking"
            )
        if not self._bounded():
            raise UsageError("no measure is named that depends on what unjudged results are")
        return read_unjudged(unjudged)

    def _bounded(self) -> list[Measure]:
        changes = self.convention.changes
        return [each for each in self.measures if check_measure(each, each.settings(changes))]

    def per_query_of_each(self, run: "Run", each: Sequence[Find | None]) -> list[PerQuery]:
        """Return `per_query` for each of some assumptions; None: not relevant."""
        lists = self._lists(run)
        tasks = {measure: self.convention.list_of(measure, lists) for measure in self.measures}
        scored = {task: self._align(lists[task]) for task in set(tasks.values())}

        def values(measure: Measure, find: Find | None) -> tuple[list[str], Floats]:
            queries, aligned = scored[tasks[measure]]
            names, rows = self._select(measure, queries, aligned)
            return names, self.convention.values(measure, aligned, find)[rows]

        return [
            {measure: values(measure, find)
             for measure in (self.measures if find is None else self._bounded())}
            for find in each
        ]  # fmt: skip

    def bound_differences(
        self, runs: Mapping[str, "Run"], pairs: Iterable[tuple[str, str]]
    ) -> "Bands":
        """Return the bounds of the second run's value minus the first one's, for pairs of runs.

        A result that both have has one level, and what either finds enters the truth of both. For
        few lists, those of AP and nDCG are wider than needed. `runs` are as in `per_query`.
        """
        from momentrank.significance import Band

        bands = {}
        for first, second in pairs:
            lists = [self._lists(runs[first]), self._lists(runs[second])]
            aligned: dict[str, AlignedRun] = {}
            for measure in self._bounded():
                tasks = [self.convention.list_of(measure, of_run) for of_run in lists]
                both = [of_run[task] for task, of_run in zip(tasks, lists, strict=True)]
                aligned[tasks[0]] = aligned.get(tasks[0]) or self._align_both(*both)
                bands[repr(measure), first, second] = Band(*self._bound(measure, aligned[tasks[0]]))
        return bands

    def _bound(self, measure: Measure, both: AlignedRun) -> tuple[float, float]:
        highest = self.convention.values(measure, both, find_highest_difference)
        counted = self.convention.select_counted(measure, both)
        is_counted = np.logical_and(*np.split(counted, 2))
        high, low = (each[is_counted] for each in np.split(highest, 2))
        return self.aggregate(measure, -low), self.aggregate(measure, high)

    def _align_both(self, first: Segments, second: Segments) -> AlignedRun:
        """Return two runs as one, over the queries of the first and then of the second."""
        prepared = (self.convention.prepare(self.qrels, run) for run in (first, second))
        qrels, run = (stack(both) for both in zip(*prepared, strict=True))
        return align(qrels, run, self.depth)

    def _lists(self, run: "Run") -> formats.Lists:
        if _are_lists(run):
            return {task: restore_own_ids(each, self.qrels) for task, each in run.items()}
        return self.read(run, "the run", require_match=False)

    def _align(self, run: Segments) -> tuple[list[str], AlignedRun]:
        qrels, run = self.convention.prepare(self.qrels, run)
        names = self.truth.names if qrels is self.qrels else None
        return qrels.queries, align(qrels, run, self.depth, names)

    def _select(
        self, measure: Measure, queries: Sequence[str], aligned: AlignedRun
    ) -> tuple[list[str], Ints]:
        """Return the queries that count; the same list for measures over the same ones."""

        def select() -> tuple[list[str], Ints]:
            rows = np.flatnonzero(self.convention.select_counted(measure, aligned))
            return [queries[row] for row in rows.tolist()], rows

        return memoize(aligned, ("counted", measure.over()), select)

    def aggregate(self, measure: Measure, values: Floats) -> float:
        """Return the mean or the sum of queries' values.

        Without queries, 0 where scripts have it, and NaN for a mean that leaves out queries.
        """
        if not len(values) and self.convention.leaves_out and not measure.SUMMED:
            return float("nan")
        total = 0.0
        for value in values.tolist():  # in order: a run's mean is the same on every machine
            total += value
        is_sum = self.convention.is_summed(measure) or not len(values)
        return total if is_sum else total / len(values)

    def find_unmatched(self, run: Segments) -> Unmatched:
        """Return the queries that only the qrels or only the run has."""
        run = restore_own_ids(run, self.qrels)
        return find_unmatched(self.qrels.queries, run.queries)


def _are_lists(run: "Run") -> TypeGuard[formats.Lists]:
    return isinstance(run, dict) and all(isinstance(each, Segments) for each in run.values())


def _metrics(scored: PerQuery) -> Iterator[Metric]:
    for measure, (names, values) in scored.items():
        for name, value in zip(names, values.tolist(), strict=True):
            yield Metric(name, measure, value)
