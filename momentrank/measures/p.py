"""Precision; over segments, Aly et al. (2013), section 2."""

from typing import Any, ClassVar

import numpy as np

from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.measures.base import total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import CUTOFF
from momentrank.segments import Floats


class P(ByModel):
    """The share of relevant results among the first K; a shorter list is filled up with others."""

    NAME = "P"
    PARAMS: ClassVar = {"cutoff": CUTOFF, **MODEL_PARAMS}

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        hits = total(found, found.relevant.astype(np.float64), lists.count, params["cutoff"])
        result: Floats = hits / params["cutoff"]
        return result
