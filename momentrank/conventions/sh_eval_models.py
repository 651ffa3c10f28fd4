"""What MediaEval's script for search and hyperlinking calls relevant.

Times are whole seconds. Relevant segments that overlap or touch are merged before they are
counted, and likewise non-relevant ones. A result is relevant

* `overlap`: if its closed interval meets a relevant one;
* `bin`: as the bins that it touches, if a relevant segment touches them too;
* `tol`: if the 15 seconds from its start meet a relevant segment, and it meets nothing seen. Only
  relevant results are seen, to the end of what they met, and at least for 15 seconds.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

BIN, TOL = 300, 15


class Part(NamedTuple):
    """A part of a video, [start, end) in whole seconds."""

    video: int
    start: int
    end: int


class Item(NamedTuple):
    """Whether a result or bin is relevant and whether it is judged."""

    relevant: bool
    judged: bool


class Query(NamedTuple):
    """The results of a query, and its relevant and non-relevant segments as in the file."""

    results: list[Part]
    relevant: list[Part]
    other: list[Part]


Judgment = tuple[list[Item], int]
"""The items of one list and the number of relevant segments or bins of its query."""


class Spans:
    """Parts of videos that neither overlap nor touch, in order."""

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        """Hold parts as `merge` returns them."""
        self.of: dict[int, tuple[list[int], list[int]]] = {}
        for part in parts:
            starts, ends = self.of.setdefault(part.video, ([], []))
            starts.append(part.start)
            ends.append(part.end)

    def touch(self, part: Part) -> bool:
        """Tell whether a part, closed, shares an instant with one of these."""
        starts, ends = self.of.get(part.video, ([], []))
        last = bisect_right(starts, part.end) - 1
        return last >= 0 and ends[last] >= part.start

    def last_met(self, part: Part) -> int | None:
        """Return the end of the last of these, none of them empty, that shares time with a part."""
        starts, ends = self.of.get(part.video, ([], []))
        last = bisect_left(starts, part.end) - 1
        met = part.start < part.end and last >= 0 and ends[last] > part.start
        return ends[last] if met else None

    def add(self, part: Part) -> None:
        """Add a part, merged with those that it overlaps or touches."""
        starts, ends = self.of.setdefault(part.video, ([], []))
        first, last = bisect_left(ends, part.start), bisect_right(starts, part.end)
        start, end = min([part.start, *starts[first:last]]), max([part.end, *ends[first:last]])
        starts[first:last], ends[first:last] = [start], [end]


def merge(parts: Iterable[Part]) -> list[Part]:
    """Return parts by video and time, with those that overlap or touch merged."""
    result: list[Part] = []
    for part in sorted(parts):
        last = result[-1] if result else None
        if last and last.video == part.video and part.start <= last.end:
            result[-1] = last._replace(end=max(last.end, part.end))
        else:
            result.append(part)
    return result


def judge_overlap(query: Query) -> Judgment:
    """Judge by overlap of closed intervals."""
    merged = merge(query.relevant)
    relevant, other = Spans(merged), Spans(merge(query.other))
    items = []
    for result in query.results:
        hit = relevant.touch(result)
        items.append(Item(hit, hit or other.touch(result)))
    return items, len(merged)


def judge_bins(query: Query) -> Judgment:
    """Judge bins: a list becomes the bins that it touches, in order of first appearance."""
    good = {place for part in query.relevant for place in touched_bins(part)}
    bad = {place for part in query.other for place in touched_bins(part)}
    places = dict.fromkeys(place for part in query.results for place in touched_bins(part))
    return [Item(place in good, place in good or place in bad) for place in places], len(good)


def touched_bins(part: Part) -> Iterator[tuple[int, int]]:
    """Yield the bins that a part touches, each with its video."""
    for number in range(part.start // BIN, (part.end - 1) // BIN + 1):
        yield part.video, number


def judge_tolerance(query: Query) -> Judgment:
    """Judge by the segments met within the tolerance and not seen before."""
    merged = merge(query.relevant)
    relevant, other = Spans(_not_empty(merged)), Spans(_not_empty(merge(query.other)))
    seen = Spans()
    items = []
    for result in query.results:
        window = result._replace(end=result.start + TOL)
        met = relevant.last_met(window)
        hit = met is not None and seen.last_met(result) is None
        if met is not None and hit:
            seen.add(window._replace(end=max(window.end, met)))
        items.append(Item(hit, met is not None or other.last_met(result) is not None))
    return items, len(merged)


def _not_empty(parts: Iterable[Part]) -> Iterator[Part]:
    return (part for part in parts if part.start < part.end)


MODELS = {"overlap": judge_overlap, "bin": judge_bins, "tol": judge_tolerance}
