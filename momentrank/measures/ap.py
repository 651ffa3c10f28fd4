"""Average precision; over segments, Aly et al. (2013), section 2."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import share, total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import DEPTH
from momentrank.segments import Floats


class AveragePrecision(ByModel):
    """The sum of the precisions at relevant results over the number of relevant segments."""

    NAME = "AP"
    ALIASES = ("MAP", "mAP")
    PARAMS: ClassVar = {"cutoff": DEPTH, **MODEL_PARAMS}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        hits = relevance.relevant.astype(np.float64)
        per_query = total(relevance, hits)
        before = per_query.cumsum() - per_query
        precision = (np.cumsum(hits) - before[relevance.query]) / relevance.rank
        summed = total(relevance, precision * hits, params["cutoff"])
        return share(summed, relevance.total.astype(np.float64))


AP = AveragePrecision()
