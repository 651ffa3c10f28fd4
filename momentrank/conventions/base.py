"""What a convention decides: how measures are computed, and over which queries."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from momentrank import matching
from momentrank.errors import UsageError
from momentrank.matching import Trace, trace
from momentrank.matching.aligned import AlignedRun, Params, Relevance, align, memoize
from momentrank.measures.base import EITHER, NULL, Measure
from momentrank.measures.gain import GAINS
from momentrank.measures.params import thresholds
from momentrank.segments import Bools, Floats, Ints, Segments
from momentrank.unjudged import Find

T = TypeVar("T")


class Convention:
    """Measures as the papers define them, over every query of the qrels.

    Another convention is a subclass that says what differs. One with a table of its own
    overrides `table` and `brief`, one without names the measures that are scored by default.
    """

    name: str
    source: str
    """The paper or script that it follows, in one line."""
    changes: ClassVar[Mapping[str, object]] = {}
    """Other defaults of measures' parameters."""
    time: ClassVar[Literal["seconds", "mm.ss in lines"]] = "seconds"
    """The usual unit of times in its text files."""
    negative: ClassVar[bool] = False
    """Whether levels below 0 are read, as 0: not relevant."""
    needs_match: ClassVar[bool] = True
    """Whether a run that shares no query or no video with the qrels is an error, or a warning."""
    distinct: ClassVar[bool] = False
    """Whether a segment that appears twice in its query counts once; scripts count it twice."""
    brief: ClassVar[tuple[str, ...]] = ()
    """The cells of `table` that are printed if no measure is requested."""
    percent: ClassVar[bool] = False
    """Whether its source prints percent; `table` and `values` are shares anyway."""
    digits: ClassVar[int] = 4
    """The decimals that its source prints."""

    leaves_out: ClassVar[bool] = False
    """Whether measures of relevance leave out queries without a relevant moment; scripts do not."""

    bounded: ClassVar[bool] = False
    """Whether it says what unjudged results could add; most scripts' truth is complete."""

    tasks: ClassVar[tuple[str, ...]] = ()
    """Tasks that may have their own lists in a submission; their cells begin with their names."""

    def check(self, measure: Measure) -> None:
        """Check that the convention defines a measure."""
        if measure.over() in {NULL, EITHER} and not self.leaves_out:
            raise UsageError(f"{measure!r} is not a measure of {self.name}: use convention paper")

    def check_negatives(self, negatives: T) -> T | None:
        """Return declared negatives, or None where only the levels count.

        Raises:
            UsageError: some are declared there.
        """
        if self.leaves_out:
            return negatives
        if negatives:
            raise UsageError(f"negatives: {self.name} has none; use the convention paper")
        return None

    def resolve(self, measure: Measure) -> Measure:
        """Return the measure with what its name must show, such as the comparison of `R`."""
        settings = measure.settings(self.changes)
        return measure(**{name: settings[name] for name in measure.SHOWN})

    def depth(self, measures: Iterable[Measure]) -> int | None:
        """Return how many results of each list the measures read; None, or no measure: all."""
        depths = [measure.depth() for measure in measures]
        return max(filter(None, depths)) if depths and all(depths) else None

    def is_summed(self, measure: Measure) -> bool:
        """Tell whether the value over all queries is the sum, not the mean."""
        return measure.SUMMED

    def prepare(self, qrels: Segments, run: Segments) -> tuple[Segments, Segments]:
        """Return what is scored of the qrels and of the run."""
        return qrels, run

    def select_counted(self, measure: Measure | None, aligned: AlignedRun) -> Bools:  # noqa: ARG002  (overridden)
        """Return which queries a measure is over, shape (queries,); None: a cell of `table`."""
        return aligned.in_run | True

    def values(self, measure: Measure, aligned: AlignedRun, assume: Find | None = None) -> Floats:
        """Return the value of each query, shape (queries,); the mean over a range of thresholds.

        `assume` computes it from what unjudged results are assumed to be; None: not relevant.
        """

        def compute(params: Params) -> Floats:
            if assume is None:
                return self.compute(measure, aligned, params)
            return assume(measure, aligned, params, _rate(aligned, params))

        params = measure.settings(self.changes)
        if not isinstance(spread := params.get("iou"), str):
            return compute(params)
        each = [compute({**params, "iou": threshold}) for threshold in thresholds(spread)]
        mean: Floats = np.mean(each, axis=0)
        return mean

    def compute(self, measure: Measure, aligned: AlignedRun, params: Params) -> Floats:
        """Return the value of each query with every parameter given, shape (queries,)."""
        return measure.per_query(aligned, _rate(aligned, params), params)

    def trace(self, measure: Measure, aligned: AlignedRun) -> Trace:
        """Return what each result met, as the measure sees it."""
        params = measure.settings(self.changes)
        traced = trace(aligned, params)
        if "dcg" in measure.PARAMS and params["match"] == "iou":
            return traced._replace(gain=GAINS[params["dcg"]](traced.gain))
        return traced

    def table(self, qrels: Segments, run: Segments) -> dict[str, float]:  # noqa: ARG002  (overridden)
        """Return all cells of the benchmark's own table, by its own names; none here.

        A cell over no queries is NaN.
        """
        return {}

    def table_of(self, qrels: Segments, lists: Mapping[str, Segments]) -> dict[str, float]:
        """Return `table`, each task's cells from its own list; `lists` are by task.

        The list "" is for all tasks. The cells of a task without a list are NaN.
        """
        cells: dict[str, float] = {}
        for task, run in lists.items():
            for name, value in self.table(qrels, run).items():
                is_own = not task or name.startswith(f"{task}-")
                cells[name] = value if is_own else cells.get(name, float("nan"))
        return cells

    def list_of(self, measure: Measure, lists: Mapping[str, Segments]) -> str:  # noqa: ARG002  (overridden)
        """Return the task whose list a measure is scored by."""
        return next(iter(lists))

    def is_count(self, cell: str) -> bool:  # noqa: ARG002  (overridden)
        """Tell whether a cell of `table` is a whole number, not a share."""
        return False

    def rounded(self, share: float) -> float:
        """Return a cell of `table` as its source prints it: in percent, if so, and rounded."""
        return float(f"{100 * share if self.percent else share:.{self.digits}f}")

    def defaults(self) -> list[Measure]:
        """Return the measures that are scored if none are named and there is no table."""
        return []


