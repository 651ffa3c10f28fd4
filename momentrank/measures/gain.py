"""Measures of gains: of the levels taken, or of each result's highest IoU.

TVR-Ranking is Liang et al. (2024), the AxIoU paper Togashi et al. (CVPR 2022).
"""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance, memoize
from momentrank.measures.base import (
    COMMON,
    EITHER,
    MODEL_PARAMS,
    ByModel,
    Measure,
    MeasureError,
    assign,
    join,
    share,
    swap,
    table,
    total,
)
from momentrank.measures.params import (
    CUTOFF,
    DEPTH,
    GAIN,
    IOU,
    NOT_STRICT,
    SILENCE,
    STRICT,
    Choice,
    Number,
)
from momentrank.measures.ratios import find_highest_ratio
from momentrank.segments import Floats, Ints

GAINS: dict[str, Callable[[Floats], Floats]] = {
    "log2": lambda level: level,
    "exp-log2": lambda level: np.exp2(level) - 1,
}


class DiscountedGain(ByModel):
    """The sum of gains, each divided by log2(rank + 1).

    >>> mr.calc_aggregate(mr.DCG(iou=0.5) @ 10, "demo.qrels", "demo.run")
    {DCG(iou=0.5)@10: 3.3770...}
    """

    NAME = "DCG"
    SOURCE = "Järvelin and Kekäläinen (2002)"
    ADDITIVE = True
    PARAMS: ClassVar = {
        "cutoff": DEPTH,
        **MODEL_PARAMS,
        "match": Choice("iou", "maxiou", desc="gain: the level taken, or the highest IoU"),
        "dcg": GAIN,
    }
    OWN: ClassVar = {**ByModel.OWN, "iou": ("iou", "strict", "dcg")}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        gain = "log2" if params["match"] == "maxiou" else params["dcg"]
        return _discounted(relevance, gain, params["cutoff"])


class NDCG(Measure):
    """DCG of the levels taken over DCG of the query's highest levels.

    With `silence`, queries without a relevant moment count: 1 if the list is empty, else 0.

    >>> mr.calc_aggregate(mr.nDCG(iou=0.5) @ 10, "demo.qrels", "demo.run")
    {nDCG(iou=0.5)@10: 0.6681...}
    """

    NAME = "nDCG"
    SOURCE = "TVR-Ranking, section 4"
    PARAMS: ClassVar = {
        "cutoff": DEPTH,
        "iou": IOU,
        "dcg": GAIN,
        "strict": NOT_STRICT,
        **{name: param for name, param in COMMON.items() if name != "rel"},
        "silence": SILENCE,
    }

    def over(self) -> str:
        return EITHER if self.params.get("silence") else self.OVER

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        how = params["dcg"], params["cutoff"]
        ideal = memoize(aligned, ("ideal", *how), lambda: _discounted(aligned.ideal, *how))
        values = share(_discounted(relevance, *how), ideal)
        return (
            np.where(aligned.has_relevant, values, aligned.silent) if params["silence"] else values
        )

    def per_assignment(
        self, aligned: AlignedRun, relevance: Relevance, params: Params, level: Floats
    ) -> Floats:
        taken = _discounted(assign(relevance, params, level), params["dcg"], params["cutoff"])
        copies = len(relevance.total) // max(aligned.count, 1)
        layers = _layers(aligned, params, level)
        ideal = np.zeros(len(taken))
        for floor, step, known in layers:
            rows = relevance.query[level >= floor]
            found = np.tile(known, copies) + np.bincount(rows, minlength=len(taken))
            ideal += step * _ideal(found, params["cutoff"])
        return share(taken, ideal)

    def highest(
        self, aligned: AlignedRun, relevance: Relevance, params: Params, level: Floats
    ) -> Floats:
        """Return the highest value over all levels of the unjudged items.

        A level is the sum of the steps up to it, so both DCGs are sums over layers, the segments
        from a level up. More are never found at a higher level than at a lower one.
        """
        taken = _discounted(relevance, params["dcg"], params["cutoff"])
        rows = np.flatnonzero(level)
        weight = 1.0 / np.log2(relevance.rank[rows] + 1)
        return self._highest(aligned, params, taken, level, (relevance.query[rows], weight))

    def highest_difference(
        self, aligned: AlignedRun, relevance: Relevance, params: Params, level: Floats, number: Ints
    ) -> Floats:
        """Return the highest difference of each query's other list and this one.

        Both have the same ideal DCG.
        """
        taken = _discounted(relevance, params["dcg"], params["cutoff"])
        joined = join(relevance, level, number, 1.0 / np.log2(relevance.rank + 1))
        return self._highest(aligned, params, swap(taken) - taken, level, joined)

    def _highest(
        self,
        aligned: AlignedRun,
        params: Params,
        taken: Floats,
        level: Floats,
        items: tuple[Ints, Floats],
    ) -> Floats:
        layers = _layers(aligned, params, level)

        def costs(queries: Ints, more: Ints) -> list[tuple[float, Floats]]:
            return [
                (step, _ideal(known[queries, None] + more, params["cutoff"]))
                for _, step, known in layers
            ]

        return find_highest_ratio(taken, *items, len(layers), costs)


