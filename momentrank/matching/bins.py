"""Bins: Aly et al. (2013), section 2.

Videos are divided into bins of equal length; results and segments belong to the bin of their
start. The results of a bin count as one, at the rank of the first.
"""

import numpy as np

from momentrank.matching.aligned import AlignedRun, Params, Relevance, ranks
from momentrank.matching.timeline import moments
from momentrank.segments import Ints


def relevance(aligned: AlignedRun, params: Params) -> Relevance:
    """Return the bins of each list by the rank of their first result; relevant ones have gain 1."""
    truth_keys, result_keys = number(aligned, params["bin"])
    bins, rows = first_results(aligned, params["bin"]), aligned.relevant(params["rel"])
    relevant, first = np.unique(truth_keys[rows], return_index=True)
    total = np.bincount(aligned.truth.query[rows][first], minlength=aligned.count)
    hit, judged = (np.isin(result_keys[bins], keys) for keys in (relevant, truth_keys))
    query = aligned.results.query[bins]
    return Relevance(query, ranks(query), hit.astype(np.float64), hit, judged, total)


def first_results(aligned: AlignedRun, length: float) -> Ints:
    """Return the rows of the results that are the first ones of their bins."""
    first: Ints = np.sort(np.unique(number(aligned, length)[1], return_index=True)[1])
    return first


def number(aligned: AlignedRun, length: float) -> tuple[Ints, Ints]:
    """Return bin numbers of the judged segments and of the results."""
    key = ("bins", length)
    if key not in aligned.cache:
        places, starts = aligned.places, (aligned.truth.start, aligned.results.start)
        bins = moments(np.concatenate(places), np.floor(np.concatenate(starts) / length))
        numbers = np.unique(bins, return_inverse=True)[1]
        aligned.cache[key] = numbers[: len(places[0])], numbers[len(places[0]) :]
    found: tuple[Ints, Ints] = aligned.cache[key]
    return found
