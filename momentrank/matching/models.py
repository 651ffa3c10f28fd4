"""The relevance models.

By IoU:

* `iou`, greedy one-to-one matches (TVR-Ranking: Liang et al., 2024, section 4): in rank order, each
  result takes the judged segment of its video with the highest IoU, among those that are still free
  and reach the threshold; ties go to the higher level, then to the first in the file. Segments of
  level 0 can be taken and give 0.
* `maxiou`, the highest IoU with any relevant segment (AxIoU: Togashi et al., CVPR 2022): several
  results may match the same segment.

From Aly et al. (2013), section 2:

* `overlap`: a result is relevant if it overlaps a relevant segment. Several results may be relevant
  because of the same segment, so AP can exceed 1; with `once`, a segment counts only for the first
  result that overlaps it.
* `bin`: videos are divided into bins of equal length; results and segments belong to the bin of
  their start. The results of a bin count as one, at the rank of the first.
* `tol`, tolerance to irrelevance (after de Vries et al., 2004): a user starts watching at the start
  of a result and gives up after `tol` seconds without relevant content. So a result is relevant if
  [start, start + tol) meets a relevant segment but nothing that was seen before: the windows of all
  earlier results in the video or, with `seen="relevant"` (as in Figure 3), only the relevant
  content that they met, to its end.

And `video` (Lei et al., ECCV 2020): the results of a video count as one, at the rank of the first,
which is relevant if the video has a relevant segment.
"""

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance, memoize, ranks
from momentrank.matching.timeline import Spans, Timeline, moments
from momentrank.segments import Bools, Floats, Ints

FREE = -1