class Layer(NamedTuple):
    """The segments from a level up: what it adds to the gain, and their number by query."""

    floor: int
    step: float
    known: Ints


def _layers(aligned: AlignedRun, params: Params, level: Floats) -> list[Layer]:
    """Return the layers of the judged segments, one for each of their levels and of `level`."""
    counts = np.bincount(np.concatenate([aligned.truth.level, level]).astype(np.int64))
    levels = np.flatnonzero(counts[1:]) + 1
    steps = np.diff(GAINS[params["dcg"]](levels.astype(np.float64)), prepend=0.0)
    return [
        Layer(floor, step, aligned.totals(floor))
        for floor, step in zip(levels.tolist(), steps.tolist(), strict=True)
    ]


def _ideal(found: Ints, cutoff: int | None) -> Floats:
    """Return the sum of the discounts of the first `found` ranks, of any shape."""
    most = int(found.max(initial=0))
    sums = np.append(0.0, np.cumsum(1.0 / np.log2(np.arange(2, most + 2))))
    highest: Floats = sums[found if cutoff is None else np.minimum(found, cutoff)]
    return highest


def _discounted(relevance: Relevance, gain: str, cutoff: int | None) -> Floats:
    return total(relevance, GAINS[gain](relevance.gain) / np.log2(relevance.rank + 1), cutoff)


DCG = DiscountedGain()
nDCG = NDCG()  # noqa: N816  (as the field writes it)


class OfHighestIoU(Measure):
    """A measure whose gain is the highest IoU of a result with any relevant segment."""

    MATCH = "maxiou"


class HitRate(OfHighestIoU):
    """1 if any of the first K results has an IoU above theta, else 0.

    >>> mr.calc_aggregate(mr.R(iou=0.5) @ 1, "demo.qrels", "demo.run")
    {R(iou=0.5,strict=True)@1: 0.5}
    """

    NAME = "R"
    SOURCE = "AxIoU paper, equation 1"
    SHOWN = ("strict",)
    PARAMS: ClassVar = {"cutoff": CUTOFF, "iou": IOU, "strict": STRICT, **COMMON}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        hits = total(relevance, relevance.relevant, params["cutoff"])
        return np.minimum(hits, 1.0)


