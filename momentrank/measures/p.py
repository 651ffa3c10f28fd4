"""Precision; over segments, Aly et al. (2013), section 2."""

from typing import ClassVar

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import CUTOFF
from momentrank.segments import Floats


class Precision(ByModel):
    """The share of relevant results among the first K; missing results count as not relevant."""

    NAME = "P"
    PARAMS: ClassVar = {"cutoff": CUTOFF, **MODEL_PARAMS}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        hits = total(relevance, relevance.relevant, params["cutoff"])
        share: Floats = hits / params["cutoff"]
        return share


P = Precision()
