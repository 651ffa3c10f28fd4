"""A run beside the qrels: what every relevance model looks at."""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from momentrank.matching.relevance import Relevance
from momentrank.segments import Bools, Floats, Ints, Numbers, Segments, iou


class Truth(NamedTuple):
    """Judged segments, a query's together, in the order of their file; each (n,)."""

    query: Ints
    video: Ints
    start: Floats
    end: Floats
    level: Floats


class Results(NamedTuple):
    """Results, a query's together and by rank; each (n,)."""

    query: Ints
    rank: Ints
    video: Ints
    start: Floats
    end: Floats

    def select(self, rows: Bools | Ints) -> "Results":
        """Return some of the results, or all in another order."""
        return Results(
            self.query[rows], self.rank[rows], self.video[rows], self.start[rows], self.end[rows]
        )


class Pairs(NamedTuple):
    """Each result beside each judged segment of its query and video: their row numbers."""

    result: Ints
    truth: Ints


@dataclass(frozen=True)
class AlignedRun:
    """The judged segments of `count` queries and a run's results for them.

    `in_run` (count,) tells which queries the run has. Query and video are numbers.
    """

    count: int
    in_run: Bools
    truth: Truth
    results: Results
    cache: dict[Any, Any] = field(default_factory=dict, compare=False)
    """What relevance models have made of these lists."""

    def select(self, rows: Bools) -> "AlignedRun":
        """Return the lists with some of their results, which move up."""
        results = self.results.select(rows)
        moved = results._replace(rank=ranks(results.query))
        return AlignedRun(self.count, self.in_run, self.truth, moved)

    @cached_property
    def pairs(self) -> Pairs:
        """Return the pairs, by result, then in the order of the judged segments."""
        videos = 1 + max(self.truth.video.max(initial=0), self.results.video.max(initial=0))
        cache, wanted = (of.query * videos + of.video for of in (self.truth, self.results))
        order = np.argsort(cache, kind="stable")
        keys, first, counts = np.unique(cache[order], return_index=True, return_counts=True)
        at = np.searchsorted(keys, wanted)
        at[at == len(keys)] = 0
        found = np.flatnonzero(keys[at] == wanted) if len(keys) else np.empty(0, np.int64)
        at, times = at[found], counts[at[found]]
        inside = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        return Pairs(np.repeat(found, times), order[np.repeat(first[at], times) + inside])

    @cached_property
    def iou(self) -> Floats:
        """Return the IoU of each pair, 0 where both are empty."""
        results, truth = self.results, self.truth
        result, judged = self.pairs
        return iou(
            results.start[result], results.end[result], truth.start[judged], truth.end[judged]
        )

    def relevant(self, rel: int) -> Bools:
        """Return which judged segments have the level `rel` or a higher one."""
        return self.truth.level >= rel

    @cached_property
    def ideal(self) -> Relevance:
        """Return each query's levels, the highest first: what the best list would take."""
        order = np.lexsort((-self.truth.level, self.truth.query))
        query, level = self.truth.query[order], self.truth.level[order]
        return Relevance(query, ranks(query), level, level > 0, level >= 0, self.totals(1))

    def totals(self, rel: int) -> Ints:
        """Return how many relevant segments each query has."""
        return np.bincount(self.truth.query[self.relevant(rel)], minlength=self.count)


def ranks(query: Ints) -> Ints:
    """Return the places, from 1, in lists that stand one after the other."""
    starts = np.flatnonzero(np.diff(query, prepend=-1))
    lengths = np.diff(starts, append=len(query))
    places: Ints = np.arange(1, len(query) + 1) - np.repeat(starts, lengths)
    return places


def align(qrels: Segments, run: Segments, depth: int | None = None) -> AlignedRun:
    """Put a run beside qrels; of each list only the first `depth` results where that is given.

    Queries that the qrels lack are left out: they can't be scored.
    """
    index = {name: number for number, name in enumerate(qrels.queries)}
    numbers = np.fromiter((index.get(name, -1) for name in run.queries), np.int64, len(run.queries))
    query, rank = numbers[run.query], run.rank
    kept = (query >= 0) & (rank <= (depth or len(rank)))
    videos = Numbers()
    truth_video = videos.encode(qrels.video)
    video = videos.encode(list(compress(run.video, kept.tolist())))
    times = run.start[kept], run.end[kept]
    results = Results(query[kept], rank[kept], video, *times)
    if (np.diff(results.query) < 0).any():
        results = results.select(np.argsort(results.query, kind="stable"))
    in_run = np.zeros(len(qrels.queries), dtype=bool)
    in_run[numbers[numbers >= 0]] = True
    return AlignedRun(
        len(qrels.queries),
        in_run,
        Truth(qrels.query, truth_video, qrels.start, qrels.end, qrels.value),
        results,
    )
