"""Bins: Aly et al. (2013), section 2.

Videos are cut into bins of equal length; results and segments fall into the bin of their
start. The results of one bin count as one, at the place of the first.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from momentrank.matching.aligned import Lists, Results, Truth, ranks
from momentrank.matching.relevance import Relevance
from momentrank.segments import Bools, Ints


def judged(lists: Lists, params: Mapping[str, Any]) -> Bools:
    """Return which results fall into the bin of a judged segment."""
    known, wanted = _keys(lists, params["bin"])
    return np.isin(wanted, known)


def relevance(lists: Lists, params: Mapping[str, Any]) -> Relevance:
    """Return the bins of each list, by the rank of their first result, with gain 1."""
    known, wanted = _keys(lists, params["bin"])
    bins = np.sort(np.unique(wanted, return_index=True)[1])
    relevant = np.unique(known[lists.relevant(params["rel"])], return_index=True)[1]
    owners = lists.truth.query[lists.relevant(params["rel"])][relevant]
    hit = np.isin(wanted[bins], known[lists.relevant(params["rel"])])
    query = lists.results.query[bins]
    return Relevance(
        query,
        ranks(query),
        hit.astype(np.float64),
        hit,
        np.isin(wanted[bins], known),
        np.bincount(owners, minlength=lists.count),
    )


def _keys(lists: Lists, length: float) -> tuple[Ints, Ints]:
    """Return a number for the bin of each segment and of each result: equal for equal bins."""
    rows = np.concatenate([_bins(lists.truth, length), _bins(lists.results, length)])
    keys = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    return keys[: len(lists.truth.query)], keys[len(lists.truth.query) :]


def _bins(of: Truth | Results, length: float) -> Ints:
    return np.stack([of.query, of.video, np.floor(of.start / length).astype(np.int64)], axis=1)
