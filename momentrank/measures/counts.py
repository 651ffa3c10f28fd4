"""Counts of what is relevant and what is retrieved; and MAiSP, over seconds.

Counts are sums over queries, as in trec_eval. MAiSP is mean average interpolated segment precision
(Eskevich et al., ECIR 2012): INEX's MAiP (Kamps et al., 2007) with seconds in place of characters.
It measures how much of the results' time is relevant, and how much of the relevant time they show.
"""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance, Results, Truth
from momentrank.matching.timeline import Spans
from momentrank.measures.base import ANY, WITH_UNJUDGED, ByModel, Measure, total
from momentrank.measures.params import REL, Choice
from momentrank.segments import Floats


class Count(Measure):
    """A number that is summed over queries."""

    MATCH = ""
    SUMMED = True
    BOUNDED = False
    OVER = ANY


class Queries(Count):
    """Queries.

    >>> mr.calc_aggregate(mr.NumQ, "demo.qrels", "demo.run")
    {NumQ: 2.0}
    """

    NAME = "NumQ"
    SOURCE = "trec_eval"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return np.ones(aligned.count)


class RetrievedCount(Count):
    """Results.

    >>> mr.calc_aggregate(mr.NumRet, "demo.qrels", "demo.run")
    {NumRet: 6.0}
    """

    NAME = "NumRet"
    SOURCE = "trec_eval"

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
    """Distinct videos among the results.

    >>> mr.calc_aggregate(mr.VideosRet, "demo.qrels", "demo.run")
    {VideosRet: 4.0}
    """

    NAME = "VideosRet"
    SOURCE = "sh_eval"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        rows = self.select(aligned, params)
        pairs = np.unique(np.stack([rows.query, rows.video], axis=1), axis=0)
        return np.bincount(pairs[:, 0], minlength=aligned.count).astype(np.float64)


class RelevantVideos(RetrievedVideos):
    """Distinct videos with a relevant segment.

    >>> mr.calc_aggregate(mr.VideosRel, "demo.qrels", "demo.run")
    {VideosRel: 3.0}
    """

    NAME = "VideosRel"
    SOURCE = "sh_eval"
    PARAMS: ClassVar = {"rel": REL}


class RetrievedSeconds(SideCount):
    """Total seconds of the results.

    >>> mr.calc_aggregate(mr.LengthRet, "demo.qrels", "demo.run")
    {LengthRet: 41.0}
    """

    NAME = "LengthRet"
    SOURCE = "sh_eval"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        rows = self.select(aligned, params)
        return np.bincount(rows.query, rows.end - rows.start, aligned.count).astype(np.float64)


class RelevantSeconds(RetrievedSeconds):
    """Total seconds of the relevant segments.

    >>> mr.calc_aggregate(mr.LengthRel, "demo.qrels", "demo.run")
    {LengthRel: 24.5}
    """

    NAME = "LengthRel"
    SOURCE = "sh_eval"
    PARAMS: ClassVar = {"rel": REL}


class CountByModel(ByModel, Count):
    """A number that is summed over queries, by a relevance model (default: `overlap`)."""

    PARAMS: ClassVar = {
        **WITH_UNJUDGED,
        "match": Choice("overlap", "iou", "bin", "tol", desc="the relevance model"),
    }


class RelevantCount(CountByModel):
    """Relevant segments, or bins.

    >>> mr.calc_aggregate(mr.NumRel, "demo.qrels", "demo.run")
    {NumRel: 4.0}
    """

    NAME = "NumRel"
    SOURCE = "trec_eval"

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return relevance.total.astype(np.float64)


class RelevantRetrieved(CountByModel):
    """Relevant results.

    >>> mr.calc_aggregate(mr.NumRelRet, "demo.qrels", "demo.run")
    {NumRelRet: 5.0}
    """

    NAME = "NumRelRet"
    SOURCE = "trec_eval"
    BOUNDED = True
    ADDITIVE = True

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


POINTS = np.arange(101) / 100
"""Recall 0.00, 0.01, ... 1.00."""
CLOSE = 1e-9
"""A recall this near to a point has reached it: sums of seconds are rounded."""


class InterpolatedPrecision(Measure):
    """Interpolated precision of seconds: the mean over 101 points of recall.

    Precision after k results is the relevant time that they show, each second once, over the sum
    of their lengths; recall is the same time over all relevant time.

    >>> mr.calc_aggregate(mr.MAiSP, "demo.qrels", "demo.run")
    {MAiSP: 0.5074...}
    """

    NAME = "MAiSP"
    SOURCE = "Eskevich et al. (ECIR 2012)"
    MATCH = ""
    PARAMS: ClassVar = {"rel": REL}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        fresh, wanted = _relevant_seconds(aligned, params["rel"])
        lengths = aligned.results.end - aligned.results.start
        values = np.zeros(aligned.count)
        borders = np.flatnonzero(np.diff(aligned.results.query, prepend=-1, append=-1))
        for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
            query = int(aligned.results.query[first])
            if wanted[query] > 0:
                shown = np.cumsum(fresh[first:last])
                taken = np.cumsum(lengths[first:last])
                values[query] = _interpolated(shown, taken, wanted[query])
        return values


MAiSP = InterpolatedPrecision()


def _interpolated(shown: Floats, taken: Floats, wanted: float) -> float:
    precision = np.divide(shown, taken, out=np.zeros(len(shown)), where=taken > 0)
    highest = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return float(highest[np.searchsorted(shown / wanted, POINTS - CLOSE)].mean())


def _relevant_seconds(aligned: AlignedRun, rel: int) -> tuple[Floats, Floats]:
    """Return the relevant seconds that each result is the first to show, and each query's sum."""
    judged, retrieved = aligned.query_videos
    truth, results = aligned.truth, aligned.results
    unseen: dict[int, Spans] = {}
    wanted = np.zeros(aligned.count)
    rows = np.flatnonzero(aligned.relevant(rel) & (truth.start < truth.end))
    columns = (column[rows].tolist() for column in (judged, truth.query, truth.start, truth.end))
    for query_video, query, start, end in zip(*columns, strict=True):
        wanted[query] += unseen.setdefault(query_video, Spans()).add(start, end)
    fresh = np.zeros(len(retrieved))
    hits = np.flatnonzero(np.isin(retrieved, judged[rows]))
    columns = (column[hits].tolist() for column in (retrieved, results.start, results.end))
    for row, query_video, start, end in zip(hits.tolist(), *columns, strict=True):
        fresh[row] = unseen[query_video].take(start, end)
    return fresh, wanted
