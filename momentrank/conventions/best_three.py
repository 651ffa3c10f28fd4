"""DiDeMo's measures (Hendricks et al., ICCV 2017): means over the best three of the people.

As its evaluation script computes them: each person's moment of a query counts, those that several
people marked several times. A query that the run lacks counts as 0.

* rank@K, here `R(iou=1)@K`: 1 if the mean rank of the three best ranked moments is at most K. A
  moment has the rank of the first result that is the same segment; the script stops if there is
  none, here it has no rank.
* mIoU: the mean of the three highest IoUs of the first result with a moment.
"""

import numpy as np

from momentrank.conventions.base import Benchmark, hull_iou, pair_times
from momentrank.errors import UsageError
from momentrank.matching import Trace, iou_with, nearest
from momentrank.matching.aligned import AlignedRun, Params, memoize
from momentrank.matching.aligned import ranks as count_up
from momentrank.matching.models import FREE
from momentrank.measures import R, mIoU
from momentrank.measures.base import Measure
from momentrank.segments import Bools, Floats

BEST = 3
"""Of the people, or all if they are fewer."""
SAME = R(iou=1)


class Didemo(Benchmark):
    """DiDeMo's evaluation script."""

    name = "didemo"
    source = "the evaluation script of DiDeMo (Hendricks et al., ICCV 2017)"
    changes = {"strict": False}
    percent = False
    digits = 6
    read = 0  # all results
    measures_by_cell = {"rank@1": SAME @ 1, "rank@5": SAME @ 5, "mIoU": mIoU}
    brief = tuple(measures_by_cell)

    def check(self, measure: Measure) -> None:
        super().check(measure)
        if measure.NAME == SAME.NAME and measure.params["iou"] != 1:
            raise UsageError(f"{measure!r} is not a measure of didemo: rank@K is R(iou=1)@K")

    def compute(self, measure: Measure, aligned: AlignedRun, params: Params) -> Floats:
        if measure.NAME == SAME.NAME:
            mean = memoize(aligned, "ranks", lambda: _mean_rank(aligned))
            return np.where(mean <= params["cutoff"], 1.0, 0.0)
        return -mean_of_least(aligned, -_first_ious(aligned))

    def trace(self, measure: Measure, aligned: AlignedRun) -> Trace:
        """Return the moment that each result is, or that the first result is nearest to."""
        if measure.NAME == SAME.NAME:
            truth = nearest(aligned, aligned.pairs.select(_is_same(aligned)))
            met = truth != FREE  # the IoU of a moment without length with itself is 0
            return Trace(truth, iou_with(aligned, truth), met.astype(np.float64), met)
        first = aligned.results.rank[aligned.pairs.result] == 1
        truth = nearest(aligned, aligned.pairs.select(first))
        iou = iou_with(aligned, truth)
        return Trace(truth, iou, iou, iou > 0)


def mean_of_least(aligned: AlignedRun, values: Floats) -> Floats:
    """Return the mean of the least values of each query's moments; 0 without moments.

    `values` has shape (judged segments,), the result (queries,).
    """
    query = aligned.truth.query
    order = np.lexsort((values, query))
    best = order[count_up(query[order]) <= BEST]
    total = np.bincount(query[best], values[best], aligned.count)
    number = np.bincount(query[best], minlength=aligned.count)
    mean: Floats = total / np.maximum(number, 1)
    return mean


def _is_same(aligned: AlignedRun) -> Bools:
    start, end, other, other_end = pair_times(aligned, *aligned.pairs)
    same: Bools = (start == other) & (end == other_end)
    return same


def _mean_rank(aligned: AlignedRun) -> Floats:
    """Return the mean rank of the best ranked moments of each query; infinite without."""
    result, truth = aligned.pairs.select(_is_same(aligned))
    rank = np.full(len(aligned.truth.query), np.inf)
    np.minimum.at(rank, truth, aligned.results.rank[result].astype(np.float64))
    mean = mean_of_least(aligned, rank)
    mean[aligned.totals(1) == 0] = np.inf
    return mean


def _first_ious(aligned: AlignedRun) -> Floats:
    """Return the IoU of each judged segment with the first result of its query."""
    first = aligned.pairs.select(aligned.results.rank[aligned.pairs.result] == 1)
    ious = np.zeros(len(aligned.truth.query))
    ious[first.truth] = hull_iou(pair_times(aligned, *first))
    return ious


CONVENTIONS = (Didemo(),)
