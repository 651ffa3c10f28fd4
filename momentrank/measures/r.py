"""R@K,theta: video moment retrieval's recall, as the AxIoU paper writes it."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import COMMON, Measure, total
from momentrank.measures.params import CUTOFF, IOU, STRICT
from momentrank.segments import Floats


class HitRate(Measure):
    """1 if any of the first K results has an IoU above the threshold, else 0."""

    NAME = "R"
    MATCH = "maxiou"
    SHOWN = ("strict",)
    PARAMS: ClassVar = {"cutoff": CUTOFF, "iou": IOU, "strict": STRICT, **COMMON}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        hits = total(relevance, relevance.relevant, params["cutoff"])
        return np.minimum(hits, 1.0)


R = HitRate()
