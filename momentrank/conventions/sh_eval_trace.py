"""What each result met, as MediaEval's script for search and hyperlinking sees it."""

from collections.abc import Iterable

import numpy as np

from momentrank.conventions.sh_eval_models import BIN, MODELS, TOL, Query, touched_bins
from momentrank.matching.aligned import AlignedRun, Pairs
from momentrank.matching.trace import Trace, nearest, share_time


def trace(aligned: AlignedRun, queries: Iterable[Query], match: str) -> Trace:
    """Return a judged segment that each result meets, in whole seconds, and what is relevant."""
    truth = nearest(aligned, _met(aligned, match))
    relevant = np.array([hit for query in queries for hit in _hits(query, match)], dtype=bool)
    return Trace(truth, share_time(aligned, truth), relevant.astype(np.float64), relevant)


def _hits(query: Query, match: str) -> list[bool]:
    """Return which results are relevant; by bins, those that are the first to touch such a one."""
    items, _ = MODELS[match](query)
    if match != "bin":
        return [item.relevant for item in items]
    fresh = iter(items)
    seen: set[tuple[int, int]] = set()
    hits = []
    for part in query.results:
        places = [place for place in touched_bins(part) if place not in seen]
        seen.update(places)
        touched = [next(fresh).relevant for _ in places]
        hits.append(any(touched))
    return hits


def _met(aligned: AlignedRun, match: str) -> Pairs:
    """Return the pairs of results and judged segments that a model looks at."""
    result, truth = aligned.pairs
    start, end = (np.trunc(c)[result] for c in (aligned.results.start, aligned.results.end))
    first, last = (np.trunc(c)[truth] for c in (aligned.truth.start, aligned.truth.end))
    if match == "overlap":
        rows = (start <= last) & (first <= end)
    elif match == "tol":
        rows = (start < last) & (first < start + TOL)
    else:
        rows = (start // BIN <= (last - 1) // BIN) & (first // BIN <= (end - 1) // BIN)
    return Pairs(result[rows], truth[rows])
