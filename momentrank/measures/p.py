"""Precision; over segments, Aly et al. (2013), section 2."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import CUTOFF
from momentrank.segments import Floats


class P(ByModel):
    """The share of relevant results among the first K; a shorter list is filled up with others."""

    NAME = "P"
    PARAMS: ClassVar = {"cutoff": CUTOFF, **MODEL_PARAMS}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        hits = total(
            relevance, relevance.relevant.astype(np.float64), aligned.count, params["cutoff"]
        )
        result: Floats = hits / params["cutoff"]
        return result
