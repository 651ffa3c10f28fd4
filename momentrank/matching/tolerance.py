"""Tolerance to irrelevance: Aly et al. (2013), section 2 (after de Vries et al., 2004).

A user starts to watch where a result starts, and gives up after `tol` seconds without
anything relevant. So a result is relevant if [start, start + tol) meets a relevant segment, and
nothing that has been seen: the windows of all results before it in the same video, or, with
`seen="relevant"` (Figure 3's reading), only the relevant content that they met, to its end.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from momentrank.matching import overlap
from momentrank.matching.aligned import Lists
from momentrank.matching.relevance import Relevance
from momentrank.segments import Bools

Place = tuple[int, int]  # a query's number, a video's number


def judged(lists: Lists, params: Mapping[str, Any]) -> Bools:
    """Return which results meet any judged segment within the tolerance."""
    ends = lists.results.start + params["tol"]
    return overlap.meets(lists, ends, np.ones(len(lists.truth.level), dtype=bool))


def relevance(lists: Lists, params: Mapping[str, Any]) -> Relevance:
    """Return which results are relevant, with gain 1."""
    ends = lists.results.start + params["tol"]
    met = overlap.meets(lists, ends, lists.relevant(params["rel"]))
    fresh = _fresh_of_relevant if params["seen"] == "relevant" else _fresh_of_all
    hit = met & np.fromiter(fresh(lists, params), bool, len(met))
    total = lists.totals(params["rel"])
    query, rank = lists.results.query, lists.results.rank
    return Relevance(query, rank, hit.astype(np.float64), hit, judged(lists, params), total)


def _places(lists: Lists) -> Iterator[tuple[Place, float]]:
    results = lists.results
    columns = (results.query.tolist(), results.video.tolist(), results.start.tolist())
    return (((query, video), start) for query, video, start in zip(*columns, strict=True))


def _fresh_of_all(lists: Lists, params: Mapping[str, Any]) -> Iterator[bool]:
    """Yield for each result whether its window meets none before it in the same video."""
    tol = params["tol"]
    seen: dict[Place, list[float]] = defaultdict(list)
    for place, start in _places(lists):
        starts = seen[place]
        at = bisect_left(starts, start)
        before = at > 0 and start < starts[at - 1] + tol
        after = at < len(starts) and starts[at] < start + tol
        yield not (before or after)
        insort(starts, start)


def _fresh_of_relevant(lists: Lists, params: Mapping[str, Any]) -> Iterator[bool]:
    """Yield for each result whether its window meets no relevant content seen before it."""
    tol = params["tol"]
    pairs = overlap.meeting(lists, lists.results.start + tol, lists.relevant(params["rel"]))
    met: dict[int, list[int]] = defaultdict(list)
    for result, segment in zip(pairs.result.tolist(), pairs.truth.tolist(), strict=True):
        met[result].append(segment)
    begins, ends = lists.truth.start.tolist(), lists.truth.end.tolist()
    seen: dict[Place, list[tuple[float, float]]] = defaultdict(list)
    for row, (place, start) in enumerate(_places(lists)):
        yield not any(max(start, a) < min(start + tol, b) for a, b in seen[place])
        seen[place] += [(max(start, begins[g]), ends[g]) for g in met[row]]
