"""Moment retrieval in a given video by proposals: R@K after non-maximum suppression (NMS).

NMS goes through a list and drops what overlaps something kept before by more than a threshold; the
IoU there is over the union, in R over the hull. Two empty segments overlap.

* `tall`: TALL's script (CTRL; Gao et al., ICCV 2017). R@1, 5 and 10 at IoU >= 0.1 to 0.5, and 0.7
  for Charades-STA; for each, NMS at 0.05 less. Lists are in order of score, of equal scores the
  last comes first; a list without different scores keeps its order.
* `2d-tan`: 2D-TAN's script (Zhang et al., AAAI 2020). R@1 and 5 at IoU > 0.1 to 0.7, and the mean
  IoU of the first result; NMS at 0.5, 0.45 or 0.4, as its settings name it, or at MS-2D-TAN's 0.49.

Queries that the run lacks count as 0.
"""

import numpy as np

from momentrank.conventions.grounding import RecallTable
from momentrank.matching.aligned import AlignedRun, Relevance, Results, memoize
from momentrank.segments import Bools, Floats, Ints

DEPTH = 10
"""At least so many results are kept, if there are."""
DROPPED = np.iinfo(np.int64).max
"""The rank of a dropped result."""


class Suppressed(RecallTable):
    """R@K over what NMS keeps."""

    read = 0  # all results

    def limit(self, threshold: float) -> float:
        """Return the highest IoU that NMS accepts, for a measure with the given threshold."""
        raise NotImplementedError

    def order(self, aligned: AlignedRun) -> Ints:
        """Return the rows of the results in the order in which NMS goes through them."""
        return np.arange(len(aligned.results.query))

    def rate(self, aligned: AlignedRun, threshold: float, cutoff: int) -> Relevance:
        limit, depth = self.limit(threshold), max(cutoff, DEPTH)
        order = memoize(aligned, "order", lambda: self.order(aligned))
        rank = memoize(
            aligned,
            ("kept", limit, depth),
            lambda: rank_kept(aligned.results, order, limit, depth),
        )
        rated = super().rate(aligned, threshold, cutoff)
        return rated._replace(rank=rank, relevant=rated.relevant & (rank < DROPPED))


def rank_kept(results: Results, order: Ints, limit: float, depth: int) -> Ints:
    """Return the rank of each result among the first `depth` that NMS keeps, else `DROPPED`.

    `order` are the rows by query, as NMS goes through them; `limit` is the highest IoU accepted.
    """
    rank = np.full(len(order), DROPPED)
    left = order
    for place in range(1, depth + 1):
        first = np.flatnonzero(np.diff(results.query[left], prepend=-1))
        kept = left[first]
        rank[kept] = place
        before = np.repeat(kept, np.diff(first, append=len(left)))
        left = left[(left != before) & _accepts(results, before, left, limit)]
    return rank


def _accepts(results: Results, row: Ints, other: Ints, limit: float) -> Bools:
    """Return which pairs of results overlap by no more than the limit."""
    start, end = results.start, results.end
    shared = np.minimum(end[row], end[other]) - np.maximum(start[row], start[other])
    shared = np.maximum(0.0, shared)
    union = (end[row] - start[row]) + (end[other] - start[other]) - shared
    iou: Floats = np.divide(shared, union, out=np.full(len(union), np.inf), where=union > 0)
    accepted: Bools = (iou <= limit) | (results.video[row] != results.video[other])
    return accepted


class Tall(Suppressed):
    """TALL's script."""

    name = "tall"
    source = "the script of TALL (Gao et al., ICCV 2017)"
    changes = {"strict": False}
    percent = False
    digits = 4
    measures = ("R",)
    cutoffs = (1, 5, 10)
    thresholds = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7)
    cell = "IoU={iou}, R@{cutoff}"

    def limit(self, threshold: float) -> float:
        return threshold - 0.05

    def order(self, aligned: AlignedRun) -> Ints:
        query, score = aligned.results.query, aligned.results.score
        rows: Ints = np.arange(len(query))
        highest = np.full(aligned.count, -np.inf)
        np.maximum.at(highest, query, score)
        differ = np.zeros(aligned.count, dtype=bool)
        differ[query[score < highest[query]]] = True
        order: Ints = np.lexsort((np.where(differ[query], -rows, rows), -score, query))
        return order


class TwoDTan(Suppressed):
    """2D-TAN's script, and MS-2D-TAN's."""

    changes = {"strict": True}
    thresholds = (0.1, 0.3, 0.5, 0.7)
    cell = "Rank@{cutoff},mIoU@{iou}"

    def __init__(
        self, name: str, nms: float, paper: str = "2D-TAN (Zhang et al., AAAI 2020)"
    ) -> None:
        """Suppress with an IoU above `nms`."""
        self.name, self.nms = name, nms
        self.source = f"the script of {paper}, with NMS at {nms}"

    def limit(self, threshold: float) -> float:  # noqa: ARG002  (the base class's)
        return self.nms


CONVENTIONS = (
    Tall(),
    TwoDTan("2d-tan", 0.5),
    TwoDTan("2d-tan-0.49", 0.49, "MS-2D-TAN (Zhang et al., TPAMI 2022)"),
    TwoDTan("2d-tan-0.45", 0.45),
    TwoDTan("2d-tan-0.4", 0.4),
)
