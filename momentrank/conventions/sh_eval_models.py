"""What MediaEval's script for search and hyperlinking calls relevant, and what each result met.

Times are whole seconds. Relevant segments that overlap or touch are merged before they are
counted, and likewise non-relevant ones. A result is relevant

* `overlap`: if its closed interval meets a relevant one;
* `bin`: as the bins that it touches, if a relevant segment touches them too;
* `tol`: if the 15 seconds from its start meet a relevant segment, and it meets nothing seen. Only
  relevant results are seen, to the end of what they met, and at least for 15 seconds.

MAiSP is that of Racca and Jones (2015). A user plays each result from its start. Where relevant
content begins, it is watched to its end, and never again. Whenever the relevant seconds watched
reach a recall point, precision is their share of all seconds played, interpolated. Recall points
are a hundredth of the relevant seconds apart, rounded, or one second where these are fewer.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from momentrank.matching import Trace, iou_with, nearest
from momentrank.matching.aligned import AlignedRun, Pairs
from momentrank.matching.timeline import Spans

BIN, TOL = 300, 15
"""Seconds."""
POINTS = 100
"""Of recall."""


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


def merge(parts: Iterable[Part], *, empty: bool = True) -> defaultdict[int, Spans]:
    """Return parts by video, with those that overlap or touch merged, and empty ones if asked."""
    merged = defaultdict[int, Spans](Spans)
    for video, start, end in parts:
        if empty or start < end:
            merged[video].add(start, end)
    return merged


def count_merged(parts: Iterable[Part]) -> int:
    """Return the number of parts once those that overlap or touch are merged."""
    return sum(len(spans.starts) for spans in merge(parts).values())


def judge_overlap(query: Query) -> Judgment:
    """Judge by overlap of closed intervals."""
    relevant, other = merge(query.relevant), merge(query.other)
    items = []
    for video, *times in query.results:
        hit = relevant[video].touch(*times)
        items.append(Item(hit, hit or other[video].touch(*times)))
    return items, count_merged(query.relevant)


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
    relevant, other = merge(query.relevant, empty=False), merge(query.other, empty=False)
    seen = defaultdict[int, Spans](Spans)
    items = []
    for video, start, end in query.results:
        met = relevant[video].last_met(start, start + TOL)
        hit = met is not None and seen[video].last_met(start, end) is None
        if met is not None and hit:
            seen[video].add(start, max(start + TOL, met))
        items.append(Item(hit, met is not None or other[video].last_met(start, end) is not None))
    return items, count_merged(query.relevant)


MODELS = {"overlap": judge_overlap, "bin": judge_bins, "tol": judge_tolerance}


def trace(aligned: AlignedRun, queries: Iterable[Query], match: str) -> Trace:
    """Return a judged segment that each result meets, in whole seconds, and what is relevant."""
    truth = nearest(aligned, _met(aligned, match))
    relevant = np.array([hit for query in queries for hit in _hits(query, match)], dtype=bool)
    return Trace(truth, iou_with(aligned, truth), relevant.astype(np.float64), relevant)


def _hits(query: Query, match: str) -> list[bool]:
    """Return which results are relevant; for bins, the first to touch a relevant one."""
    items, _ = MODELS[match](query)
    if match != "bin":
        return [item.relevant for item in items]
    fresh = iter(items)
    seen: set[tuple[int, int]] = set()
    hits = []
    for part in query.results:
        places = [place for place in touched_bins(part) if place not in seen]
        seen.update(places)
        touched = [next(fresh).relevant for _ in places]
        hits.append(any(touched))
    return hits


def _met(aligned: AlignedRun, match: str) -> Pairs:
    result, truth = aligned.pairs
    start, end = (np.trunc(c)[result] for c in (aligned.results.start, aligned.results.end))
    first, last = (np.trunc(c)[truth] for c in (aligned.truth.start, aligned.truth.end))
    if match == "overlap":
        rows = (start <= last) & (first <= end)
    elif match == "tol":
        rows = (start < last) & (first < start + TOL)
    else:
        rows = (start // BIN <= (last - 1) // BIN) & (first // BIN <= (end - 1) // BIN)
    return aligned.pairs.select(rows)


class Watched(NamedTuple):
    """What a user saw of a list: the value and its seconds."""

    value: float
    relevant: float
    """All relevant seconds."""
    retrieved: float
    """Seconds played."""
    found: float
    """Relevant seconds that were watched."""


def watch(results: Iterable[tuple[int, int, int]], relevant: Mapping[int, Spans]) -> Watched:
    """Return what a user sees of results (video, start, end), in whole seconds.

    `relevant` has each video's relevant spans.
    """
    left = {video: list(spans) for video, spans in relevant.items()}
    total = sum(end - start for windows in left.values() for start, end in windows)
    points = recall_points(int(total))
    precisions: list[float] = []
    retrieved = found = 0.0
    for video, start, end in results:
        played, at = 0.0, float(start)
        rest = []
        for first, last in left.get(video, []):
            if not (first <= at <= last or at <= first <= end):
                rest.append((first, last))
                continue
            begin = max(first, at)
            played += last - at
            found += last - begin
            while len(precisions) + 1 < len(points) and points[len(precisions) + 1] <= found:
                point = points[len(precisions) + 1]
                precisions.append(point / (retrieved + played - (found - point)))
            if begin - 1 > first:
                rest.append((first, begin - 1))
            at += played  # sh_eval adds all that was played, not just this window's
        left[video] = rest
        retrieved += max(played, end - start)
    best = [max(precisions[row:]) for row in range(len(precisions))]
    return Watched(sum([1.0, *best]) / len(points) if best else 0.0, total, retrieved, found)


def recall_points(total: int) -> list[int]:
    """Return the recall points in seconds, from 0.

    As in sh_eval: beyond a hundred seconds, the last point is off the others' spacing.
    """
    if total <= POINTS:
        return list(range(total + 1))
    step, rest = divmod(total, POINTS)
    points = list(range(0, total, step if 2 * rest <= POINTS else step + 1))
    return [*points[:-1], points[-1] + rest]
