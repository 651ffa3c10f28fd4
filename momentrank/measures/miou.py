"""mIoU: the mean over queries of the first result's IoU, as temporal grounding reports it."""

from typing import ClassVar

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import COMMON, Measure, total
from momentrank.segments import Floats


class FirstIoU(Measure):
    """The highest IoU of the first result with any relevant segment."""

    NAME = "mIoU"
    MATCH = "maxiou"
    PARAMS: ClassVar = COMMON

    def depth(self) -> int | None:
        """Return how many results of each list are read; None: all."""
        return None if self.settings()["judged_only"] else 1

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        return total(relevance, relevance.gain, 1)


mIoU = FirstIoU()  # noqa: N816  (as the field writes it)
