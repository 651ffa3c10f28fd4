"""A run aligned with qrels, the input of every relevance model, and relevance, its output."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from momentrank.ids import IdError, own_ids
from momentrank.matching.timeline import Timeline, build_timeline
from momentrank.segments import (
    Bools,
    Floats,
    Ints,
    Names,
    Numbers,
    Segments,
    iou,
    number_names,
)

T = TypeVar("T")
Params = Mapping[str, Any]
"""A measure's parameters: `rel`, `match`, and those of the relevance model."""
BLOCK = 2**21
"""Pairs of a result and a judged segment in memory at a time."""
NO_VIDEO = 0
"""The number of the video of results that can't be read."""


class Truth(NamedTuple):
    """Judged segments, grouped by query, in file order; columns of shape (n,)."""

    query: Ints
    video: Ints
    start: Floats
    end: Floats
    level: Floats

    def select(self, rows: Bools) -> "Truth":
        """Return the judged segments of `rows`."""
        return Truth._make(column[rows] for column in self)


class Results(NamedTuple):
    """Results, grouped by query and by rank; columns of shape (n,)."""

    query: Ints
    rank: Ints
    video: Ints
    start: Floats
    end: Floats
    score: Floats

    def select(self, rows: Bools | Ints) -> "Results":
        """Return the results of `rows`."""
        return Results._make(column[rows] for column in self)


class Pairs(NamedTuple):
    """Row numbers of each result with each judged segment of the same query and video."""

    result: Ints
    truth: Ints

    def select(self, rows: Bools | Ints) -> "Pairs":
        """Return the pairs of `rows`."""
        return Pairs._make(column[rows] for column in self)


class Relevance(NamedTuple):
    """The items (results or bins) of all lists, grouped by query and by rank.

    `query`, `rank` (from 1), `gain`, `relevant` and `judged` have shape (n,); `total`
    (queries,) is the number of relevant segments or bins of each query.
    """

    query: Ints
    rank: Ints
    gain: Floats
    relevant: Bools
    judged: Bools
    total: Ints


class Ranges(NamedTuple):
    """Ranges of some order of the judged segments: `length` (n,) of them for a row `result`."""

    result: Ints
    first: Ints
    length: Ints


@dataclass(frozen=True)
class AlignedRun:
    """The judged segments of `count` queries and a run's results for them.

    `in_run` (count,) says which queries the run has, `missed` (count,) which have a relevant moment
    that can't be read. Query and video are numbers.
    """

    count: int
    in_run: Bools
    truth: Truth
    results: Results
    missed: Bools
    cache: dict[Any, Any] = field(default_factory=dict, compare=False)
    """Relevance by model and parameters, and whatever else `memoize` keeps."""

    def select(self, rows: Bools) -> "AlignedRun":
        """Return the run with only some results; ranks are renumbered."""
        results = self.results.select(rows)
        moved = results._replace(rank=ranks(results.query))
        return AlignedRun(self.count, self.in_run, self.truth, moved, self.missed)

    def select_truth(self, rows: Bools) -> "AlignedRun":
        """Return the run with only some judged segments."""
        truth = self.truth.select(rows)
        return AlignedRun(self.count, self.in_run, truth, self.results, self.missed)

    @cached_property
    def query_videos(self) -> tuple[Ints, Ints]:
        """A number for the query and video of each judged segment, and of each result."""
        truth, results = self.truth, self.results
        videos = 1 + max(truth.video.max(initial=0), results.video.max(initial=0))
        return truth.query * videos + truth.video, results.query * videos + results.video

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs, by result and then by judged segment."""
        return _expand(*self._same_query_video)

    def blocks(self, *, apart: bool = False) -> Iterator[tuple[Pairs, Floats]]:
        """Yield the pairs that share time and their IoUs, by result, at most `BLOCK` at a time.

        Some that do not share time are included; with `apart`, all.
        """
        order, ranges = self._same_query_video
        if ranges.length.sum() <= BLOCK:
            yield self.pairs, self.iou
            return
        if not apart:
            order, ranges = self._sharing
        number = np.cumsum(ranges.length) // BLOCK
        for rows in np.split(np.arange(len(number)), np.flatnonzero(np.diff(number)) + 1):
            pairs = _expand(order, Ranges(*(column[rows] for column in ranges)))
            yield pairs, self.iou_of(pairs)

    @property
    def near(self) -> Ints:
        """The rows of the results with a judged segment of the same query and video."""
        return self._same_query_video[1].result

    @cached_property
    def _same_query_video(self) -> tuple[Ints, Ranges]:
        """An order of the judged segments, and each result's range of those in the same video."""
        judged, retrieved = self.query_videos
        order = np.argsort(judged, kind="stable")
        keys, first, counts = np.unique(judged[order], return_index=True, return_counts=True)
        at = np.searchsorted(keys, retrieved)
        at[at == len(keys)] = 0
        hits = np.flatnonzero(keys[at] == retrieved) if len(keys) else np.empty(0, np.int64)
        return order, Ranges(hits, first[at[hits]], counts[at[hits]])

    @cached_property
    def _sharing(self) -> tuple[Ints, Ranges]:
        """The same for those that share time with the result, and few others."""
        line, near = self.timeline(self.relevant(0)), self.near
        first, last = line.find(
            self.query_videos[1][near], self.results.start[near], self.results.end[near]
        )
        hits = np.flatnonzero(first < last)
        return line.rows, Ranges(near[hits], first[hits], (last - first)[hits])

    def timeline(self, rows: Bools) -> Timeline:
        """Return some of the judged segments by query, video and time."""
        return build_timeline(self.query_videos[0], self.truth.start, self.truth.end, rows)

    @cached_property
    def iou(self) -> Floats:
        """The IoU of each pair."""
        return self.iou_of(self.pairs)

    def iou_of(self, pairs: Pairs) -> Floats:
        """Return the IoU of each of some pairs; 0 where both segments are empty."""
        results, truth = self.results, self.truth
        result, judged = pairs
        return iou(
            results.start[result], results.end[result], truth.start[judged], truth.end[judged]
        )

    def relevant(self, rel: int) -> Bools:
        """Return which judged segments have at least the level `rel`."""
        return self.truth.level >= rel

    @cached_property
    def ideal(self) -> Relevance:
        """The ideal list of each query: its levels in descending order."""
        order = np.lexsort((-self.truth.level, self.truth.query))
        query, level = self.truth.query[order], self.truth.level[order]
        return Relevance(query, ranks(query), level, level > 0, level >= 0, self.totals(1))

    @cached_property
    def unrated(self) -> Relevance:
        """The results of a measure that needs no relevance model."""
        none = np.zeros(len(self.results.query))
        return self.rate(none, none > 0, none > 0, 1)

    def rate(self, gain: Floats, relevant: Bools, judged: Bools, rel: int) -> Relevance:
        """Return the relevance of the results, each an item of its own."""
        query, rank = self.results.query, self.results.rank
        return Relevance(query, rank, gain, relevant, judged, self.totals(rel))

    @property
    def readable(self) -> Bools:
        """Which results could be read, shape (results,)."""
        has_video: Bools = self.results.video != NO_VIDEO
        return has_video

    @property
    def has_relevant(self) -> Bools:
        """Which queries have a relevant moment: one of level 1 or more."""
        some: Bools = (self.totals(1) > 0) | self.missed
        return some

    @property
    def silent(self) -> Bools:
        """Which queries the run has no result for."""
        none: Bools = np.bincount(self.results.query, minlength=self.count) == 0
        return none

    def totals(self, rel: int) -> Ints:
        """Return the number of relevant segments of each query."""

        def count() -> Ints:
            return np.bincount(self.truth.query[self.relevant(rel)], minlength=self.count)

        return memoize(self, ("totals", rel), count)


