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


class Segment(NamedTuple):
    """A segment of a video, [start, end) in whole seconds."""

    video: int
    start: int
    end: int


class Item(NamedTuple):
    """Whether a result or bin is relevant and whether it is judged."""

    relevant: bool
    judged: bool


class Query(NamedTuple):
    """The results of a query, and its relevant and non-relevant segments as in the file."""

    results: list[Segment]
    relevant: list[Segment]
    irrelevant: list[Segment]


Judgment = tuple[list[Item], int]
"""The items of one list and the number of relevant segments or bins of its query."""


def merge(segments: Iterable[Segment], *, empty: bool = True) -> defaultdict[int, Spans]:
    """Return segments by video, merged where they overlap or touch, with empty ones if asked."""
    merged = defaultdict[int, Spans](Spans)
    for video, start, end in segments:
        if empty or start < end:
            merged[video].add(start, end)
    return merged


def count_merged(segments: Iterable[Segment]) -> int:
    """Return the number of segments once those that overlap or touch are merged."""
    return sum(len(spans.starts) for spans in merge(segments).values())


def judge_overlap(query: Query) -> Judgment:
    """Judge by overlap of closed intervals."""
    relevant, irrelevant = merge(query.relevant), merge(query.irrelevant)
    items = []
    for video, *times in query.results:
        hit = relevant[video].touch(*times)
        items.append(Item(hit, hit or irrelevant[video].touch(*times)))
    return items, count_merged(query.relevant)


def judge_bins(query: Query) -> Judgment:
    """Judge bins: a list becomes the bins that it touches, in order of first appearance."""
    good = {number for segment in query.relevant for number in touched_bins(segment)}
    bad = {number for segment in query.irrelevant for number in touched_bins(segment)}
    bins = dict.fromkeys(number for result in query.results for number in touched_bins(result))
    return [Item(number in good, number in good or number in bad) for number in bins], len(good)


def touched_bins(segment: Segment) -> Iterator[tuple[int, int]]:
    """Yield the bins that a segment touches, each with its video."""
    for number in range(segment.start // BIN, (segment.end - 1) // BIN + 1):
        yield segment.video, number


def judge_tolerance(query: Query) -> Judgment:
    """Judge by the segments met within the tolerance and not seen before."""
    relevant, irrelevant = merge(query.relevant, empty=False), merge(query.irrelevant, empty=False)
    seen = defaultdict[int, Spans](Spans)
    items = []
    for video, start, given in query.results:
        end = given or start + 1  # sh_eval looks up [0, 0] as the second 0
        met = relevant[video].last_met(start, start + TOL)
        hit = met is not None and seen[video].last_met(start, end) is None
        if met is not None and hit:
            seen[video].add(start, max(start + TOL, met))
        items.append(
            Item(hit, met is not None or irrelevant[video].last_met(start, end) is not None)
        )
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
    for result in query.results:
        bins = [number for number in touched_bins(result) if number not in seen]
        seen.update(bins)
        touched = [next(fresh).relevant for _ in bins]
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
    seen: float
    """Relevant seconds that were watched."""
    precisions: list[float]
    """The interpolated precision at each recall point that was reached, without point 0."""

    def at(self, point: int) -> float:
        """Return the precision at a hundredth of recall as sh_eval prints it: a point too far."""
        return self.precisions[point] if point < len(self.precisions) else 0.0


def watch(results: Iterable[tuple[int, int, int]], relevant: Mapping[int, Spans]) -> Watched:
    """Return what a user sees of results (video, start, end), in whole seconds.

    `relevant` has each video's relevant spans.
    """
    left = {video: list(spans) for video, spans in relevant.items()}
    total = sum(end - start for windows in left.values() for start, end in windows)
    points = recall_points(int(total))
    precisions: list[float] = []
    retrieved = seen = 0.0
    for video, start, end in results:
        played, at = 0.0, float(start)
        rest = []
        for first, last in left.get(video, []):
            if not (first <= at <= last or at <= first <= end):
                rest.append((first, last))
                continue
            begin = max(first, at)
            played += last - at
            seen += last - begin
            while len(precisions) + 1 < len(points) and points[len(precisions) + 1] <= seen:
                point = points[len(precisions) + 1]
                precisions.append(point / (retrieved + played - (seen - point)))
            if begin - 1 > first:
                rest.append((first, begin - 1))
            at += played  # sh_eval adds all that was played, not just this window's
        left[video] = rest
        retrieved += max(played, end - start)
    best = [max(precisions[row:]) for row in range(len(precisions))]
    value = sum([1.0, *best]) / len(points) if best else 0.0
    return Watched(value, total, retrieved, seen, best)


def recall_points(total: int) -> list[int]:
    """Return the recall points in seconds, from 0.

    As in sh_eval: beyond a hundred seconds, the last point is off the others' spacing.
    """
    if total <= POINTS:
        return list(range(total + 1))
    step, rest = divmod(total, POINTS)
    points = list(range(0, total, step if 2 * rest <= POINTS else step + 1))
    return [*points[:-1], points[-1] + rest]
