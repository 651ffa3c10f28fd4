"""What there is to find, and what was found: sums over queries, as trec_eval has them."""

from typing import ClassVar

import numpy as np
from ir_measures.measures.base import Agg, SumAgg

from momentrank.matching.aligned import AlignedRun, Results, Truth
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import Measure, total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import REL, Choice
from momentrank.segments import Bools, Floats


class Count(Measure):
    """A number that is summed over queries."""

    MATCH = "overlap"

    def aggregator(self) -> Agg:
        """Return what sums."""
        return SumAgg()  # type: ignore[no-untyped-call]  # (ir_measures has no types)


class NumQ(Count):
    """1: the number of queries."""

    NAME = "NumQ"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        return np.ones(aligned.count)


class NumRet(Count):
    """Results."""

    NAME = "NumRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        return np.bincount(aligned.results.query, minlength=aligned.count).astype(np.float64)


class VideosRet(Count):
    """Distinct videos among the results."""

    NAME = "VideosRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        return _videos(aligned, aligned.results, np.ones(len(aligned.results.query), dtype=bool))


class LengthRet(Count):
    """Seconds of all results together."""

    NAME = "LengthRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        return _seconds(aligned, aligned.results, np.ones(len(aligned.results.query), dtype=bool))


class VideosRel(Count):
    """Distinct videos with a relevant segment."""

    NAME = "VideosRel"
    PARAMS: ClassVar = {"rel": REL}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        return _videos(aligned, aligned.truth, aligned.relevant(params["rel"]))


class LengthRel(Count):
    """Seconds of all relevant segments together."""

    NAME = "LengthRel"
    PARAMS: ClassVar = {"rel": REL}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        return _seconds(aligned, aligned.truth, aligned.relevant(params["rel"]))


class CountByModel(ByModel, Count):
    """A number that is summed over queries, by a relevance model; `overlap` unless it is said."""

    PARAMS: ClassVar = {
        **{name: param for name, param in MODEL_PARAMS.items() if name != "judged_only"},
        "match": Choice("overlap", "iou", "bin", "tol", desc="the relevance model"),
    }


class NumRel(CountByModel):
    """Relevant segments, or bins."""

    NAME = "NumRel"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        return relevance.total.astype(np.float64)


class NumRelRet(CountByModel):
    """Relevant results."""

    NAME = "NumRelRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        return total(relevance, relevance.relevant.astype(np.float64), aligned.count)


def _videos(aligned: AlignedRun, of: Truth | Results, rows: Bools) -> Floats:
    pairs = np.unique(np.stack([of.query[rows], of.video[rows]], axis=1), axis=0)
    return np.bincount(pairs[:, 0], minlength=aligned.count).astype(np.float64)


def _seconds(aligned: AlignedRun, of: Truth | Results, rows: Bools) -> Floats:
    lengths = of.end[rows] - of.start[rows]
    return np.bincount(of.query[rows], lengths, aligned.count).astype(np.float64)