def memoize(aligned: AlignedRun, key: object, make: Callable[[], T]) -> T:
    """Return what `make` returns for an aligned run, cached under `key`."""
    if key not in aligned.cache:
        aligned.cache[key] = make()
    value: T = aligned.cache[key]
    return value


def _expand(order: Ints, ranges: Ranges) -> Pairs:
    result, first, length = ranges
    inside = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return Pairs(np.repeat(result, length), order[np.repeat(first, length) + inside])


def ranks(query: Ints) -> Ints:
    """Return ranks from 1 in consecutive lists."""
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    lengths = np.diff(starts, append=len(query))
    numbers: Ints = np.arange(1, len(query) + 1) - np.repeat(starts, lengths)
    return numbers


def restore_own_ids(run: Segments, qrels: Segments) -> Segments:
    """Return a run with query numbers replaced by the ids of the qrels.

    A model trained on a release's JSON predicts these numbers (`ids.query_number`).
    """
    in_qrels = set(qrels.queries)
    names = own_ids((name for name in run.queries if name not in in_qrels), qrels.queries)
    if not names:
        return run
    queries, present = [names.get(name, name) for name in run.queries], set(run.queries)
    for number, name in names.items():
        if name in present:
            raise IdError(
                f"the run has the query {name!r} twice, also as its number {number}: keep one"
            )
    return run._replace(queries=queries)


def align(
    qrels: Segments, run: Segments, depth: int | None = None, names: Names | None = None
) -> AlignedRun:
    """Align a run, or the first `depth` results of each of its lists, with qrels.

    Queries that are not in the qrels are dropped: they can't be scored. `names` are those of the
    qrels, if they are numbered already.
    """
    names = names or number_names(qrels)
    index = names.queries
    numbers = np.fromiter((index.get(name, -1) for name in run.queries), np.int64, len(run.queries))
    query, rank = numbers[run.query], run.rank
    scored = (query >= 0) & (rank <= (depth or len(rank)))
    videos = Numbers(names.videos)  # NO_VIDEO first
    video = videos.encode(list(compress(run.video, scored.tolist())))
    times = run.start[scored], run.end[scored]
    results = Results(query[scored], rank[scored], video, *times, run.value[scored])
    if (np.diff(results.query) < 0).any():
        results = results.select(np.argsort(results.query, kind="stable"))
    in_run = np.zeros(len(qrels.queries), dtype=bool)
    in_run[numbers[numbers >= 0]] = True
    return AlignedRun(
        len(qrels.queries),
        in_run,
        Truth(qrels.query, names.video, qrels.start, qrels.end, qrels.value),
        results,
        qrels.is_missed,
    )
