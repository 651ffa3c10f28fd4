"""Overlap: Aly et al. (2013), section 2.

A result is relevant if it overlaps a relevant segment. Several results may be relevant because of
the same segment, so AP can exceed 1; with `once`, a segment counts only for the first result that
overlaps it.
"""

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance
from momentrank.segments import Bools, Floats


def relevance(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the relevance of results; relevant ones have gain 1."""
    relevant, end = aligned.relevant(params["rel"]), aligned.results.end
    hit = _first(aligned, relevant) if params.get("once") else meets(aligned, end, relevant)
    judged = meets(aligned, end, aligned.relevant(0))
    return aligned.rate(hit.astype(np.float64), hit, judged, params["rel"])


def meets(aligned: AlignedRun, end: Floats, truth: Bools) -> Bools:
    """Return which results [start, `end`) overlap a segment of `truth`."""
    rows, results = aligned.near, aligned.results
    line, place = aligned.timeline(truth), aligned.places[1]
    first, last = line.find(place[rows], results.start[rows], end[rows])
    hit = np.zeros(len(place), dtype=bool)
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
