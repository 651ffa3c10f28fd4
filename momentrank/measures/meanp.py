"""MeanP: what the AxIoU paper calls AP@K,theta (appendix, equation 12)."""

from typing import Any, ClassVar

import numpy as np

from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.measures.base import COMMON, Measure, total
from momentrank.measures.params import CUTOFF, IOU, STRICT
from momentrank.segments import Floats


class MeanP(Measure):
    """The mean over k = 1..K of the precision at k; no one-to-one matching."""

    NAME = "MeanP"
    MATCH = "maxiou"
    PARAMS: ClassVar = {"cutoff": CUTOFF, "iou": IOU, "strict": STRICT, **COMMON}

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query: a hit at rank j counts in every k >= j, with 1/k."""
        cutoff = params["cutoff"]
        counted = np.cumsum(1.0 / np.arange(cutoff, 0, -1))[::-1] / cutoff
        rows = found.rank <= cutoff
        values = np.zeros(len(found.rank))
        values[rows] = found.relevant[rows] * counted[found.rank[rows] - 1]
        return total(found, values, lists.count)
