"""R@K,theta: video moment retrieval's recall, as the AxIoU paper writes it."""

from typing import Any, ClassVar

import numpy as np

from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.measures.base import COMMON, Measure, total
from momentrank.measures.params import CUTOFF, IOU, STRICT
from momentrank.segments import Floats


class R(Measure):
    """1 if any of the first K results has an IoU above the threshold, else 0."""

    NAME = "R"
    MATCH = "maxiou"
    PARAMS: ClassVar = {"cutoff": CUTOFF, "iou": IOU, "strict": STRICT, **COMMON}

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        hits = total(found, found.relevant.astype(np.float64), lists.count, params["cutoff"])
        return np.minimum(hits, 1.0)