def rate_matches(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the level that each result takes; it is relevant from level `rel` up."""
    truth = match_greedily(aligned, params["iou"], strict=params["strict"])
    gain = np.append(aligned.truth.level, 0.0)[truth]  # at FREE, the last place
    relevant = (truth != FREE) & (gain >= params["rel"])
    return aligned.rate(gain, relevant, truth != FREE, params["rel"])


def match_greedily(aligned: AlignedRun, threshold: float, *, strict: bool) -> Ints:
    """Return the row of the judged segment that each result takes, or FREE; shape (n,)."""
    match = np.full(len(aligned.results.query), FREE)
    free = bytearray(b"\1") * len(aligned.truth.query)
    still_free = np.frombuffer(free, dtype=np.bool_)
    last = FREE
    for pairs, values in aligned.blocks(apart=threshold == 0 and not strict):
        reaches = values > threshold if strict else values >= threshold
        rows = np.flatnonzero(reaches & still_free[pairs.truth])
        result, truth = pairs.result[rows], pairs.truth[rows]
        order = np.lexsort((truth, -aligned.truth.level[truth], -values[rows], result))
        for row, segment in zip(result[order].tolist(), truth[order].tolist(), strict=True):
            if row != last and free[segment]:
                match[row], free[segment], last = segment, 0, row
    return match


def rate_highest(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the IoU of each result as its gain; it is relevant if that exceeds the threshold."""
    gain = _best(aligned, aligned.relevant(params["rel"]))
    threshold = params.get("iou") or 0.0
    relevant = gain > threshold if params.get("strict", True) else gain >= threshold
    judged = _best(aligned, aligned.relevant(0)) > 0
    return aligned.rate(gain, relevant, judged, params["rel"])


def _best(aligned: AlignedRun, truth: Bools) -> Floats:
    best = np.zeros(len(aligned.results.query))
    for pairs, values in aligned.blocks():
        rows = truth[pairs.truth]
        np.maximum.at(best, pairs.result[rows], values[rows])
    return best


def rate_overlap(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the relevance of results; relevant ones have gain 1."""
    relevant, end = aligned.relevant(params["rel"]), aligned.results.end
    hit = _first(aligned, relevant) if params.get("once") else meets(aligned, end, relevant)
    judged = meets(aligned, end, aligned.relevant(0))
    return aligned.rate(hit.astype(np.float64), hit, judged, params["rel"])


def meets(aligned: AlignedRun, end: Floats, truth: Bools) -> Bools:
    """Return which results [start, `end`) overlap a segment of `truth`."""
    rows, results = aligned.near, aligned.results
    line, query_video = aligned.timeline(truth), aligned.query_videos[1]
    first, last = line.find(query_video[rows], results.start[rows], end[rows])
    hit = np.zeros(len(query_video), dtype=bool)
    hit[rows] = first < last
    return hit


def _first(aligned: AlignedRun, relevant: Bools) -> Bools:
    """Return which results overlap a relevant segment that no earlier result overlaps."""
    count = len(aligned.results.query)
    earliest = np.full(len(aligned.truth.query), count)
    for pairs, iou in aligned.blocks():
        rows = (iou > 0) & relevant[pairs.truth]
        np.minimum.at(earliest, pairs.truth[rows], pairs.result[rows])
    hit = np.zeros(count, dtype=bool)
    hit[earliest[earliest < count]] = True
    return hit


def rate_bins(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the bins, or videos, of each list by the rank of their first result.

    Relevant ones have gain 1.
    """
    truth_keys, result_keys = number_bins(aligned, params)
    bins, rows = first_results(aligned, params), aligned.relevant(params["rel"])
    relevant, first = np.unique(truth_keys[rows], return_index=True)
    total = np.bincount(aligned.truth.query[rows][first], minlength=aligned.count)
    hit, judged = (np.isin(result_keys[bins], keys) for keys in (relevant, truth_keys))
    query = aligned.results.query[bins]
    return Relevance(query, ranks(query), hit.astype(np.float64), hit, judged, total)


def first_results(aligned: AlignedRun, params: Params) -> Ints:
    """Return the rows of the results that are the first ones of their bins, or videos."""
    first: Ints = np.sort(np.unique(number_bins(aligned, params)[1], return_index=True)[1])
    return first


def number_bins(aligned: AlignedRun, params: Params) -> tuple[Ints, Ints]:
    """Return the numbers of the bins, or videos, of the judged segments and of the results."""
    if params["match"] == "video":
        return aligned.query_videos
    length = params["bin"]

    def number() -> tuple[Ints, Ints]:
        query_videos, starts = aligned.query_videos, (aligned.truth.start, aligned.results.start)
        bins = moments(np.concatenate(query_videos), np.floor(np.concatenate(starts) / length))
        numbers = np.unique(bins, return_inverse=True)[1]
        return numbers[: len(query_videos[0])], numbers[len(query_videos[0]) :]

    return memoize(aligned, ("bins", length), number)


NONE = -1


def rate_tolerance(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the relevance of results; relevant ones have gain 1."""
    start, tol = aligned.results.start, params["tol"]
    relevant, query_video = aligned.relevant(params["rel"]), aligned.query_videos[1]
    hit = meets(aligned, start + tol, relevant)
    near = aligned.near
    # Where nothing is met, nothing counts.
    rows = near[np.isin(query_video[near], query_video[hit])]
    fresh = _fresh_of_relevant if params["seen"] == "relevant" else _fresh_of_all
    hit[rows] &= fresh(aligned.timeline(relevant), query_video[rows], start[rows], tol)
    judged = meets(aligned, start + tol, aligned.relevant(0))
    return aligned.rate(hit.astype(np.float64), hit, judged, params["rel"])


def find_fresh(aligned: AlignedRun, params: Params) -> Bools:
    """Return which results would be relevant if people found something of its own in their window.

    With `seen="relevant"` each: what is seen lies in judged segments, and no window of another
    result shows what is found in this one.
    """
    if params["seen"] == "relevant":
        return np.ones(len(aligned.results.query), dtype=bool)
    line = aligned.timeline(aligned.relevant(0))
    return _fresh_of_all(line, aligned.query_videos[1], aligned.results.start, params["tol"])


def _fresh_of_all(_: Timeline, query_video: Ints, start: Floats, tol: float) -> Bools:
    """Return whether each result's window meets no earlier window in the same video of a query.

    All windows are equally long: only the nearest earlier ones on both sides can be met. They are
    neighbours in the order of time once all later results are removed, starting with the last.
    """
    order = np.lexsort((start, query_video))
    near = np.diff(query_video[order]) == 0
    before, after = np.full(len(order) + 1, NONE), np.full(len(order) + 1, NONE)
    before[order[1:][near]], after[order[:-1][near]] = order[:-1][near], order[1:][near]
    begins, left, right = start.tolist(), before.tolist(), after.tolist()
    fresh = np.ones(len(order), dtype=bool)
    for row in range(len(order) - 1, -1, -1):
        earlier, later = left[row], right[row]
        if (earlier != NONE and begins[row] < begins[earlier] + tol) or (
            later != NONE and begins[later] < begins[row] + tol
        ):
            fresh[row] = False
        # At NONE, the last place: never read.
        right[earlier], left[later] = later, earlier
    return fresh


def _fresh_of_relevant(line: Timeline, query_video: Ints, start: Floats, tol: float) -> Bools:
    """Return whether each result's window meets no relevant content seen before.

    What a window has met is seen: segments running at its start, from there to the latest end;
    all of those that begin later in it. The latter are seen once and for all.
    """
    running = np.searchsorted(line.start, moments(query_video, start), side="right")
    ended = np.searchsorted(line.start, moments(query_video, start + tol), side="left")
    latest = np.append(line.latest, complex(NONE, 0))[running - 1]  # -1 is the one appended
    until = np.where(latest.real == query_video, latest.imag, -np.inf)
    begins, ends = line.start.imag.tolist(), line.latest.imag.tolist()
    following = list(range(len(begins) + 1))  # the next segment that is not yet seen as a whole
    seen: dict[int, Spans] = {}
    fresh = np.empty(len(query_video), dtype=bool)
    columns = (column.tolist() for column in (query_video, start, until, running, ended))
    for row, (where, begin, end, first, last) in enumerate(zip(*columns, strict=True)):
        spans = seen.setdefault(where, Spans())
        fresh[row] = spans.last_met(begin, begin + tol) is None
        if begin < end:
            spans.add(begin, end)
        at = _follow(following, first)
        while at < last:
            spans.add(begins[at], ends[at])
            following[at] = at + 1
            at = _follow(following, at)
    return fresh


def _follow(following: list[int], at: int) -> int:
    """Return where the chain that begins at `at` ends; shorten the chain."""
    end = at
    while following[end] != end:
        end = following[end]
    while following[at] != end:
        following[at], at = end, following[at]
    return end