def _rate(aligned: AlignedRun, params: Params) -> Relevance:
    read = ("match", "rel", "judged_only", *matching.READ[params["match"]])
    key = tuple(params.get(name) for name in read)
    return memoize(aligned, key, lambda: matching.relevance(aligned, params))


Times = TypeVar("Times", Floats, npt.NDArray[np.float32])

FREE = {"cutoff", "iou"}
"""Parameters that can be set."""


class Benchmark(Convention):
    """A convention with a table in percent, rounded to two decimals."""

    percent = True
    digits = 2
    measures: ClassVar[tuple[str, ...]] = ("R", "mIoU")
    """The measures that it defines."""
    read: ClassVar[int]
    """How many results of each list its script reads; 0: all."""
    measures_by_cell: ClassVar[Mapping[str, Measure]] = {}
    """The measures whose means are the cells of its table, unless it overrides `cells`."""

    def check(self, measure: Measure) -> None:
        usual = type(measure)().settings(self.changes)
        changed = {name for name, value in measure.params.items() if value != usual.get(name)}
        if measure.NAME not in self.measures or not changed <= FREE:
            raise UsageError(
                f"{measure!r} is not a measure of {self.name}, which has"
                f" {', '.join(self.measures)}, with its own comparison of IoU"
            )

    def depth(self, measures: Iterable[Measure]) -> int | None:
        read = max([self.read, *(measure.depth() or 0 for measure in measures)])
        return read if self.read else None

    def prepare(self, qrels: Segments, run: Segments) -> tuple[Segments, Segments]:
        """Return the relevant moments and the run."""
        return qrels.select(qrels.value >= 1), run

    def table(self, qrels: Segments, run: Segments) -> dict[str, float]:
        aligned = align(*self.prepare(qrels, run), self.depth([]))
        counted = self.select_counted(None, aligned)
        return {name: mean(values[counted]) for name, values in self.cells(aligned).items()}

    def cells(self, aligned: AlignedRun) -> dict[str, Floats]:
        """Return the value of each query for each cell, of shape (queries,)."""
        measures = self.measures_by_cell.items()
        return {name: self.values(measure, aligned) for name, measure in measures}


def mean(values: Floats) -> float:
    """Return the mean; NaN without values."""
    return float(values.mean()) if len(values) else float("nan")


def hull_iou(times: Times) -> Times:
    """Return the IoU over the hull of pairs of moments, shape (n,), as exact as their floats.

    `times` (4, n) are the starts and ends of the results, then those of the judged moments.
    """
    start, end, other, other_end = times
    shared = np.maximum(0, np.minimum(end, other_end) - np.maximum(start, other))
    hull = np.maximum(end, other_end) - np.minimum(start, other)
    ratio: Times = np.divide(shared, hull, out=np.zeros_like(shared), where=hull != 0)
    return ratio


def pair_times(aligned: AlignedRun, result: Ints, truth: Ints) -> Floats:
    """Return the times of pairs of rows, shape (4, n)."""
    results, judged = aligned.results, aligned.truth
    ours, theirs = (results.start[result], results.end[result]), (judged.start, judged.end)
    return np.stack([*ours, *(column[truth] for column in theirs)])
