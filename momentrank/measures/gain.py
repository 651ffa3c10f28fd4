"""Measures of gains: of the levels taken, or of each result's highest IoU.

DCG (Järvelin and Kekäläinen, 2002), and nDCG at an IoU threshold (TVR-Ranking: Liang et al., 2024,
section 4). Of the AxIoU paper (Togashi et al., CVPR 2022): DCG of IoUs; R, video moment retrieval's
R@K,theta; MeanP, there AP@K,theta (appendix, equation 12); NCxIoU, its equation 4, and AxIoU, its
equation 5. mIoU is temporal grounding's.
"""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance
from momentrank.measures.base import (
    COMMON,
    MODEL_PARAMS,
    ByModel,
    Measure,
    MeasureError,
    share,
    table,
    total,
)
from momentrank.measures.params import CUTOFF, DEPTH, GAIN, IOU, NOT_STRICT, STRICT, Choice, Number
from momentrank.segments import Floats

GAINS: dict[str, Callable[[Floats], Floats]] = {
    "log2": lambda level: level,
    "exp-log2": lambda level: np.exp2(level) - 1,
}


class DiscountedGain(ByModel):
    """The sum of gains, each divided by log2(rank + 1)."""

    NAME = "DCG"
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
    """DCG of the levels taken over DCG of the query's highest levels; 0 without any."""

    NAME = "nDCG"
    PARAMS: ClassVar = {
        "cutoff": DEPTH,
        "iou": IOU,
        "dcg": GAIN,
        "strict": NOT_STRICT,
        **{name: param for name, param in COMMON.items() if name != "rel"},
    }

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        taken, ideal = (
            _discounted(ranking, params["dcg"], params["cutoff"])
            for ranking in (relevance, aligned.ideal)
        )
        return share(taken, ideal)


def _discounted(relevance: Relevance, gain: str, cutoff: int | None) -> Floats:
    return total(relevance, GAINS[gain](relevance.gain) / np.log2(relevance.rank + 1), cutoff)


DCG = DiscountedGain()
nDCG = NDCG()  # noqa: N816  (as the field writes it)


class OfHighestIoU(Measure):
    """A measure whose gain is the highest IoU of a result with any relevant segment."""

    MATCH = "maxiou"


class HitRate(OfHighestIoU):
    """1 if any of the first K results has an IoU above the threshold, else 0."""

    NAME = "R"
    SHOWN = ("strict",)
    PARAMS: ClassVar = {"cutoff": CUTOFF, "iou": IOU, "strict": STRICT, **COMMON}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        hits = total(relevance, relevance.relevant, params["cutoff"])
        return np.minimum(hits, 1.0)


class MeanPrecision(OfHighestIoU):
    """The mean over k = 1..K of the precision at k; no one-to-one matching."""

    NAME = "MeanP"
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
    """The highest IoU of the first result with any relevant segment."""

    NAME = "mIoU"
    PARAMS: ClassVar = COMMON

    def depth(self) -> int | None:
        return None if self.settings()["judged_only"] else 1

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        return total(relevance, relevance.gain, 1)


class AverageMaxIoU(OfHighestIoU):
    """The mean over k = 1..K of the best IoU among the first k results."""

    NAME = "AxIoU"
    PARAMS: ClassVar = {"cutoff": CUTOFF, **COMMON}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        means: Floats = _best_so_far(table(relevance, params["cutoff"])).mean(axis=1)
        return means


class CumulativeMaxIoU(OfHighestIoU):
    """The best IoU up to the rank at which a user stops, averaged over stopping ranks.

    `stop`: `uniform`, at each of the K ranks with probability 1/K; `rbp`, continues with
    probability p (Moffat and Zobel, 2008); `err`, stops at a result with its IoU as probability
    (Chapelle et al., 2009). A user who has not stopped before K stops there.
    """

    NAME = "NCxIoU"
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
