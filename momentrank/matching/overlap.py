"""Overlap: Aly et al. (2013), section 2.

A result is relevant if it shares some time with any relevant segment. As nothing is taken,
ten results may be relevant by one segment, and AP can pass 1; with `once` a segment counts
for the first result that meets it alone.
"""

import numpy as np

from momentrank.matching.aligned import AlignedRun, Pairs
from momentrank.matching.relevance import Params, Relevance
from momentrank.segments import Bools, Floats


def mask_judged(aligned: AlignedRun, params: Params) -> Bools:  # noqa: ARG001  (one signature)
    """Return which results share some time with any judged segment."""
    return meets(aligned, aligned.results.end, np.ones(len(aligned.truth.level), dtype=bool))


def relevance(aligned: AlignedRun, params: Params) -> Relevance:
    """Return which results are relevant, with gain 1."""
    relevant = aligned.relevant(params["rel"])
    hit = meets(aligned, aligned.results.end, relevant)
    if params.get("once"):
        hit = _first(aligned, meeting(aligned, aligned.results.end, relevant))
    total = aligned.totals(params["rel"])
    query, rank = aligned.results.query, aligned.results.rank
    return Relevance(query, rank, hit.astype(np.float64), hit, mask_judged(aligned, params), total)


def meeting(aligned: AlignedRun, end: Floats, truth: Bools) -> Pairs:
    """Return the pairs of results [start, `end`) and segments of `truth` that share some time."""
    result, segment = aligned.pairs
    first = np.maximum(aligned.results.start[result], aligned.truth.start[segment])
    last = np.minimum(end[result], aligned.truth.end[segment])
    rows = (first < last) & truth[segment]
    return Pairs(result[rows], segment[rows])


def meets(aligned: AlignedRun, end: Floats, truth: Bools) -> Bools:
    """Return which results [start, `end`) share some time with a segment of `truth`."""
    hit = np.zeros(len(aligned.results.query), dtype=bool)
    hit[meeting(aligned, end, truth).result] = True
    return hit


def _first(aligned: AlignedRun, met: Pairs) -> Bools:
    """Return which results meet a segment that no earlier result has met."""
    earliest = np.full(len(aligned.truth.query), len(aligned.results.query))
    np.minimum.at(earliest, met.truth, met.result)
    hit = np.zeros(len(aligned.results.query), dtype=bool)
    hit[met.result[earliest[met.truth] == met.result]] = True
    return hit
