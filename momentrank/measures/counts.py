"""Counts of what is relevant and what is retrieved: sums over queries, as in trec_eval."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance, Results, Truth
from momentrank.measures.base import Measure, total
from momentrank.measures.by_model import WITH_UNJUDGED, ByModel
from momentrank.measures.params import REL, Choice
from momentrank.segments import Bools, Floats

Rows = Bools | slice
ALL = slice(None)


class Count(Measure):
    """A number that is summed over queries."""

    MATCH = ""
    SUMMED = True


class Queries(Count):
    """1: the number of queries."""

    NAME = "NumQ"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return np.ones(aligned.count)


class RetrievedCount(Count):
    """Results."""

    NAME = "NumRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return np.bincount(aligned.results.query, minlength=aligned.count).astype(np.float64)


class RetrievedVideos(Count):
    """Distinct videos among the results."""

    NAME = "VideosRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return _count_videos(aligned, aligned.results)


class RetrievedSeconds(Count):
    """Total seconds of the results."""

    NAME = "LengthRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return _sum_seconds(aligned, aligned.results)


class RelevantVideos(Count):
    """Distinct videos with a relevant segment."""

    NAME = "VideosRel"
    PARAMS: ClassVar = {"rel": REL}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return _count_videos(aligned, aligned.truth, aligned.relevant(params["rel"]))


class RelevantSeconds(Count):
    """Total seconds of the relevant segments."""

    NAME = "LengthRel"
    PARAMS: ClassVar = {"rel": REL}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return _sum_seconds(aligned, aligned.truth, aligned.relevant(params["rel"]))


class CountByModel(ByModel, Count):
    """A number that is summed over queries, by a relevance model (default: `overlap`)."""

    PARAMS: ClassVar = {
        **WITH_UNJUDGED,
        "match": Choice("overlap", "iou", "bin", "tol", desc="the relevance model"),
    }


class RelevantCount(CountByModel):
    """Relevant segments, or bins."""

    NAME = "NumRel"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return relevance.total.astype(np.float64)


class RelevantRetrieved(CountByModel):
    """Relevant results."""

    NAME = "NumRelRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return total(relevance, relevance.relevant)


NumQ = Queries()
NumRet = RetrievedCount()
VideosRet = RetrievedVideos()
LengthRet = RetrievedSeconds()
VideosRel = RelevantVideos()
LengthRel = RelevantSeconds()
NumRel = RelevantCount()
NumRelRet = RelevantRetrieved()


def _count_videos(aligned: AlignedRun, of: Truth | Results, rows: Rows = ALL) -> Floats:
    pairs = np.unique(np.stack([of.query[rows], of.video[rows]], axis=1), axis=0)
    return np.bincount(pairs[:, 0], minlength=aligned.count).astype(np.float64)


def _sum_seconds(aligned: AlignedRun, of: Truth | Results, rows: Rows = ALL) -> Floats:
    lengths = of.end[rows] - of.start[rows]
    return np.bincount(of.query[rows], lengths, aligned.count).astype(np.float64)
