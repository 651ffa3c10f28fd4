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
from momentrank.conventions.benchmark import Benchmark, hull_iou, pair_times
from momentrank.matching.aligned import AlignedRun, Params, Relevance
from momentrank.matching.trace import Trace, nearest, overlapping
from momentrank.measures import R, mIoU
from momentrank.measures.base import Measure
from momentrank.segments import Bools, Floats


class RecallTable(Benchmark):
    """R@K at IoU thresholds, by the best IoU of each result, and the IoU of the first one."""

    read = 5
    thresholds: ClassVar[tuple[float, ...]]
    cell: ClassVar[str]
    """The name of a cell, with the places `cutoff` and `iou`."""
    measures_by_cell: ClassVar[dict[str, Measure]]

    def __init_subclass__(cls) -> None:
        cls.measures_by_cell = {
            cls.cell.format(cutoff=cutoff, iou=iou): R(iou=iou) @ cutoff
            for cutoff in (1, 5)
            for iou in cls.thresholds
        }
        cls.measures_by_cell["mIoU"] = mIoU
        cls.brief = tuple(cls.measures_by_cell)

    def cells(self, aligned: AlignedRun) -> dict[str, Floats]:
        return {name: self.values(one, aligned) for name, one in self.measures_by_cell.items()}

    def compute(self, measure: Measure, aligned: AlignedRun, params: Params) -> Floats:
        return measure.per_query(aligned, self.rate(aligned, params.get("iou", 0.0)), params)

    def trace(self, measure: Measure, aligned: AlignedRun) -> Trace:
        """Return the judged moment of the highest IoU over the hull of each result."""
        found = self.rate(aligned, measure.params.get("iou", 0.0))
        is_first = (found.rank == 1) & (found.gain > 0)
        hits = is_first if measure == mIoU else found.relevant
        return Trace(nearest(aligned, overlapping(aligned)), found.gain, found.gain, hits)

    def rate(self, aligned: AlignedRun, threshold: float) -> Relevance:
        """Return the best IoU of each result as its gain, and whether it reaches the threshold."""
        ious = memoize(aligned, "best", lambda: _best_iou(aligned))
        hits = ious > threshold if self.changes["strict"] else ious >= threshold
        return aligned.rate(ious, hits, hits, 1)


def _best_iou(aligned: AlignedRun) -> Floats:
    values = np.zeros(len(aligned.results.query))
    np.maximum.at(values, aligned.pairs.result, hull_iou(pair_times(aligned, *aligned.pairs)))
    return values


class Charades(RecallTable):
    """The usual evaluation of Charades-STA."""

    name = "charades"
    source = "the evaluation of Charades-STA (Gao et al., ICCV 2017), with mean IoU"
    changes = {"strict": False}
    thresholds = (0.3, 0.5, 0.7)
    cell = "R@{cutoff},IoU={iou}"


class Nlq(RecallTable):
    """Ego4D's script for natural language queries."""

    name = "nlq"
    source = "the evaluation script of Ego4D's natural language queries"
    changes = {"strict": True}
    thresholds = (0.3, 0.5)
    cell = "Rank@{cutoff} mIoU@{iou}"

    def select_counted(self, aligned: AlignedRun) -> Bools:
        return aligned.in_run


CONVENTIONS = (Charades(), Nlq())
