"""As in the scorer released with TVR-Ranking, the source of published numbers.

Gain is 2^level - 1, the IoU must exceed the threshold, and the mean is over the queries of the run.
"""

from momentrank.conventions.paper import Paper
from momentrank.matching.aligned import AlignedRun
from momentrank.segments import Bools


class TvrRanking(Paper):
    """The scorer released with TVR-Ranking."""

    name = "tvr-ranking"
    source = "the scorer released with TVR-Ranking (Liang et al., 2024)"
    changes = {"dcg": "exp-log2", "strict": True}  # noqa: RUF012  (a ClassVar of the base)

    def select_counted(self, aligned: AlignedRun) -> Bools:
        return aligned.in_run


CONVENTION = TvrRanking()
