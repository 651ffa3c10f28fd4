"""QVHighlights' moment retrieval: R1 and mAP by IoU threshold and by length of the windows.

As its evaluation script computes them: only the first 10 windows of a list count, videos are not
compared, and the values are rounded to hundredths of a percent.

* R1: the first window of the list has an IoU of at least the threshold with the window that it
  overlaps best. That IoU divides by the time from the first start to the last end.
* mAP: the windows in descending order of score, ties in the order of the list. Each takes, of the
  windows that are still free and reach the threshold, the one with the highest IoU; of equal ones
  the last in the file. Precision is interpolated: at each recall the highest at that or higher.
* short, middle, long: only windows of (0, 10], (10, 30] and (30, 150] seconds, and only queries
  that have one; `full`: all.
"""

import numpy as np

from momentrank.conventions.base import Benchmark, hull_iou, pair_times
from momentrank.errors import UsageError
from momentrank.matching import Trace, iou_with, nearest, overlapping
from momentrank.matching.aligned import AlignedRun, Params, align
from momentrank.matching.models import FREE
from momentrank.measures.base import Measure
from momentrank.segments import Bools, Floats, Ints, Segments

THRESHOLDS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
DEPTH = 10
RANGES = {"short": (0, 10), "middle": (10, 30), "long": (30, 150)}
"""The lengths (low, high] in seconds of the windows that count."""


class QvHighlights(Benchmark):
    """QVHighlights' evaluation script, moment retrieval."""

    name = "qvhighlights"
    source = "the evaluation script of QVHighlights (Lei et al., NeurIPS 2021)"
    changes = {"strict": False}
    measures = ("R", "AP")
    read = DEPTH
    brief = (
        "MR-full-R1@0.5",
        "MR-full-R1@0.7",
        "MR-full-mAP",
        "MR-full-mAP@0.5",
        "MR-full-mAP@0.75",
        "MR-long-mAP",
        "MR-middle-mAP",
        "MR-short-mAP",
    )

    def check(self, measure: Measure) -> None:
        super().check(measure)
        cutoff = measure.params.get("cutoff")
        if cutoff != (1 if measure.NAME == "R" else None):
            raise UsageError(
                f"{measure!r} is not a measure of qvhighlights: it has R(iou=...)@1 and"
                f" AP(iou=...), which is over the first {DEPTH} results"
            )

    def prepare(self, qrels: Segments, run: Segments) -> tuple[Segments, Segments]:
        """Return the windows and the run, without videos."""
        qrels, run = super().prepare(qrels, run)
        return _ignore_videos(qrels), _ignore_videos(run)

    def compute(self, measure: Measure, aligned: AlignedRun, params: Params) -> Floats:
        by_threshold = recall if measure.NAME == "R" else average_precision
        return by_threshold(aligned, (params["iou"],))[:, 0]

    def trace(self, measure: Measure, aligned: AlignedRun) -> Trace:
        """Return the window that each result takes, or that the first one is nearest to."""
        if measure.NAME == "R":
            truth = nearest(aligned, overlapping(aligned))
            hit = recall(aligned, (measure.params["iou"],))
            hits = (aligned.results.rank == 1) & (hit[aligned.results.query, 0] > 0)
        else:
            _, order = by_score(aligned)
            truth = match(aligned, order, measure.params["iou"])
            hits = truth != FREE
        return Trace(truth, iou_with(aligned, truth), hits.astype(np.float64), hits)

    def table(self, qrels: Segments, run: Segments) -> dict[str, float]:
        aligned = align(*self.prepare(qrels, run), DEPTH)
        order = _in_order(qrels, run, aligned)
        cells = _cells("full", recall(aligned)[order], average_precision(aligned)[order])
        length = aligned.truth.end - aligned.truth.start
        for name, (low, high) in RANGES.items():
            in_range = aligned.select_truth((length > low) & (length <= high))
            rows = order[in_range.totals(1)[order] > 0]
            cells |= _cells(name, recall(in_range)[rows], average_precision(in_range)[rows])
        return cells


def _in_order(qrels: Segments, run: Segments, aligned: AlignedRun) -> Ints:
    """Return the rows of all queries, those of the run first: sums round by their order."""
    index = {name: row for row, name in enumerate(qrels.queries)}
    listed = [index[name] for name in run.queries if name in index]
    return np.array([*listed, *np.flatnonzero(~aligned.in_run)], dtype=np.int64)


