"""Judged: the share of scored results that people have judged."""

from typing import ClassVar

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import total
from momentrank.measures.by_model import MODEL_PARAMS, ByModel
from momentrank.measures.params import CUTOFF
from momentrank.segments import Floats


class JudgedShare(ByModel):
    """The share of the first K results that match a judged segment of any level."""

    NAME = "Judged"
    PARAMS: ClassVar = {
        "cutoff": CUTOFF,
        **{name: param for name, param in MODEL_PARAMS.items() if name != "judged_only"},
    }

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        share: Floats = total(relevance, relevance.judged, params["cutoff"]) / params["cutoff"]
        return share


Judged = JudgedShare()
