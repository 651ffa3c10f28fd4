"""Each measure as its paper defines it, and the two other scorers in use for TVR-Ranking.

* `paper`: every query of the qrels with a relevant moment counts; one that is missing from the run
  counts as 0. Counts and Judged are over all queries, measures of silence over those that they are
  about. A segment that appears twice in its query counts once: of results, the better ranked.
* `tvr-ranking`, released with it, the source of published numbers: gain is 2^level - 1, the IoU
  must exceed the threshold, and the mean is over the queries of the run.
* `spr`, published with SPR (arXiv 2501.05072): the same gain, the IoU must reach the threshold.
  Moments of level 0 are dropped before results are matched. Queries without a relevant moment or
  without a prediction don't count.
"""

import numpy as np

from momentrank.conventions.base import Convention
from momentrank.errors import UsageError
from momentrank.matching import Trace
from momentrank.matching.aligned import AlignedRun, Params, memoize
from momentrank.matching.models import FREE
from momentrank.measures import nDCG
from momentrank.measures.base import NULL, RELEVANT, Measure
from momentrank.segments import Bools, Floats


class Paper(Convention):
    """The definitions of the papers."""

    name = "paper"
    source = "each measure's own paper"
    distinct = True
    bounded = True
    leaves_out = True

    def select_counted(self, measure: Measure | None, aligned: AlignedRun) -> Bools:
        over = RELEVANT if measure is None else measure.over()
        has = aligned.has_relevant
        return {RELEVANT: has, NULL: ~has}.get(over, has | True)

    def defaults(self) -> list[Measure]:
        """Return nDCG as TVR-Ranking's tables show it."""
        return [nDCG(iou=iou) @ cutoff for iou in (0.3, 0.5, 0.7) for cutoff in (10, 20, 40)]


HAS = ("nDCG", "DCG", "Judged")


class TvrRanking(Paper):
    """The scorer released with TVR-Ranking."""

    name = "tvr-ranking"
    source = "the scorer released with TVR-Ranking (Liang et al., 2024)"
    changes = {"dcg": "exp-log2", "strict": True}
    distinct = False
    leaves_out = False

    def select_counted(self, _: Measure | None, aligned: AlignedRun) -> Bools:
        return aligned.in_run


class Spr(Paper):
    """The scorer published with SPR."""

    name = "spr"
    source = "the scorer published with SPR (arXiv 2501.05072)"
    bounded = False  # a query counts only if something in it is relevant
    changes = {"dcg": "exp-log2", "strict": False}
    distinct = False
    leaves_out = False

    def check(self, measure: Measure) -> None:
        super().check(measure)
        if measure.NAME not in HAS:
            raise UsageError(f"{measure!r} is not a measure of spr, which has {', '.join(HAS)}")

    def select_counted(self, _: Measure | None, aligned: AlignedRun) -> Bools:
        """Return the queries of the run with a relevant moment, shape (queries,)."""
        return aligned.in_run & (aligned.totals(1) > 0)

    def compute(self, measure: Measure, aligned: AlignedRun, params: Params) -> Floats:
        if measure.NAME == "Judged":  # what people judged includes level 0
            return super().compute(measure, aligned, params)
        relevant = memoize(aligned, "relevant", lambda: aligned.select_truth(aligned.relevant(1)))
        return super().compute(measure, relevant, params)

    def trace(self, measure: Measure, aligned: AlignedRun) -> Trace:
        if measure.NAME == "Judged":
            return super().trace(measure, aligned)
        rows = aligned.relevant(1)
        met = super().trace(measure, aligned.select_truth(rows))
        row_of = np.append(np.flatnonzero(rows), FREE)  # the last one is what FREE points at
        return met._replace(truth=row_of[met.truth])


CONVENTIONS = (Paper(), TvrRanking(), Spr())
