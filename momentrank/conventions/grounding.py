"""Moment retrieval with one moment per query, in a given video or in a corpus.

* `charades`: R@1 and R@5 at IoU >= 0.3, 0.5 and 0.7, as VSLNet's script computes R@1, without
  non-maximum suppression (`momentrank.conventions.suppression`). Queries that the run lacks count
  as 0.
* `nlq`: R@1 and R@5 at IoU > 0.3 and 0.5, as Ego4D's evaluation script computes them. The mean is
  over the queries of the run.
* `vcmr`, TVR's tasks: moments in a corpus (VCMR), in the right video (SVMR), and videos (VR). R@1,
  5, 10 and 100 of the first 100 results, at IoU >= 0.5 and 0.7. Times are 32-bit floats: a result
  whose IoU is a threshold on paper may miss it. SVMR drops the results in other videos first; VR
  compares only the video. A query with four or more judged moments, as in DiDeMo, needs a result
  that reaches two. A query that the run lacks counts as 0. Each task has its own list in a
  submission; a list in another format is for all tasks.

The mean IoU is that of the first results.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from momentrank.conventions.base import Benchmark, hull_iou, pair_times
from momentrank.errors import UsageError
from momentrank.formats.benchmarks.tvr import TASKS
from momentrank.matching import Trace, nearest, overlapping
from momentrank.matching.aligned import AlignedRun, Params, Relevance, memoize
from momentrank.measures import R, mIoU
from momentrank.measures.base import Measure
from momentrank.segments import Bools, Floats, Ints, Segments


class RecallTable(Benchmark):
    """R@K at IoU thresholds, by the best IoU of each result, and the IoU of the first one."""

    read = 5
    cutoffs: ClassVar[tuple[int, ...]] = (1, 5)
    thresholds: ClassVar[tuple[float, ...]] = ()
    cell: ClassVar[str] = ""
    """The name of a cell, with the places `cutoff` and `iou`."""

    def __init_subclass__(cls) -> None:
        measures: dict[str, Measure] = {
            cls.cell.format(cutoff=cutoff, iou=iou): R(iou=iou) @ cutoff
            for cutoff in cls.cutoffs
            for iou in cls.thresholds
        }
        if mIoU.NAME in cls.measures:
            measures[mIoU.NAME] = mIoU
        cls.measures_by_cell, cls.brief = measures, tuple(measures)

    def compute(self, measure: Measure, aligned: AlignedRun, params: Params) -> Floats:
        rated = self.rate(aligned, params.get("iou", 0.0), params.get("cutoff", 1))
        return measure.per_query(aligned, rated, params)

    def trace(self, measure: Measure, aligned: AlignedRun) -> Trace:
        """Return the judged moment of the highest IoU over the hull of each result."""
        params = measure.params
        rated = self.rate(aligned, params.get("iou", 0.0), params.get("cutoff", 1))
        is_first = (rated.rank == 1) & (rated.gain > 0)
        hits = is_first if measure == mIoU else rated.relevant
        return Trace(nearest(aligned, overlapping(aligned)), rated.gain, rated.gain, hits)

    def rate(self, aligned: AlignedRun, threshold: float, cutoff: int) -> Relevance:  # noqa: ARG002  (overridden)
        """Return the best IoU of each result as its gain, and whether it reaches the threshold.

        At least the first `cutoff` results are rated.
        """
        ious = memoize(aligned, "best", lambda: _best_iou(aligned))
        hits = ious > threshold if self.changes["strict"] else ious >= threshold
        return aligned.rate(ious, hits, hits, 1)


def _best_iou(aligned: AlignedRun) -> Floats:
    values = np.zeros(len(aligned.results.query))
    np.maximum.at(values, aligned.pairs.result, hull_iou(pair_times(aligned, *aligned.pairs)))
    return values


class Charades(RecallTable):
    """The usual evaluation of Charades-STA without proposals, as in VSLNet."""

    name = "charades"
    source = "the evaluation of Charades-STA (Gao et al., ICCV 2017), with mean IoU"
    changes = {"strict": False}
    thresholds = (0.3, 0.5, 0.7)
    cell = "R@{cutoff},IoU={iou}"


class Nlq(RecallTable):
    """Ego4D's script for natural language queries."""

    name = "nlq"
    source = "the evaluation script of Ego4D's natural language queries"
    changes = {"strict": True}
    thresholds = (0.3, 0.5)
    cell = "Rank@{cutoff} mIoU@{iou}"

    def select_counted(self, _: Measure | None, aligned: AlignedRun) -> Bools:
        return aligned.in_run


