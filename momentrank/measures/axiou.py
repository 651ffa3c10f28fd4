"""AxIoU: Togashi et al., CVPR 2022."""

from typing import Any, ClassVar

import numpy as np

from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.measures.base import COMMON, Measure, table
from momentrank.measures.params import CUTOFF
from momentrank.segments import Floats


class AxIoU(Measure):
    """The mean over k = 1..K of the best IoU among the first k results."""

    NAME = "AxIoU"
    MATCH = "maxiou"
    PARAMS: ClassVar = {"cutoff": CUTOFF, **COMMON}

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        means: Floats = best(found, lists.count, params["cutoff"]).mean(axis=1)
        return means


def best(found: Relevance, count: int, cutoff: int) -> Floats:
    """Return the best gain among the first k results, shape (count, cutoff)."""
    highest: Floats = np.maximum.accumulate(table(found, count, cutoff), axis=1)
    return highest
