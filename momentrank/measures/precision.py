"""Precision, recall and measures derived from them; over segments, Aly et al. (2013), section 2."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance, ranks
from momentrank.measures.base import (
    ANY,
    MODEL_PARAMS,
    WITH_UNJUDGED,
    ByModel,
    Measure,
    join,
    running,
    share,
    swap,
    total,
)
from momentrank.measures.params import CUTOFF, DEPTH, REL, Choice
from momentrank.measures.ratios import find_highest_ratio
from momentrank.segments import Bools, Floats, Ints


class Precision(ByModel):
    """The relevant results among the first K, over K.

    >>> mr.calc_aggregate(mr.P(iou=0.5) @ 2, "demo.qrels", "demo.run")
    {P(iou=0.5)@2: 0.5}
    """

    NAME = "P"
    SOURCE = "Aly et al. (2013), section 2"
    ADDITIVE = True
    PARAMS: ClassVar = {"cutoff": CUTOFF, **MODEL_PARAMS}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        hits: Floats = total(relevance, self.select(relevance), params["cutoff"]) / params["cutoff"]
        return hits

    def select(self, relevance: Relevance) -> Bools:
        """Return which results count."""
        return relevance.relevant


class JudgedShare(Precision):
    """The results among the first K that match a judged segment of any level, over K.

    >>> mr.calc_aggregate(mr.Judged(iou=0.5) @ 2, "demo.qrels", "demo.run")
    {Judged(iou=0.5)@2: 0.5}
    """

    NAME = "Judged"
    SOURCE = "sh_eval"
    BOUNDED = False
    OVER = ANY
    PARAMS: ClassVar = {"cutoff": CUTOFF, **WITH_UNJUDGED}

    def select(self, relevance: Relevance) -> Bools:
        return relevance.judged


class RecallOfAll(ByModel):
    """The relevant results among the first K, over the number of relevant segments, or bins.

    Only for the models that match one to one: with others a segment can be found twice.

    >>> mr.calc_aggregate(mr.Recall(iou=0.5) @ 4, "demo.qrels", "demo.run")
    {Recall(iou=0.5)@4: 0.8333...}
    """

    NAME = "Recall"
    SOURCE = "trec_eval"
    PARAMS: ClassVar = {
        "cutoff": CUTOFF,
        **{
            name: MODEL_PARAMS[name] for name in MODEL_PARAMS if name not in {"once", "tol", "seen"}
        },
        "match": Choice("iou", "bin", desc="the relevance model"),
    }

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        hits = total(relevance, relevance.relevant, params["cutoff"])
        return share(hits, relevance.total.astype(np.float64))

    def highest_difference(
        self, aligned: AlignedRun, relevance: Relevance, params: Params, level: Floats, number: Ints
    ) -> Floats:
        """Return the highest difference of each query's other list and this one."""
        hits = total(relevance, relevance.relevant, params["cutoff"])
        items = join(relevance, level, number, np.ones(len(level)))

        def costs(queries: Ints, more: Ints) -> list[tuple[float, Floats]]:
            return [(1.0, (relevance.total[queries, None] + more).astype(np.float64))]

        return find_highest_ratio(swap(hits) - hits, *items, 1, costs)


