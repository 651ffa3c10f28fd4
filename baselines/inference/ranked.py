"""Ranked lists of moments, which search returns, and non-maximum suppression in them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from baselines.collection.release import Floats, Ints

SPARE = 10
"""How many times the moments are chosen if suppression will drop some."""


@dataclass(frozen=True)
class Ranked:
    """Moments of all queries, a row each, best first."""

    query: Ints
    """The index in the list of queries."""
    video: Ints
    start: Floats
    end: Floats
    score: Floats


def join(blocks: Sequence[Ranked]) -> Ranked:
    """Return the lists of successive queries as one."""
    names = ("query", "video", "start", "end", "score")
    return Ranked(*(np.concatenate([getattr(block, name) for block in blocks]) for name in names))


def suppress(ranked: Ranked, threshold: float | None, count: int) -> Ranked:
    """Drop each moment whose IoU with a better one of its query and video is over `threshold`.

    Of the rest (without a threshold, of all), the best `count` of each query are kept.
    """
    keep = np.full(len(ranked.query), fill_value=threshold is None)
    positions = np.arange(len(keep))
    undecided = np.lexsort((positions, ranked.video, ranked.query))
    # In each round the best of each video is kept, and what overlaps it is dropped.
    while threshold is not None and len(undecided):
        best = np.ones(len(undecided), dtype=bool)
        best[1:] = np.diff(ranked.video[undecided]) != 0
        best[1:] |= np.diff(ranked.query[undecided]) != 0
        chosen = undecided[best]
        keep[chosen] = True
        rival = chosen[np.cumsum(best) - 1]
        undecided = undecided[~best & (_iou(ranked, undecided, rival) <= threshold)]
    rank = np.cumsum(keep)
    firsts = np.searchsorted(ranked.query, ranked.query)  # the index of each query's first moment
    keep &= rank - (rank - keep)[firsts] <= count
    columns = {name: getattr(ranked, name)[keep] for name in ranked.__dataclass_fields__}
    return replace(ranked, **columns)


def _iou(ranked: Ranked, first: Ints, second: Ints) -> Floats:
    """Return the IoU of moments at two lists of indices."""
    shared = np.minimum(ranked.end[first], ranked.end[second]) - np.maximum(
        ranked.start[first], ranked.start[second]
    )
    shared = np.maximum(shared, 0)
    lengths = ranked.end - ranked.start
    iou: Floats = shared / (lengths[first] + lengths[second] - shared)
    return iou
