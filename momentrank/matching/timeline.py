"""Time in videos: which judged segments share time with a result, and disjoint spans.

A time in a video of a query is one complex number: `query_video`, which numbers the two, and the
seconds. numpy sorts and searches them in this order, so nothing grows with the number of pairs.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from momentrank.segments import Bools, Floats, Ints

Moments = npt.NDArray[np.complex128]


class Timeline(NamedTuple):
    """Segments that are not empty, by query, video and start; columns of shape (n,)."""

    rows: Ints
    """Their rows among the judged segments."""
    start: Moments
    latest: Moments
    """The latest end so far in the same video of the same query."""

    def find(self, query_video: Ints, start: Floats, end: Floats) -> tuple[Ints, Ints]:
        """Return ranges [first, last) with all segments that share time with [start, end).

        The range is empty if there are none, and its first segment does share time.
        """
        first = np.searchsorted(self.latest, moments(query_video, start), side="right")
        last = np.searchsorted(self.start, moments(query_video, end), side="left")
        return first, np.where(start < end, np.maximum(first, last), first)


def moments(query_video: Ints, time: Floats) -> Moments:
    """Return times in videos of queries as one column, sorted by these and then by time."""
    column = np.empty(len(query_video), dtype=np.complex128)
    column.real, column.imag = query_video, time
    return column


def build_timeline(query_video: Ints, start: Floats, end: Floats, rows: Bools) -> Timeline:
    """Return the timeline of some segments."""
    chosen = np.flatnonzero(rows & (start < end))
    chosen = chosen[np.lexsort((start[chosen], query_video[chosen]))]
    starts = moments(query_video[chosen], start[chosen])
    latest = np.maximum.accumulate(moments(query_video[chosen], end[chosen]))
    return Timeline(chosen, starts, latest)


class Spans:
    """Half-open spans of time that neither overlap nor touch; each operation is a search."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.starts: list[float] = []
        self.ends: list[float] = []

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return zip(self.starts, self.ends, strict=True)

    def touch(self, start: float, end: float) -> bool:
        """Tell whether any of the spans, closed, shares an instant with [start, end]."""
        at = bisect_left(self.ends, start)
        return at < len(self.ends) and self.starts[at] <= end

    def last_met(self, start: float, end: float) -> float | None:
        """Return the end of the last span that shares time with [start, end), if there is one.

        None of the spans may be empty.
        """
        at = bisect_left(self.starts, end) - 1
        return self.ends[at] if start < end and at >= 0 and self.ends[at] > start else None

    def add(self, start: float, end: float) -> float:
        """Add [start, end), an instant if empty; return how many seconds are new."""
        first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
        old = 0.0
        if first < last:
            start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
            old = self._seconds(first, last)
        self.starts[first:last], self.ends[first:last] = [start], [end]
        return end - start - old

    def take(self, start: float, end: float) -> float:
        """Remove [start, end); return how many of its seconds there were."""
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        if first >= last or start >= end:
            return 0.0
        seconds = self._seconds(first, last)
        pieces = [(self.starts[first], start), (end, self.ends[last - 1])]
        left = [(a, b) for a, b in pieces if a < b]
        self.starts[first:last], self.ends[first:last] = [a for a, _ in left], [b for _, b in left]
        return seconds - sum(b - a for a, b in left)

    def _seconds(self, first: int, last: int) -> float:
        return sum(self.ends[first:last]) - sum(self.starts[first:last])
