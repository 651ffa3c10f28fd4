"""Counts of what is relevant and what is retrieved: sums over queries, as in trec_eval."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance, Results, Truth
from momentrank.measures.base import WITH_UNJUDGED, ByModel, Measure, total
from momentrank.measures.params import REL, Choice
from momentrank.segments import Floats


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


class SideCount(Count):
    """A number of the results or, with the parameter `rel`, of the relevant segments."""

    def select(self, aligned: AlignedRun, params: Params) -> Results | Truth:
        """Return the rows that are counted."""
        if "rel" in self.PARAMS:
            return aligned.truth.select(aligned.relevant(params["rel"]))
        return aligned.results


class RetrievedVideos(SideCount):
    """Distinct videos among the results."""

    NAME = "VideosRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        rows = self.select(aligned, params)
        pairs = np.unique(np.stack([rows.query, rows.video], axis=1), axis=0)
        return np.bincount(pairs[:, 0], minlength=aligned.count).astype(np.float64)


class RelevantVideos(RetrievedVideos):
    """Distinct videos with a relevant segment."""

    NAME = "VideosRel"
    PARAMS: ClassVar = {"rel": REL}


class RetrievedSeconds(SideCount):
    """Total seconds of the results."""

    NAME = "LengthRet"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        rows = self.select(aligned, params)
        return np.bincount(rows.query, rows.end - rows.start, aligned.count).astype(np.float64)


class RelevantSeconds(RetrievedSeconds):
    """Total seconds of the relevant segments."""

    NAME = "LengthRel"
    PARAMS: ClassVar = {"rel": REL}


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
