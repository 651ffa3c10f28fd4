"""Overlap: Aly et al. (2013), section 2.

A result is relevant if it overlaps a relevant segment. Several results may be relevant because of
the same segment, so AP can exceed 1; with `once`, a segment counts only for the first result that
overlaps it.
"""

import numpy as np

from momentrank.matching.aligned import AlignedRun, Pairs
from momentrank.matching.relevance import Params, Relevance
from momentrank.segments import Bools, Floats


def mask_judged(aligned: AlignedRun, params: Params) -> Bools:  # noqa: ARG001  (one signature)
    """Return which results overlap a judged segment."""
    return meets(aligned, aligned.results.end, aligned.relevant(0))


def relevance(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the relevance of results; relevant ones have gain 1."""
    relevant = aligned.relevant(params["rel"])
    hit = meets(aligned, aligned.results.end, relevant)
    if params.get("once"):
        hit = _first(aligned, meeting(aligned, aligned.results.end, relevant))
    judged = mask_judged(aligned, params)
    return aligned.rate(hit.astype(np.float64), hit, judged, params["rel"])


def meeting(aligned: AlignedRun, end: Floats, truth: Bools) -> Pairs:
    """Return the pairs of results [start, `end`) and segments of `truth` that overlap."""
    result, segment = aligned.pairs
    first = np.maximum(aligned.results.start[result], aligned.truth.start[segment])
    last = np.minimum(end[result], aligned.truth.end[segment])
    rows = (first < last) & truth[segment]
    return Pairs(result[rows], segment[rows])


def meets(aligned: AlignedRun, end: Floats, truth: Bools) -> Bools:
    """Return which results [start, `end`) overlap a segment of `truth`."""
    hit = np.zeros(len(aligned.results.query), dtype=bool)
    hit[meeting(aligned, end, truth).result] = True
    return hit


def _first(aligned: AlignedRun, met: Pairs) -> Bools:
    """Return which results meet a segment that no earlier result meets."""
    earliest = np.full(len(aligned.truth.query), len(aligned.results.query))
    np.minimum.at(earliest, met.truth, met.result)
    hit = np.zeros(len(aligned.results.query), dtype=bool)
    hit[met.result[earliest[met.truth] == met.result]] = True
    return hit
