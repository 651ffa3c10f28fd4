"""Judged: how much of what is scored people have looked at."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import CUTOFF
from momentrank.segments import Floats


class Judged(ByModel):
    """The share of the first K results to which the model gives a judged segment, of any level."""

    NAME = "Judged"
    PARAMS: ClassVar = {
        "cutoff": CUTOFF,
        **{name: param for name, param in MODEL_PARAMS.items() if name != "judged_only"},
    }

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        judged = total(
            relevance, relevance.judged.astype(np.float64), aligned.count, params["cutoff"]
        )
        result: Floats = judged / params["cutoff"]
        return result
