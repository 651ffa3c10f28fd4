"""DCG (Järvelin and Kekäläinen, 2002), of levels or, as in the AxIoU paper, of IoUs; and nDCG.

nDCG at an IoU threshold is that of TVR-Ranking (Liang et al., 2024), section 4.
"""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance
from momentrank.measures.base import COMMON, MODEL_PARAMS, ByModel, Measure, share, total
from momentrank.measures.params import DEPTH, GAIN, IOU, NOT_STRICT, Choice
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
    """Return the sum of the gains up to a cutoff, each divided by log2(rank + 1)."""
    return total(relevance, GAINS[gain](relevance.gain) / np.log2(relevance.rank + 1), cutoff)


DCG = DiscountedGain()
nDCG = NDCG()  # noqa: N816  (as the field writes it)
