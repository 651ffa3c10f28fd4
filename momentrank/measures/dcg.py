"""DCG (Järvelin and Kekäläinen, 2002), of levels or, as in the AxIoU paper, of IoUs."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import DEPTH, GAIN, Choice
from momentrank.segments import Floats, Ints

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
        """Return the value of each query."""
        gain = (
            relevance.gain if params["match"] == "maxiou" else GAINS[params["dcg"]](relevance.gain)
        )
        return total(relevance, discount(gain, relevance.rank), params["cutoff"])


DCG = DiscountedGain()


def discount(gain: Floats, rank: Ints) -> Floats:
    """Return each gain divided by log2(rank + 1)."""
    result: Floats = gain / np.log2(rank + 1)
    return result
