"""Each measure as its paper defines it.

Every query of the qrels counts; one that is missing from the run counts as 0.
"""

from momentrank.conventions.base import Convention
from momentrank.measures import nDCG
from momentrank.measures.base import Measure


class Paper(Convention):
    """The definitions of the papers."""

    name = "paper"
    source = "each measure's own paper"

    def defaults(self) -> list[Measure]:
        """Return nDCG as TVR-Ranking's tables show it."""
        return [nDCG(iou=iou) @ cutoff for iou in (0.3, 0.5, 0.7) for cutoff in (10, 20, 40)]


CONVENTIONS = (Paper(),)
