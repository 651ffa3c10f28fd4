"""What the conventions of moment retrieval benchmarks share.

Their scripts compute the IoU over the hull: shared time over the time from the first start to the
last end. Where two moments overlap, hull and union are the same length, but they may round
differently. Only judged moments of level 1 and more count.
"""

from collections.abc import Iterable
from typing import ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from momentrank.conventions.base import Convention
from momentrank.errors import UsageError
from momentrank.matching.aligned import AlignedRun, align
from momentrank.measures.base import Measure
from momentrank.segments import Floats, Ints, Segments

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
    """How many results of each list its script reads."""

    def check(self, measure: Measure) -> None:
        usual = type(measure)().settings(self.changes)
        changed = {name for name, value in measure.params.items() if value != usual.get(name)}
        if measure.NAME not in self.measures or not changed <= FREE:
            raise UsageError(
                f"{measure!r} is not a measure of {self.name}, which has"
                f" {', '.join(self.measures)}, with its own comparison of IoU"
            )

    def depth(self, measures: Iterable[Measure]) -> int:
        return max([self.read, *(measure.depth() or 0 for measure in measures)])

    def prepare(self, qrels: Segments, run: Segments) -> tuple[Segments, Segments]:
        """Return the relevant moments and the run."""
        return qrels.select(qrels.value >= 1), run

    def table(self, qrels: Segments, run: Segments) -> dict[str, float]:
        aligned = align(*self.prepare(qrels, run), self.depth([]))
        counted = self.select_counted(aligned)
        return {name: mean(values[counted]) for name, values in self.cells(aligned).items()}

    def cells(self, aligned: AlignedRun) -> dict[str, Floats]:
        """Return the value of each query for each cell, of shape (queries,)."""
        raise NotImplementedError


def mean(values: Floats) -> float:
    """Return the mean; not a number without values."""
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
