"""SPR's proposals: a query's best segments, with neighbours merged.

Segments are numbered across the corpus, skipping numbers between videos, so that the last one of a
video and the first one of the next are not neighbours.
"""

from typing import NamedTuple

import numpy as np

from baselines.collection.release import Ints


class Proposals(NamedTuple):
    """Proposals of all queries, a row each, by query and then by rank."""

    query: Ints
    first: Ints
    """The number of the first segment."""
    last: Ints
    rank: Ints
    """The best rank of its segments, from 0."""


def merge(best: Ints, gap: int) -> Proposals:
    """Merge each query's segments, (Q, K) numbers, best first, into proposals.

    Segments belong to one proposal if at most `gap` others are between one and the next; no gap may
    reach another video (see `number_segments`).
    """
    order = np.argsort(best, axis=1, kind="stable")
    numbers = np.take_along_axis(best, order, axis=1)
    starts = np.ones(numbers.shape, dtype=bool)
    starts[:, 1:] = np.diff(numbers, axis=1) > gap + 1
    begins = np.flatnonzero(starts.ravel())
    flat = numbers.ravel()
    ends = np.append(begins[1:], flat.size) - 1
    rank = np.minimum.reduceat(order.ravel(), begins)
    query = begins // best.shape[1]
    by_rank = np.lexsort((rank, query))
    columns = (query, flat[begins], flat[ends], rank)
    return Proposals(*(column[by_rank].astype(np.int64) for column in columns))


def number_segments(counts: Ints, gap: int) -> Ints:
    """Return the number of each video's first segment, (V,), given the segments per video.

    Between two videos, `gap + 1` numbers are skipped.
    """
    return np.concatenate([[0], np.cumsum(counts + gap + 1)[:-1]]).astype(np.int64)
