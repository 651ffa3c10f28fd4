"""MeanP: what the AxIoU paper calls AP@K,theta (appendix, equation 12)."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import COMMON, Measure, total
from momentrank.measures.params import CUTOFF, IOU, STRICT
from momentrank.segments import Floats


class MeanPrecision(Measure):
    """The mean over k = 1..K of the precision at k; no one-to-one matching."""

    NAME = "MeanP"
    MATCH = "maxiou"
    SHOWN = ("strict",)
    PARAMS: ClassVar = {"cutoff": CUTOFF, "iou": IOU, "strict": STRICT, **COMMON}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query: a hit at rank j counts in every k >= j, with 1/k."""
        cutoff = params["cutoff"]
        counted = np.cumsum(1.0 / np.arange(cutoff, 0, -1))[::-1] / cutoff
        rows = relevance.rank <= cutoff
        values = np.zeros(len(relevance.rank))
        values[rows] = relevance.relevant[rows] * counted[relevance.rank[rows] - 1]
        return total(relevance, values)


MeanP = MeanPrecision()
