"""Ranked lists of moments: what search returns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from baselines.collection.release import Floats, Ints


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