THRESHOLDS = (0.5, 0.7)
CUTOFFS = (1, 5, 10, 100)
MANY = 4
"""From this many judged moments of a query, a result must reach two."""


class Vcmr(Benchmark):
    """TVR's evaluation script."""

    name = "vcmr"
    source = "the evaluation script of TVR (Lei et al., ECCV 2020)"
    changes = {"strict": False}
    measures = ("R", "VR")
    read = CUTOFFS[-1]
    tasks = TASKS
    brief = (
        *(f"{task}-{iou}-r{k}" for task in ("VCMR", "SVMR") for iou in THRESHOLDS for k in CUTOFFS),
        *(f"VR-r{k}" for k in CUTOFFS),
    )

    def rounded(self, share: float) -> float:
        """Return a share in percent, rounded to two decimals as the script does."""
        return float(np.round(share * 100, 2))

    def cells(self, aligned: AlignedRun) -> dict[str, Floats]:
        rank, matched = aligned.results.rank, in_right_video(aligned)
        inside = rank_among(aligned, matched)
        hits = {iou: reach(aligned, iou) for iou in THRESHOLDS}
        tasks = {
            **{f"VCMR-{iou}": (rows, rank) for iou, rows in hits.items()},
            **{f"SVMR-{iou}": (rows, inside) for iou, rows in hits.items()},
            "VR": (matched, rank),
        }
        return {
            f"{name}-r{cutoff}": any_of_first(aligned, rows, ranks, cutoff)
            for name, (rows, ranks) in tasks.items()
            for cutoff in CUTOFFS
        }

    def list_of(self, measure: Measure, lists: Mapping[str, Segments]) -> str:
        task = "VR" if measure.NAME == "VR" else self.tasks[0]
        if task not in lists and "" not in lists:
            tasks = " and ".join(lists)
            raise UsageError(f"{measure!r} needs the list {task}, but the run has only {tasks}")
        return task if task in lists else ""

    def compute(self, measure: Measure, aligned: AlignedRun, params: Params) -> Floats:
        is_video = measure.NAME == "VR"
        hits = in_right_video(aligned) if is_video else reach(aligned, params["iou"])
        return any_of_first(aligned, hits, aligned.results.rank, params["cutoff"])

    def trace(self, measure: Measure, aligned: AlignedRun) -> Trace:
        """Return the judged moment of the highest IoU of each result, in 32 bits."""
        of_videos = measure.NAME == "VR"
        hits = in_right_video(aligned) if of_videos else reach(aligned, measure.params["iou"])
        ious = np.zeros(len(hits))
        np.maximum.at(ious, aligned.pairs.result, _iou32(aligned).astype(np.float64))
        met = aligned.pairs if of_videos else overlapping(aligned)
        return Trace(nearest(aligned, met), ious, hits.astype(np.float64), hits)


def any_of_first(aligned: AlignedRun, hits: Bools, rank: Ints, cutoff: int) -> Floats:
    """Return 1 where one of the results of rank 1 to `cutoff` is a hit, shape (queries,)."""
    hit = np.zeros(aligned.count)
    hit[aligned.results.query[hits & (rank <= cutoff)]] = 1.0
    return hit


def in_right_video(aligned: AlignedRun) -> Bools:
    """Return which results are in a video with a judged moment, shape (results,)."""
    matched = np.zeros(len(aligned.results.query), dtype=bool)
    matched[aligned.pairs.result] = True
    return matched


def rank_among(aligned: AlignedRun, rows: Bools) -> Ints:
    """Return the rank of each result among those of `rows`, from 1; shape (results,)."""
    query, count = aligned.results.query, np.cumsum(rows)
    before = np.concatenate([[0], count])[np.searchsorted(query, query)]
    ranks: Ints = count - before
    return ranks


def reach(aligned: AlignedRun, threshold: float) -> Bools:
    """Return which results reach the threshold, shape (results,)."""
    ious = memoize(aligned, "hull32", lambda: _iou32(aligned))
    reached = aligned.pairs.result[ious >= np.float32(threshold)]
    count = np.bincount(reached, minlength=len(aligned.results.query))
    many = np.bincount(aligned.truth.query, minlength=aligned.count) >= MANY
    hits: Bools = count >= np.where(many, 2, 1)[aligned.results.query]
    return hits


def _iou32(aligned: AlignedRun) -> npt.NDArray[np.float32]:
    return hull_iou(pair_times(aligned, *aligned.pairs).astype(np.float32))


CONVENTIONS = (Charades(), Nlq(), Vcmr())
