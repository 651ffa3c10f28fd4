"""Overlap: Aly et al. (2013), section 2.

A result is relevant if it shares some time with any relevant segment. As nothing is taken,
ten results may be relevant by one segment, and AP can pass 1; with `once` a segment counts
for the first result that meets it alone.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentrank.matching.aligned import Lists, Pairs
from momentrank.matching.relevance import Relevance
from momentrank.segments import Bools, Floats


def judged(lists: Lists, params: Mapping[str, Any]) -> Bools:  # noqa: ARG001  (one signature)
    """Return which results share some time with any judged segment."""
    return meets(lists, lists.results.end, np.ones(len(lists.truth.level), dtype=bool))


def relevance(lists: Lists, params: Mapping[str, Any]) -> Relevance:
    """Return which results are relevant, with gain 1."""
    relevant = lists.relevant(params["rel"])
    hit = meets(lists, lists.results.end, relevant)
    if params.get("once"):
        hit = _first(lists, meeting(lists, lists.results.end, relevant))
    total = lists.totals(params["rel"])
    query, rank = lists.results.query, lists.results.rank
    return Relevance(query, rank, hit.astype(np.float64), hit, judged(lists, params), total)


def meeting(lists: Lists, end: Floats, truth: Bools) -> Pairs:
    """Return the pairs of results [start, `end`) and segments of `truth` that share some time."""
    result, segment = lists.pairs
    first = np.maximum(lists.results.start[result], lists.truth.start[segment])
    last = np.minimum(end[result], lists.truth.end[segment])
    rows = (first < last) & truth[segment]
    return Pairs(result[rows], segment[rows])


def meets(lists: Lists, end: Floats, truth: Bools) -> Bools:
    """Return which results [start, `end`) share some time with a segment of `truth`."""
    hit = np.zeros(len(lists.results.query), dtype=bool)
    hit[meeting(lists, end, truth).result] = True
    return hit


def _first(lists: Lists, met: Pairs) -> Bools:
    """Return which results meet a segment that no earlier result has met."""
    earliest = np.full(len(lists.truth.query), len(lists.results.query))
    np.minimum.at(earliest, met.truth, met.result)
    hit = np.zeros(len(lists.results.query), dtype=bool)
    hit[met.result[earliest[met.truth] == met.result]] = True
    return hit
