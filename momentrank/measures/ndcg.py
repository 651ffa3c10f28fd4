"""nDCG at an IoU threshold: TVR-Ranking (Liang et al., 2024), section 4."""

from typing import Any, ClassVar

from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.measures.base import COMMON, Measure, share, total
from momentrank.measures.dcg import GAINS, discounted
from momentrank.measures.params import DCG, DEPTH, IOU, NOT_STRICT
from momentrank.segments import Floats


class NDCG(Measure):
    """DCG of the levels taken over DCG of the query's highest levels; 0 without any."""

    NAME = "nDCG"
    PARAMS: ClassVar = {
        "cutoff": DEPTH,
        "iou": IOU,
        "dcg": DCG,
        "strict": NOT_STRICT,
        **{name: param for name, param in COMMON.items() if name != "rel"},
    }
    CONVENTIONS: ClassVar = {"tvr-ranking": {"dcg": "exp-log2", "strict": True}}

    def per_query(self, lists: Lists, found: Relevance, params: dict[str, Any]) -> Floats:
        """Return the value of each query."""
        gain, cutoff = GAINS[params["dcg"]], params["cutoff"]
        best = lists.ideal
        ideals = total(best, discounted(gain(best.gain), best.rank), lists.count, cutoff)
        values = discounted(gain(found.gain), found.rank)
        return share(total(found, values, lists.count, cutoff), ideals)
