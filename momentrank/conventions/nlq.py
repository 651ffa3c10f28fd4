"""Ego4D's natural language queries: R@1 and R@5 at IoU > 0.3 and 0.5, and the mean IoU.

As its evaluation script computes them: the IoU must exceed the threshold, the mean IoU is that of
the first results, and the mean is over the queries of the run.
"""

from momentrank.conventions.benchmark import RecallTable
from momentrank.matching.aligned import AlignedRun
from momentrank.segments import Bools


class Nlq(RecallTable):
    """Ego4D's script for natural language queries."""

    name = "nlq"
    source = "the evaluation script of Ego4D's natural language queries"
    changes = {"strict": True}  # noqa: RUF012  (a ClassVar of the base)
    read = 5
    thresholds = (0.3, 0.5)
    cutoffs = (1, 5)
    cell = "Rank@{cutoff} mIoU@{iou}"
    brief = (*(f"Rank@{cutoff} mIoU@{iou}" for cutoff in (1, 5) for iou in (0.3, 0.5)), "mIoU")

    def select_counted(self, aligned: AlignedRun) -> Bools:
        return aligned.in_run


CONVENTION = Nlq()
