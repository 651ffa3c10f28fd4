"""Tolerance to irrelevance: Aly et al. (2013), section 2 (after de Vries et al., 2004).

A user starts watching at the start of a result and gives up after `tol` seconds without relevant
content. So a result is relevant if [start, start + tol) meets a relevant segment but nothing that
was seen before: the windows of all earlier results in the video or, with `seen="relevant"` (as in
Figure 3), only the relevant content that they met, to its end.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from momentrank.matching import overlap
from momentrank.matching.aligned import AlignedRun
from momentrank.matching.relevance import Params, Relevance
from momentrank.segments import Bools

Place = tuple[int, int]  # a query's number, a video's number


def mask_judged(aligned: AlignedRun, params: Params) -> Bools:
    """Return which results meet a judged segment within the tolerance."""
    ends = aligned.results.start + params["tol"]
    return overlap.meets(aligned, ends, aligned.relevant(0))


def relevance(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the relevance of results; relevant ones have gain 1."""
    ends = aligned.results.start + params["tol"]
    met = overlap.meets(aligned, ends, aligned.relevant(params["rel"]))
    fresh = _fresh_of_relevant if params["seen"] == "relevant" else _fresh_of_all
    hit = met & np.fromiter(fresh(aligned, params), bool, len(met))
    judged = mask_judged(aligned, params)
    return aligned.rate(hit.astype(np.float64), hit, judged, params["rel"])


def _places(aligned: AlignedRun) -> Iterator[tuple[Place, float]]:
    results = aligned.results
    columns = (results.query.tolist(), results.video.tolist(), results.start.tolist())
    return (((query, video), start) for query, video, start in zip(*columns, strict=True))


def _fresh_of_all(aligned: AlignedRun, params: Params) -> Iterator[bool]:
    """Yield whether each result's window meets no earlier window in the same video."""
    tol = params["tol"]
    seen: dict[Place, list[float]] = defaultdict(list)
    for place, start in _places(aligned):
        starts = seen[place]
        at = bisect_left(starts, start)
        before = at > 0 and start < starts[at - 1] + tol
        after = at < len(starts) and starts[at] < start + tol
        yield not (before or after)
        insort(starts, start)


def _fresh_of_relevant(aligned: AlignedRun, params: Params) -> Iterator[bool]:
    """Yield whether each result's window meets no relevant content seen before."""
    tol = params["tol"]
    pairs = overlap.meeting(aligned, aligned.results.start + tol, aligned.relevant(params["rel"]))
    met: dict[int, list[int]] = defaultdict(list)
    for result, segment in zip(pairs.result.tolist(), pairs.truth.tolist(), strict=True):
        met[result].append(segment)
    begins, ends = aligned.truth.start.tolist(), aligned.truth.end.tolist()
    seen: dict[Place, list[tuple[float, float]]] = defaultdict(list)
    for row, (place, start) in enumerate(_places(aligned)):
        yield not any(max(start, a) < min(start + tol, b) for a, b in seen[place])
        seen[place] += [(max(start, begins[g]), ends[g]) for g in met[row]]
