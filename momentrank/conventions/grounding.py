"""Temporal grounding, where a query's video is given: Charades-STA and Ego4D's language queries.

* `charades`: R@1 and R@5 at IoU >= 0.3, 0.5 and 0.7, as the scripts of TALL and of its successors
  compute them. Queries that the run lacks count as 0.
* `nlq`: R@1 and R@5 at IoU > 0.3 and 0.5, as Ego4D's evaluation script computes them. The mean is
  over the queries of the run.

The mean IoU is that of the first results.
"""

from typing import ClassVar

import numpy as np

from momentrank.conventions.base import memoize
from momentrank.conventions.benchmark import Benchmark, any_of_first, hull_iou, pair_times
from momentrank.matching.aligned import AlignedRun, Params
from momentrank.matching.trace import Trace, nearest, overlapping
from momentrank.measures.base import Measure
from momentrank.segments import Bools, Floats


class RecallTable(Benchmark):
    """R@K at IoU thresholds, by the best IoU of each result, and the IoU of the first one."""

    thresholds: ClassVar[tuple[float, ...]]
    cutoffs: ClassVar[tuple[int, ...]]
    cell: ClassVar[str]
    """The name of a cell, with the places `cutoff` and `iou`."""

    def cells(self, aligned: AlignedRun) -> dict[str, Floats]:
        """Return the value of each query for each cell, of shape (queries,)."""
        recalls = {
            self.cell.format(cutoff=cutoff, iou=iou): self.recall(aligned, iou, cutoff)
            for cutoff in self.cutoffs
            for iou in self.thresholds
        }
        return {**recalls, "mIoU": of_first(aligned)}

    def compute(self, measure: Measure, aligned: AlignedRun, params: Params) -> Floats:
        if measure.NAME == "mIoU":
            return of_first(aligned)
        return self.recall(aligned, params["iou"], params["cutoff"])

    def trace(self, measure: Measure, aligned: AlignedRun) -> Trace:
        """Return the judged moment of the highest IoU over the hull of each result."""
        ious, rank = best(aligned), aligned.results.rank
        hits = (rank == 1) & (ious > 0)
        if measure.NAME != "mIoU":
            threshold = measure.params["iou"]
            hits = ious > threshold if self.changes["strict"] else ious >= threshold
        return Trace(nearest(aligned, overlapping(aligned)), ious, ious, hits)

    def recall(self, aligned: AlignedRun, iou: float, cutoff: int) -> Floats:
        """Return whether one of the first results reaches the threshold, shape (queries,)."""
        ious = best(aligned)
        hits = ious > iou if self.changes["strict"] else ious >= iou
        return any_of_first(aligned, hits, aligned.results.rank, cutoff)


class Charades(RecallTable):
    """The usual evaluation of Charades-STA."""

    name = "charades"
    source = "the evaluation of Charades-STA (Gao et al., ICCV 2017), with mean IoU"
    changes = {"strict": False}
    read = 5
    thresholds = (0.3, 0.5, 0.7)
    cutoffs = (1, 5)
    cell = "R@{cutoff},IoU={iou}"
    brief = (
        *(f"R@{cutoff},IoU={iou}" for cutoff in (1, 5) for iou in (0.3, 0.5, 0.7)),
        "mIoU",
    )


class Nlq(RecallTable):
    """Ego4D's script for natural language queries."""

    name = "nlq"
    source = "the evaluation script of Ego4D's natural language queries"
    changes = {"strict": True}
    read = 5
    thresholds = (0.3, 0.5)
    cutoffs = (1, 5)
    cell = "Rank@{cutoff} mIoU@{iou}"
    brief = (*(f"Rank@{cutoff} mIoU@{iou}" for cutoff in (1, 5) for iou in (0.3, 0.5)), "mIoU")

    def select_counted(self, aligned: AlignedRun) -> Bools:
        return aligned.in_run


def best(aligned: AlignedRun) -> Floats:
    """Return the highest IoU over the hull of each result, shape (results,)."""
    return memoize(aligned, "best", lambda: _best(aligned))


def _best(aligned: AlignedRun) -> Floats:
    values = np.zeros(len(aligned.results.query))
    np.maximum.at(values, aligned.pairs.result, hull_iou(pair_times(aligned, *aligned.pairs)))
    return values


def of_first(aligned: AlignedRun) -> Floats:
    """Return the highest IoU of each query's first result, 0 without one; shape (queries,)."""
    values = np.zeros(aligned.count)
    first = aligned.results.rank == 1
    values[aligned.results.query[first]] = best(aligned)[first]
    return values


CONVENTIONS = (Charades(), Nlq())
