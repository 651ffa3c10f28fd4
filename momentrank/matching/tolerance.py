"""Tolerance to irrelevance: Aly et al. (2013), section 2 (after de Vries et al., 2004).

A user starts watching at the start of a result and gives up after `tol` seconds without relevant
content. So a result is relevant if [start, start + tol) meets a relevant segment but nothing that
was seen before: the windows of all earlier results in the video or, with `seen="relevant"` (as in
Figure 3), only the relevant content that they met, to its end.
"""

import numpy as np

from momentrank.matching import overlap
from momentrank.matching.aligned import AlignedRun, Params, Relevance
from momentrank.matching.spans import Spans
from momentrank.matching.timeline import Timeline, moments
from momentrank.segments import Bools, Floats, Ints

NONE = -1


def relevance(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the relevance of results; relevant ones have gain 1."""
    start, tol = aligned.results.start, params["tol"]
    relevant, place = aligned.relevant(params["rel"]), aligned.places[1]
    hit = overlap.meets(aligned, start + tol, relevant)
    near = aligned.near
    rows = near[np.isin(place[near], place[hit])]  # where nothing is met, nothing counts
    fresh = _fresh_of_relevant if params["seen"] == "relevant" else _fresh_of_all
    hit[rows] &= fresh(aligned.timeline(relevant), place[rows], start[rows], tol)
    judged = overlap.meets(aligned, start + tol, aligned.relevant(0))
    return aligned.rate(hit.astype(np.float64), hit, judged, params["rel"])


def _fresh_of_all(_: Timeline, place: Ints, start: Floats, tol: float) -> Bools:
    """Return whether each result's window meets no earlier window in the same place.

    All windows are equally long: only the nearest earlier ones on both sides can be met. They are
    neighbours in the order of time once all later results are taken out of it, from the last one.
    """
    order = np.lexsort((start, place))
    near = np.diff(place[order]) == 0
    before, after = np.full(len(order) + 1, NONE), np.full(len(order) + 1, NONE)
    before[order[1:][near]], after[order[:-1][near]] = order[:-1][near], order[1:][near]
    begins, left, right = start.tolist(), before.tolist(), after.tolist()
    fresh = np.ones(len(order), dtype=bool)
    for row in range(len(order) - 1, -1, -1):
        one, other = left[row], right[row]
        if (one != NONE and begins[row] < begins[one] + tol) or (
            other != NONE and begins[other] < begins[row] + tol
        ):
            fresh[row] = False
        right[one], left[other] = other, one  # at NONE, the last place: read by nobody
    return fresh


def _fresh_of_relevant(line: Timeline, place: Ints, start: Floats, tol: float) -> Bools:
    """Return whether each result's window meets no relevant content seen before.

    What a window has met is seen: of segments that run at its start, from there to the latest
    end; of those that begin later in it, all. The latter are seen once and for all.
    """
    running = np.searchsorted(line.start, moments(place, start), side="right")
    ended = np.searchsorted(line.start, moments(place, start + tol), side="left")
    latest = np.append(line.latest, complex(NONE, 0))[running - 1]  # -1 is the one appended
    until = np.where(latest.real == place, latest.imag, -np.inf)
    begins, ends = line.start.imag.tolist(), line.latest.imag.tolist()
    following = list(range(len(begins) + 1))  # the next segment that is not yet seen as a whole
    seen: dict[int, Spans] = {}
    fresh = np.empty(len(place), dtype=bool)
    columns = (column.tolist() for column in (place, start, until, running, ended))
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
