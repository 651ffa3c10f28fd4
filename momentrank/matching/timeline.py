"""Judged segments by video and time: which of them share time with a result.

A time in a video of a query is one complex number, the place and the seconds; numpy sorts and
searches them in this order. So nothing here grows with the number of pairs.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from momentrank.segments import Bools, Floats, Ints

Moments = npt.NDArray[np.complex128]


class Timeline(NamedTuple):
    """Segments that are not empty, by place and start; columns of shape (n,)."""

    rows: Ints
    """Their rows among the judged segments."""
    start: Moments
    latest: Moments
    """The latest end so far in the same place."""

    def find(self, place: Ints, start: Floats, end: Floats) -> tuple[Ints, Ints]:
        """Return ranges [first, last) with all segments that share time with [start, end).

        The range is empty if there are none, and its first segment does share time.
        """
        first = np.searchsorted(self.latest, moments(place, start), side="right")
        last = np.searchsorted(self.start, moments(place, end), side="left")
        return first, np.where(start < end, np.maximum(first, last), first)


def moments(place: Ints, time: Floats) -> Moments:
    """Return times in places as one column that sorts by place, then time."""
    column = np.empty(len(place), dtype=np.complex128)
    column.real, column.imag = place, time
    return column


def build_timeline(place: Ints, start: Floats, end: Floats, rows: Bools) -> Timeline:
    """Return the timeline of some segments."""
    chosen = np.flatnonzero(rows & (start < end))
    chosen = chosen[np.lexsort((start[chosen], place[chosen]))]
    starts = moments(place[chosen], start[chosen])
    latest = np.maximum.accumulate(moments(place[chosen], end[chosen]))
    return Timeline(chosen, starts, latest)
