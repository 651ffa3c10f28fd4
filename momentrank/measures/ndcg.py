"""nDCG at an IoU threshold: TVR-Ranking (Liang et al., 2024), section 4."""

from typing import ClassVar

from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.measures.base import COMMON, Measure, share, total
from momentrank.measures.dcg import GAINS, discount
from momentrank.measures.params import DEPTH, GAIN, IOU, NOT_STRICT
from momentrank.segments import Floats


class NDCG(Measure):
    """DCG of the levels taken over DCG of the query's highest levels; 0 without any."""

    NAME = "nDCG"
    PARAMS: ClassVar = {
        "cutoff": DEPTH,
        "iou": IOU,
        "dcg": GAIN,
        "strict": NOT_STRICT,
        **{name: param for name, param in COMMON.items() if name != "rel"},
    }

    def per_query(self, aligned: AlignedRun, relevance: Relevance, params: Params) -> Floats:
        """Return the value of each query."""
        gain, cutoff = GAINS[params["dcg"]], params["cutoff"]
        best = aligned.ideal
        ideals = total(best, discount(gain(best.gain), best.rank), cutoff)
        values = discount(gain(relevance.gain), relevance.rank)
        return share(total(relevance, values, cutoff), ideals)


nDCG = NDCG()  # noqa: N816  (as the field writes it)