def _cells(name: str, hit: Floats, precision: Floats) -> dict[str, float]:
    if not len(hit):  # no query has a window of such a length
        hit = precision = np.full((1, len(THRESHOLDS)), np.nan)
    means = {"R1": hit.mean(axis=0), "mAP": precision.mean(axis=0)}
    cells = {
        f"MR-{name}-{measure}@{threshold}": value
        for measure, columns in means.items()
        for threshold, value in zip(THRESHOLDS, columns.tolist(), strict=True)
    }
    return {**cells, f"MR-{name}-mAP": float(means["mAP"].mean())}


def _ignore_videos(segments: Segments) -> Segments:
    return segments._replace(video=[""] * len(segments.video))


def recall(aligned: AlignedRun, thresholds: tuple[float, ...] = THRESHOLDS) -> Floats:
    """Return whether the first window reaches each threshold, shape (queries, thresholds)."""
    result, truth = aligned.pairs
    first = np.flatnonzero(aligned.results.rank[result] == 1)
    best = first[np.lexsort((truth[first], -aligned.iou[first], result[first]))]
    query, rows = np.unique(aligned.results.query[result[best]], return_index=True)
    row, wanted = result[best[rows]], truth[best[rows]]
    hull = np.zeros(aligned.count)
    hull[query] = hull_iou(pair_times(aligned, row, wanted))
    return (hull[:, None] >= thresholds).astype(np.float64)


def average_precision(aligned: AlignedRun, thresholds: tuple[float, ...] = THRESHOLDS) -> Floats:
    """Return the interpolated average precision, shape (queries, thresholds)."""
    first, order = by_score(aligned)
    hits = [match(aligned, order, threshold) != FREE for threshold in thresholds]
    return _interpolate(aligned, order - first, np.stack(hits, axis=1))


def by_score(aligned: AlignedRun) -> tuple[Ints, Ints]:
    """Return the row of the first result of each result's list, and its row if scores decide."""
    query = aligned.results.query
    order = np.lexsort((np.arange(len(query)), -aligned.results.score, query))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return np.searchsorted(query, query), position


def match(aligned: AlignedRun, position: Ints, threshold: float) -> Ints:
    """Return the window that each result takes, or FREE, in ascending order of `place`."""
    reaches = aligned.iou >= threshold
    result, truth = (rows[reaches] for rows in aligned.pairs)
    order = np.lexsort((-truth, -aligned.iou[reaches], position[result]))
    taken = np.full(len(aligned.results.query), FREE)
    free = bytearray(b"\1") * len(aligned.truth.query)
    for row, window in zip(result[order].tolist(), truth[order].tolist(), strict=True):
        if free[window] and taken[row] == FREE:
            taken[row], free[window] = window, 0
    return taken


def _interpolate(aligned: AlignedRun, position: Ints, hits: Bools) -> Floats:
    """Return interpolated average precision, shape (queries, thresholds).

    `hits` (results, thresholds) are ordered by `position` in their list. The order of additions is
    that of numpy's sum over the steps of recall, the last of which leads to a recall of 1: another
    order rounds differently.
    """
    table = np.zeros((aligned.count, hits.shape[1], DEPTH))
    table[aligned.results.query, :, position] = hits
    count_at = table.cumsum(axis=2)
    total = np.maximum(aligned.totals(1), 1)[:, None, None]
    recall = count_at / total
    by_rank = count_at / np.arange(1, DEPTH + 1)
    precision = np.maximum.accumulate(by_rank[..., ::-1], axis=2)[..., ::-1]
    steps = np.diff(recall, axis=2, prepend=0.0) * precision
    query, column, rank = np.nonzero(table)
    number = count_at[query, column, rank].astype(np.int64) - 1
    terms = np.zeros((aligned.count, hits.shape[1], DEPTH + 1))
    terms[query, column, number] = steps[query, column, rank]
    count = table.sum(axis=2) + (recall[..., -1] != 1)
    values = np.zeros(count.shape)
    for length in np.unique(count).astype(np.int64).tolist():
        values[count == length] = terms[count == length, :length].sum(axis=1)
    return values


CONVENTIONS = (QvHighlights(),)
