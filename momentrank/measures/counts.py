"""What there is to find, and what was found: sums over queries, as trec_eval has them."""

from typing import Any, ClassVar

import numpy as np
from ir_measures.measures.base import Agg, SumAgg

from momentrank.matching.aligned import Lists, Results, Truth
from momentrank.matching.relevance import Relevance
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

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        return np.ones(lists.count)


class NumRet(Count):
    """Results."""

    NAME = "NumRet"

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        return np.bincount(lists.results.query, minlength=lists.count).astype(np.float64)


class VideosRet(Count):
    """Distinct videos among the results."""

    NAME = "VideosRet"

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        return _videos(lists, lists.results, np.ones(len(lists.results.query), dtype=bool))


class LengthRet(Count):
    """Seconds of all results together."""

    NAME = "LengthRet"

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        return _seconds(lists, lists.results, np.ones(len(lists.results.query), dtype=bool))


class VideosRel(Count):
    """Distinct videos with a relevant segment."""

    NAME = "VideosRel"
    PARAMS: ClassVar = {"rel": REL}

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        return _videos(lists, lists.truth, lists.relevant(params["rel"]))


class LengthRel(Count):
    """Seconds of all relevant segments together."""

    NAME = "LengthRel"
    PARAMS: ClassVar = {"rel": REL}

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        return _seconds(lists, lists.truth, lists.relevant(params["rel"]))


class CountByModel(ByModel, Count):
    """A number that is summed over queries, by a relevance model; `overlap` unless it is said."""

    PARAMS: ClassVar = {
        **{name: param for name, param in MODEL_PARAMS.items() if name != "judged_only"},
        "match": Choice("overlap", "iou", "bin", "tol", desc="the relevance model"),
    }


class NumRel(CountByModel):
    """Relevant segments, or bins."""

    NAME = "NumRel"

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        return found.total.astype(np.float64)


class NumRelRet(CountByModel):
    """Relevant results."""

    NAME = "NumRelRet"

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        return total(found, found.relevant.astype(np.float64), lists.count)


def _videos(lists: Lists, of: Truth | Results, rows: Bools) -> Floats:
    pairs = np.unique(np.stack([of.query[rows], of.video[rows]], axis=1), axis=0)
    return np.bincount(pairs[:, 0], minlength=lists.count).astype(np.float64)


def _seconds(lists: Lists, of: Truth | Results, rows: Bools) -> Floats:
    lengths = of.end[rows] - of.start[rows]
    return np.bincount(of.query[rows], lengths, lists.count).astype(np.float64)
