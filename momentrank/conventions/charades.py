"""Charades-STA: R@1 and R@5 at IoU >= 0.3, 0.5 and 0.7, and the mean IoU of the first result.

As the scripts of TALL and of its successors compute them. Queries that the run lacks count as 0.
"""

from momentrank.conventions.benchmark import RecallTable


class Charades(RecallTable):
    """The usual evaluation of Charades-STA."""

    name = "charades"
    source = "the evaluation of Charades-STA (Gao et al., ICCV 2017), with mean IoU"
    changes = {"strict": False}  # noqa: RUF012  (a ClassVar of the base)
    read = 5
    thresholds = (0.3, 0.5, 0.7)
    cutoffs = (1, 5)
    cell = "R@{cutoff},IoU={iou}"
    brief = (
        *(f"R@{cutoff},IoU={iou}" for cutoff in (1, 5) for iou in (0.3, 0.5, 0.7)),
        "mIoU",
    )


CONVENTION = Charades()