class MeanPrecision(OfHighestIoU):
    """The mean over k = 1..K of the precision at k, for IoUs above theta (AP@K,theta there).

    >>> mr.calc_aggregate(mr.MeanP(iou=0.5) @ 2, "demo.qrels", "demo.run")
    {MeanP(iou=0.5,strict=True)@2: 0.625}
    """

    NAME = "MeanP"
    SOURCE = "AxIoU paper, equation 12"
    ADDITIVE = True
    SHOWN = HitRate.SHOWN
    PARAMS: ClassVar = HitRate.PARAMS

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        cutoff = params["cutoff"]  # a hit at rank j counts in every k >= j, with 1/k
        counted = np.cumsum(1.0 / np.arange(cutoff, 0, -1))[::-1] / cutoff
        rows = relevance.rank <= cutoff
        values = np.zeros(len(relevance.rank))
        values[rows] = relevance.relevant[rows] * counted[relevance.rank[rows] - 1]
        return total(relevance, values)


class FirstIoU(OfHighestIoU):
    """The highest IoU of the first result.

    >>> mr.calc_aggregate(mr.mIoU, "demo.qrels", "demo.run")
    {mIoU: 0.4583...}
    """

    NAME = "mIoU"
    SOURCE = "temporal grounding"
    PARAMS: ClassVar = COMMON

    def depth(self) -> int | None:
        return None if self.settings()["judged_only"] else 1

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return total(relevance, relevance.gain, 1)


class AverageMaxIoU(OfHighestIoU):
    """The mean over k = 1..K of the best IoU among the first k.

    >>> mr.calc_aggregate(mr.AxIoU @ 2, "demo.qrels", "demo.run")
    {AxIoU@2: 0.6726...}
    """

    NAME = "AxIoU"
    SOURCE = "AxIoU paper, equation 5"
    PARAMS: ClassVar = {"cutoff": CUTOFF, **COMMON}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        means: Floats = _best_so_far(table(relevance, params["cutoff"])).mean(axis=1)
        return means


class CumulativeMaxIoU(OfHighestIoU):
    """The best IoU up to the rank where a user stops, averaged over stops.

    `stop`: `uniform`, at each of the K ranks with probability 1/K; `rbp`, continues with
    probability p (Moffat and Zobel, 2008); `err`, stops at a result with its IoU as probability
    (Chapelle et al., 2009). A user who has not stopped before K stops there.

    >>> mr.calc_aggregate(mr.NCxIoU(stop="rbp") @ 2, "demo.qrels", "demo.run")
    {NCxIoU(stop='rbp')@2: 0.8011...}
    """

    NAME = "NCxIoU"
    SOURCE = "AxIoU paper, equation 4"
    PARAMS: ClassVar = {
        "cutoff": CUTOFF,
        "stop": Choice("uniform", "rbp", "err", desc="where users stop"),
        "p": Number(0, 1, 0.8, desc="rbp: the probability of continuing"),
        **COMMON,
    }

    def validate_params(self) -> None:
        if "p" in self.params and self.params.get("stop") != "rbp":
            raise MeasureError(f"{self!r}: p belongs to stop='rbp'")
        super().validate_params()

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        iou = table(relevance, params["cutoff"])
        stops = _stops(params, iou)
        stops[:, -1] = 1.0 - stops[:, :-1].sum(axis=1)
        values: Floats = (stops * _best_so_far(iou)).sum(axis=1)
        return values


def _best_so_far(iou: Floats) -> Floats:
    highest: Floats = np.maximum.accumulate(iou, axis=1)
    return highest


def _stops(params: Params, iou: Floats) -> Floats:
    if params["stop"] == "uniform":
        return np.full(iou.shape, 1.0 / iou.shape[1])
    if params["stop"] == "rbp":
        going = params["p"] ** np.arange(iou.shape[1])
        return np.tile(going * (1.0 - params["p"]), (len(iou), 1))
    before = np.cumprod(1.0 - iou, axis=1)[:, :-1]
    stops: Floats = iou * np.concatenate([np.ones((len(iou), 1)), before], axis=1)
    return stops


R = HitRate()
MeanP = MeanPrecision()
mIoU = FirstIoU()  # noqa: N816  (as the field writes it)
AxIoU = AverageMaxIoU()
NCxIoU = CumulativeMaxIoU()
