"""AxIoU: Togashi et al., CVPR 2022, equation 5."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import COMMON, Measure, table
from momentrank.measures.params import CUTOFF
from momentrank.segments import Floats


class AverageMaxIoU(Measure):
    """The mean over k = 1..K of the best IoU among the first k results."""

    NAME = "AxIoU"
    MATCH = "maxiou"
    PARAMS: ClassVar = {"cutoff": CUTOFF, **COMMON}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        means: Floats = best(relevance, params["cutoff"]).mean(axis=1)
        return means


AxIoU = AverageMaxIoU()


def best(relevance: Relevance, cutoff: int) -> Floats:
    """Return the best gain among the first k results, shape (queries, cutoff)."""
    highest: Floats = np.maximum.accumulate(table(relevance, cutoff), axis=1)
    return highest
