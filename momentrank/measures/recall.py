"""Recall: the share of a query's relevant segments that a list has found."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import share, total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import CUTOFF, Choice
from momentrank.segments import Floats


class RecallOfAll(ByModel):
    """The relevant results among the first K over the number of relevant segments, or bins.

    Only for the models that match one to one: by the others a segment can be found twice.
    """

    NAME = "Recall"
    PARAMS: ClassVar = {
        "cutoff": CUTOFF,
        **{name: MODEL_PARAMS[name] for name in ("match", "iou", "strict", "bin")},
        "match": Choice("iou", "bin", desc="the relevance model"),
        **{name: MODEL_PARAMS[name] for name in ("rel", "judged_only")},
    }

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        found = total(relevance, relevance.relevant, params["cutoff"])
        return share(found, relevance.total.astype(np.float64))


Recall = RecallOfAll()