class AveragePrecision(ByModel):
    """The precisions at relevant results, summed, over the number of relevant segments.

    >>> mr.calc_aggregate(mr.AP(iou=0.5), "demo.qrels", "demo.run")
    {AP(iou=0.5): 0.5}
    """

    NAME = "AP"
    SOURCE = "Aly et al. (2013), section 2"
    ALIASES = ("MAP", "mAP")
    PARAMS: ClassVar = {"cutoff": DEPTH, **MODEL_PARAMS}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        precision = running(relevance.query, relevance.relevant) / relevance.rank
        summed = total(relevance, precision * relevance.relevant, params["cutoff"])
        return share(summed, relevance.total.astype(np.float64))

    def highest(
        self, aligned: AlignedRun, relevance: Relevance, params: Params, level: Floats
    ) -> Floats:
        """Return the highest value over all sets of relevant unjudged items.

        Of as many items the best ranked ones give the most; more of them may give less.
        """
        best = self.per_query(aligned, relevance, params)
        rows = np.flatnonzero(level >= params["rel"])
        query, adds = relevance.query[rows], _add_alone(relevance, params)[rows]
        number = ranks(query)
        added = running(query, adds + (number - 1) / relevance.rank[rows])
        summed = (best * relevance.total)[query] + added
        np.maximum.at(best, query, summed / (relevance.total[query] + number))
        return best

    def highest_difference(
        self, aligned: AlignedRun, relevance: Relevance, params: Params, level: Floats, number: Ints
    ) -> Floats:
        """Return a value that no difference of each query's other list and this one exceeds.

        Of n items that are found, each adds its own; the precision that they add to each other is
        at most what the best ranked n add in the other list, and at least nothing in this one.
        """
        value = self.per_query(aligned, relevance, params)
        rows = np.flatnonzero(level >= params["rel"])
        own, queries = relevance.query[rows], len(value)
        pairs = np.append((ranks(own) - 1) / relevance.rank[rows], 0.0)
        query, adds = join(relevance, level, number, _add_alone(relevance, params))
        other, place = (query + queries // 2) % queries, ranks(query)
        items = np.bincount(own, minlength=queries)
        first = np.cumsum(items) - items
        each = np.where(place <= items[other], first[other] + place - 1, len(rows))
        known = swap(value * relevance.total) - value * relevance.total
        best = swap(value) - value
        found = known[query] + running(query, adds + pairs[each])
        np.maximum.at(best, query, found / (relevance.total[query] + place))
        return best


def _add_alone(relevance: Relevance, params: Params) -> Floats:
    """Return what each item would add to the sum of precisions if it alone were relevant, too.

    That is its own precision, and 1 / rank to the precision at each relevant item below.
    """
    hit = relevance.relevant & (relevance.rank <= (params["cutoff"] or np.inf))
    above = running(relevance.query, hit / relevance.rank)
    below: Floats = total(relevance, hit / relevance.rank)[relevance.query] - above
    return (running(relevance.query, hit) + 1) / relevance.rank + below


class ReciprocalRank(ByModel):
    """1 over the rank of the first relevant result, 0 without one.

    Voorhees, TREC-8, 1999; the mean over queries is MRR.

    >>> mr.calc_aggregate(mr.RR(iou=0.5), "demo.qrels", "demo.run")
    {RR(iou=0.5): 0.75}
    """

    NAME = "RR"
    SOURCE = "Voorhees (TREC-8, 1999)"
    ALIASES = ("MRR",)
    PARAMS: ClassVar = AveragePrecision.PARAMS

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        query, rank = relevance.query[relevance.relevant], relevance.rank[relevance.relevant]
        listed, first = np.unique(query, return_index=True)
        values = np.zeros(len(relevance.total))
        values[listed] = 1.0 / rank[first]
        depth = params["cutoff"]
        return values if depth is None else np.where(values >= 1.0 / depth, values, 0.0)


P = Precision()
Judged = JudgedShare()
Recall = RecallOfAll()
AP = AveragePrecision()
RR = ReciprocalRank()


class VideoHitRate(Measure):
    """1 if any of the first K videos has a relevant segment, else 0.

    A video's place in the list is that of its first result; its other results don't count.

    >>> mr.calc_aggregate(mr.VR @ 1, "demo.qrels", "demo.run")
    {VR@1: 0.5}
    """

    NAME = "VR"
    SOURCE = "Lei et al. (ECCV 2020)"
    MATCH = "video"
    PARAMS: ClassVar = {"cutoff": CUTOFF, "rel": REL}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return np.minimum(total(relevance, relevance.relevant, params["cutoff"]), 1.0)


VR = VideoHitRate()
