"""A growing or shrinking part of a video, as disjoint spans in order of time."""

from bisect import bisect_left, bisect_right


class Spans:
    """Disjoint half-open spans of time; each operation is a search among them."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.starts: list[float] = []
        self.ends: list[float] = []

    def share_time(self, start: float, end: float) -> bool:
        """Tell whether any of the spans shares time with [start, end)."""
        at = bisect_right(self.ends, start)
        return start < end and at < len(self.ends) and self.starts[at] < end

    def add(self, start: float, end: float) -> float:
        """Add [start, end); return how many seconds are new."""
        if start >= end:
            return 0.0
        first, last = bisect_left(self.ends, start), bisect_right(self.starts, end)
        old = 0.0
        if first < last:
            start, end = min(start, self.starts[first]), max(end, self.ends[last - 1])
            old = self._seconds(first, last)
        self.starts[first:last], self.ends[first:last] = [start], [end]
        return end - start - old

    def take(self, start: float, end: float) -> float:
        """Take [start, end) away; return how many seconds of it there were."""
        first, last = bisect_right(self.ends, start), bisect_left(self.starts, end)
        if first >= last or start >= end:
            return 0.0
        seconds = self._seconds(first, last)
        pieces = [(self.starts[first], start), (end, self.ends[last - 1])]
        kept = [(a, b) for a, b in pieces if a < b]
        self.starts[first:last], self.ends[first:last] = [a for a, _ in kept], [b for _, b in kept]
        return seconds - sum(b - a for a, b in kept)

    def _seconds(self, first: int, last: int) -> float:
        return sum(self.ends[first:last]) - sum(self.starts[first:last])
