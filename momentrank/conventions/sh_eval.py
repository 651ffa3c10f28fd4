"""The convention of MediaEval's script for search and hyperlinking.

It differs from Aly et al. (2013) as follows. Times are whole seconds. Relevant segments that
overlap or touch are merged before they are counted, and likewise non-relevant ones. Intervals are
closed for overlap. A result falls into every bin that it touches. Tolerance checks the result
itself against what was seen, and only relevant results count as seen.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from momentrank.conventions.base import Convention, memoize
from momentrank.errors import UsageError
from momentrank.matching.aligned import AlignedRun, Truth
from momentrank.matching.relevance import Relevance
from momentrank.measures import AP, REGISTRY, Judged, NumRel, NumRelRet, P
from momentrank.measures.base import Measure
from momentrank.measures.counts import Count
from momentrank.segments import Bools, Floats

BIN, TOL = 300, 15
SHALLOW = (5, 10, 20)
"""The cutoffs of P and Judged that are scored by default."""
HAS = "P, AP and Judged with match='overlap', 'bin' or 'tol', and the counts, with their defaults"
NAMES = {"P", "AP", "Judged", "NumRel", "NumRelRet"}
COUNTS = {"NumQ", "NumRet", "VideosRet", "VideosRel", "LengthRet", "LengthRel"}

Span = tuple[int, int]


class Part(NamedTuple):
    """A part of a video, [start, end) in whole seconds."""

    video: int
    start: int
    end: int


class Item(NamedTuple):
    """Whether a result or bin is relevant and whether it is judged."""

    relevant: bool
    judged: bool


Judgment = tuple[list[Item], int]
"""The items of one list and the number of relevant segments or bins of its query."""


class ShEval(Convention):
    """MediaEval's script for search and hyperlinking."""

    name = "sh-eval"
    source = "MediaEval's script for search and hyperlinking"
    time = "mm.ss"

    def check(self, measure: Measure) -> None:
        """Check that the script defines a measure; only `match` and the cutoff can be set.

        Raises:
            UsageError: it does not.
        """
        params = set(measure.params) - {"cutoff"}
        allowed = {"match"} if measure.NAME in NAMES else set[str]()
        is_count = measure.NAME in COUNTS
        is_known = measure.NAME in NAMES and measure.settings()["match"] in MODELS
        if not (is_count or is_known) or not params <= allowed:
            raise UsageError(f"{measure!r} is not a measure of sh-eval, which has {HAS}")

    def depth(self, measures: Iterable[Measure]) -> None:  # noqa: ARG002
        """Return None: all results are read."""
        return

    def select_counted(self, aligned: AlignedRun) -> Bools:
        """Return the queries of both files, shape (queries,)."""
        return aligned.in_run

    def values(self, measure: Measure, aligned: AlignedRun) -> Floats:
        """Return the value of each query, shape (queries,)."""
        params = measure.settings(self.changes)
        match = params["match"] or "overlap"
        merged, judged = memoize(aligned, match, lambda: relevance(aligned, match))
        return measure.per_query(merged, judged, params)

    def defaults(self) -> list[Measure]:
        """Return what the script prints."""
        counts = [measure for measure in REGISTRY.values() if isinstance(measure, Count)]
        measures = [*counts, *(measure for match in MODELS for measure in _of_model(match))]
        return list(dict.fromkeys(measures))


def _of_model(match: str) -> Iterator[Measure]:
    yield from (NumRel(match=match), NumRelRet(match=match), AP(match=match))
    yield from (P(match=match) @ cutoff for cutoff in SHALLOW)
    yield from (Judged(match=match) @ cutoff for cutoff in SHALLOW)


def relevance(aligned: AlignedRun, match: str) -> tuple[AlignedRun, Relevance]:
    """Return the run beside merged relevant segments, and the relevance of its results."""
    results, relevant, other = _by_query(aligned)
    judgments = [
        MODELS[match](results[query], relevant[query], other[query])
        for query in range(aligned.count)
    ]
    rows = [
        (query, rank, item.relevant, item.judged)
        for query, (items, _) in enumerate(judgments)
        for rank, item in enumerate(items, start=1)
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    query, rank, hit, judged = table.T
    total = np.array([count for _, count in judgments], dtype=np.int64)
    relevance = Relevance(
        query, rank, hit.astype(np.float64), hit.astype(bool), judged.astype(bool), total
    )
    whole = aligned.results._replace(
        start=np.trunc(aligned.results.start), end=np.trunc(aligned.results.end)
    )
    return replace(aligned, truth=_truth(relevant), results=whole), relevance


def _by_query(aligned: AlignedRun) -> tuple[list[list[Part]], list[list[Part]], list[list[Part]]]:
    """Return the results, relevant segments and non-relevant segments of each query."""
    parts = [[[] for _ in range(aligned.count)] for _ in range(3)]  # type: list[list[list[Part]]]
    columns = zip(*(column.tolist() for column in aligned.results), strict=True)
    for query, _, video, start, end, _ in columns:
        parts[0][query].append(Part(video, int(start), int(end)))
    for query, video, start, end, level in zip(
        *(column.tolist() for column in aligned.truth), strict=True
    ):
        parts[1 if level >= 1 else 2][query].append(Part(video, int(start), int(end)))
    return parts[0], parts[1], parts[2]


def _truth(relevant: Iterable[Iterable[Part]]) -> Truth:
    rows = [(query, *part) for query, parts in enumerate(relevant) for part in merge(parts)]
    query, video, start, end = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    times = start.astype(np.float64), end.astype(np.float64)
    return Truth(query, video, *times, np.ones(len(query)))


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


def _overlap(results: list[Part], relevant: list[Part], other: list[Part]) -> Judgment:
    """Judge by overlap of closed intervals."""
    relevant, other = merge(relevant), merge(other)
    items = []
    for result in results:
        hit = any(_touch(result, part) for part in relevant)
        items.append(Item(hit, hit or any(_touch(result, part) for part in other)))
    return items, len(relevant)


def _bin(results: list[Part], relevant: list[Part], other: list[Part]) -> Judgment:
    """Judge bins: a list becomes the bins that it touches, in order of first appearance."""
    good = {place for part in relevant for place in _bins(part)}
    bad = {place for part in other for place in _bins(part)}
    places = dict.fromkeys(place for part in results for place in _bins(part))
    return [Item(place in good, place in good | bad) for place in places], len(good)


def _tolerance(results: list[Part], relevant: list[Part], other: list[Part]) -> Judgment:
    """Judge by the segments met within the tolerance and not seen before."""
    relevant, other = merge(relevant), merge(other)
    seen: list[Part] = []
    items = []
    for result in results:
        window = result._replace(end=result.start + TOL)
        met = [part for part in relevant if _share(window, part)]
        hit = bool(met) and not any(_share(result, part) for part in seen)
        if hit:
            seen.append(window._replace(end=max(window.end, *(part.end for part in met))))
        judged = bool(met) or any(_share(result, part) for part in other)
        items.append(Item(hit, judged))
    return items, len(relevant)


MODELS = {"overlap": _overlap, "bin": _bin, "tol": _tolerance}


def _touch(one: Part, other: Part) -> bool:
    return one.video == other.video and one.start <= other.end and other.start <= one.end


def _share(one: Part, other: Part) -> bool:
    """Tell whether two half-open parts meet; an empty one meets a part that contains it."""
    return one.video == other.video and one.start < other.end and other.start < one.end


def _bins(part: Part) -> Iterator[Span]:
    for number in range(part.start // BIN, (part.end - 1) // BIN + 1):
        yield part.video, number


CONVENTION = ShEval()
