"""Reciprocal rank (Voorhees, TREC-8, 1999); its mean over queries is MRR."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import DEPTH
from momentrank.segments import Floats


class ReciprocalRank(ByModel):
    """1 over the rank of the first relevant result; 0 if there is none among the first K."""

    NAME = "RR"
    ALIASES = ("MRR",)
    PARAMS: ClassVar = {"cutoff": DEPTH, **MODEL_PARAMS}

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        query, rank = relevance.query[relevance.relevant], relevance.rank[relevance.relevant]
        found, first = np.unique(query, return_index=True)
        values = np.zeros(len(relevance.total))
        values[found] = 1.0 / rank[first]
        depth = params["cutoff"]
        return values if depth is None else np.where(values >= 1.0 / depth, values, 0.0)


RR = ReciprocalRank()
