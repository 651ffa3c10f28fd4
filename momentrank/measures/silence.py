"""Measures of silence as an answer: whether a run tells queries without a relevant moment apart.

A query's confidence is its best score; that of an empty list is below every score. NullAcc is the
rejection accuracy of negative-aware moment retrieval (Flanagan, Damen and Wray, WACV 2025), with a
threshold Rej-R of generalized moment retrieval (arXiv 2605.02623), whose AUROC is the same as here,
except that it is .5 there if one side is missing. AUARC is the area under the accuracy-rejection
curve (Nadeem, Zucker and Hanczar, 2009): 1 - AURC, the area under the risk-coverage curve (El-Yaniv
and Wiener, 2010; Geifman and El-Yaniv, 2017).
"""

from typing import ClassVar

import numpy as np

from momentrank.errors import UsageError
from momentrank.matching.aligned import AlignedRun, Params, Relevance
from momentrank.measures.base import EITHER, NULL, Measure
from momentrank.measures.gain import NDCG
from momentrank.measures.params import Number
from momentrank.segments import Floats, Ints

LARGE = 1e300


class NullAccuracy(Measure):
    """1 if a query without a relevant moment has no result above score t, else 0.

    >>> qrels, run = [("q1", "v", 0, 10, 1), ("q2", "v", 0, 10, 0)], [("q1", "v", 0, 10, 0.9)]
    >>> mr.calc_aggregate(mr.NullAcc, qrels, run)
    {NullAcc: 1.0}
    """

    NAME = "NullAcc"
    SOURCE = "Flanagan et al. (WACV 2025)"
    MATCH = ""
    BOUNDED = False
    OVER = NULL
    PARAMS: ClassVar = {"t": Number(-LARGE, LARGE, None, "t: the score; None: any result counts")}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        limit = -np.inf if params["t"] is None else params["t"]
        return (best_scores(aligned) <= limit).astype(np.float64)


class ROCArea(Measure):
    """The share of pairs of a query with a relevant moment and one without that scores order.

    Ties count half. A query's value is its placement (DeLong et al., 1988): the share of the
    queries of the other side that it is on the right side of.

    >>> qrels, run = [("q1", "v", 0, 10, 1), ("q2", "v", 0, 10, 0)], [("q1", "v", 0, 10, 0.9)]
    >>> mr.calc_aggregate(mr.AUROC, qrels, run)
    {AUROC: 1.0}
    """

    NAME = "AUROC"
    SOURCE = "Soccer-GMR (arXiv 2605.02623)"
    MATCH = ""
    BOUNDED = False
    OVER = EITHER
    COLLECTIVE = True

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        best, has = best_scores(aligned), aligned.has_relevant
        if has.all() or not has.any():
            raise UsageError(
                f"{self!r} needs queries with and without a relevant moment; the qrels have"
                f" {has.sum()} and {(~has).sum()}"
            )
        values = np.empty(aligned.count)
        values[has] = _shares_below(best[has], best[~has])
        values[~has] = 1.0 - _shares_below(best[~has], best[has])
        return values


def _shares_below(values: Floats, others: Floats) -> Floats:
    """Return for each value the share of the others that are lower, of ties half."""
    others = np.sort(others)
    twice = np.searchsorted(others, values) + np.searchsorted(others, values, side="right")
    shares: Floats = twice / (2 * len(others))
    return shares


class AccuracyRejectionArea(NDCG):
    """The mean over k of the accuracy over the k queries with the highest best scores.

    The accuracy is `nDCG(silence=True)`. A query's value is its accuracy * the sum of 1/k from its
    place on, so that their mean is the area; it may be above 1. Ties: the mean over their orders.

    >>> qrels, run = [("q1", "v", 0, 10, 1), ("q2", "v", 0, 10, 0)], [("q1", "v", 0, 10, 0.9)]
    >>> mr.calc_aggregate(mr.AUARC(iou=0.5) @ 10, qrels, run)
    {AUARC(iou=0.5)@10: 1.0}
    """

    NAME = "AUARC"
    SOURCE = "Nadeem et al. (2009)"
    BOUNDED = False
    OVER = EITHER
    COLLECTIVE = True
    PARAMS: ClassVar = {
        name: param for name, param in NDCG.PARAMS.items() if name not in {"judged_only", "silence"}
    }

    def depth(self) -> None:
        """Return None, for all results: any of them may have the best score."""
        return

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        accuracy = super().per_query(aligned, relevance, {**params, "silence": True})
        block, size = order_by_confidence(best_scores(aligned))
        from_place_on = np.cumsum(1.0 / np.arange(aligned.count, 0, -1))[::-1]
        weight = np.bincount(np.sort(block), from_place_on, len(size)) / size
        weighted: Floats = accuracy * weight[block]
        return weighted


def best_scores(aligned: AlignedRun) -> Floats:
    """Return the best score of each query, -inf for an empty list; shape (queries,)."""
    best = np.full(aligned.count, -np.inf)
    np.maximum.at(best, aligned.results.query, aligned.results.score)
    return best


def order_by_confidence(best: Floats) -> tuple[Ints, Ints]:
    """Return the place of each query's best score among the distinct ones, and their numbers."""
    _, block, size = np.unique(-best, return_inverse=True, return_counts=True)
    return block, size


def trace_risk(best: Floats, accuracy: Floats) -> Floats:
    """Return the risk (1 - mean accuracy) of the k most confident queries, k = 1, 2, ...; (n,)."""
    block, size = order_by_confidence(best)
    expected = np.repeat(np.bincount(block, accuracy, len(size)) / size, size)
    risk: Floats = 1.0 - np.cumsum(expected) / np.arange(1, len(best) + 1)
    return risk


NullAcc = NullAccuracy()
AUROC = ROCArea()
AUARC = AccuracyRejectionArea()
