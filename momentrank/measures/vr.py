"""VR: whether the right video is retrieved, wherever in it (as TVR's video retrieval, Lei 2020)."""

from typing import ClassVar

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance, ranks
from momentrank.measures.base import Measure
from momentrank.measures.params import CUTOFF, REL
from momentrank.segments import Floats


class VideoHitRate(Measure):
    """1 if any of the first K videos has a relevant segment, else 0.

    A video's place in the list is that of its first result; its other results don't count.
    """

    NAME = "VR"
    MATCH = ""
    PARAMS: ClassVar = {"cutoff": CUTOFF, "rel": REL}

    def depth(self) -> None:
        """Return None, for all results: how many of them make K videos is not known."""
        return

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        judged, retrieved = aligned.places
        first = np.sort(np.unique(retrieved, return_index=True)[1])
        query = aligned.results.query[first]
        hit = np.isin(retrieved[first], judged[aligned.relevant(params["rel"])])
        values = np.zeros(aligned.count)
        values[query[hit & (ranks(query) <= params["cutoff"])]] = 1.0
        return values


VR = VideoHitRate()
