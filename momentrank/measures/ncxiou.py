"""NCxIoU: equation 4 of the AxIoU paper, with any model of where users stop."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.axiou import best
from momentrank.measures.base import COMMON, Measure, MeasureError, table
from momentrank.measures.params import CUTOFF, Choice, Number
from momentrank.segments import Floats


class CumulativeMaxIoU(Measure):
    """The best IoU up to the rank at which a user stops, averaged over stopping ranks.

    `stop`: `uniform`, at each of the K ranks with probability 1/K; `rbp`, continues with
    probability p (Moffat and Zobel, 2008); `err`, stops at a result with its IoU as probability
    (Chapelle et al., 2009). A user who has not stopped before K stops there.
    """

    NAME = "NCxIoU"
    MATCH = "maxiou"
    PARAMS: ClassVar = {
        "cutoff": CUTOFF,
        "stop": Choice("uniform", "rbp", "err", desc="where users stop"),
        "p": Number(0, 1, 0.8, desc="rbp: the probability of continuing"),
        **COMMON,
    }

    def validate_params(self) -> None:
        """Check that no parameter is missing or without effect.

        Raises:
            MeasureError: a parameter is missing, or has no effect.
        """
        if "p" in self.params and self.params.get("stop") != "rbp":
            raise MeasureError(f"{self!r}: p belongs to stop='rbp'")
        super().validate_params()

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        cutoff = params["cutoff"]
        utility = best(relevance, cutoff)
        stops = _stops(params, table(relevance, cutoff))
        stops[:, -1] = 1.0 - stops[:, :-1].sum(axis=1)
        values: Floats = (stops * utility).sum(axis=1)
        return values


NCxIoU = CumulativeMaxIoU()


def _stops(params: Params, iou: Floats) -> Floats:
    """Return the probability of stopping at each rank, shape (queries, K)."""
    if params["stop"] == "uniform":
        return np.full(iou.shape, 1.0 / iou.shape[1])
    if params["stop"] == "rbp":
        going = params["p"] ** np.arange(iou.shape[1])
        return np.tile(going * (1.0 - params["p"]), (len(iou), 1))
    before = np.cumprod(1.0 - iou, axis=1)[:, :-1]
    stops: Floats = iou * np.concatenate([np.ones((len(iou), 1)), before], axis=1)
    return stops
