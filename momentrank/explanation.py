"""One query's ranking beside its judged segments (TVR-Ranking, Figure 7)."""

from typing import NamedTuple

import numpy as np

from momentrank.conventions import PAPER
from momentrank.errors import UsageError
from momentrank.matching import iou
from momentrank.matching.aligned import AlignedRun, align
from momentrank.measures import nDCG
from momentrank.scoring import Evaluator
from momentrank.segments import Segments

DASH = "\u2013"
"""Shown in place of a missing value."""


class RankedResult(NamedTuple):
    """A result and the judged segment that it takes, if any; times in seconds."""

    rank: int
    video: str
    start: float
    end: float
    taken: int | None
    """Row in `truth`."""
    iou: float
    level: int | None
    gain: float
    """Discounted: the level divided by log2(rank + 1)."""
    ndcg: float
    """nDCG at this rank."""

    @property
    def took(self) -> tuple[str, str, str]:
        """The judged segment, the IoU and the level, as text."""
        if self.taken is None:
            return (DASH, DASH, DASH)
        return (f"#{self.taken + 1}", f"{self.iou:.3f}", str(self.level))


class JudgedSegment(NamedTuple):
    """A judged segment and the rank of the result that takes it, if any."""

    video: str
    start: float
    end: float
    level: int
    rank: int | None


class Explanation(NamedTuple):
    """A query's results by rank, and its judged segments, the highest level first."""

    query: str
    threshold: float
    ranking: list[RankedResult]
    truth: list[JudgedSegment]

    @property
    def judged(self) -> int:
        """The number of results that take a judged segment."""
        return sum(row.taken is not None for row in self.ranking)


def explain(
    qrels: Segments, run: Segments, query: str, threshold: float, cutoff: int
) -> Explanation:
    """Explain nDCG(iou=threshold)@cutoff for one query.

    Raises:
        UsageError: the qrels do not have the query.
    """
    if query not in qrels.queries:
        raise UsageError(f"the qrels have no query {query!r}")
    qrels, run = _select_query(qrels, query), _select_query(run, query)
    aligned = align(qrels, run, cutoff)
    taken = iou.match_greedily(aligned, threshold, strict=False).tolist()
    ranking = _ranking(qrels, run, aligned, taken, threshold)
    return Explanation(query, threshold, ranking, _truth(qrels, taken))


def _ranking(
    qrels: Segments, run: Segments, aligned: AlignedRun, taken: list[int], threshold: float
) -> list[RankedResult]:
    """Return the results by rank; `taken` are rows of the qrels, or FREE."""
    pairs = zip(*(rows.tolist() for rows in aligned.pairs), strict=True)
    ious = dict(zip(pairs, aligned.iou.tolist(), strict=True))
    place = {segment: row for row, segment in enumerate(_by_level(qrels))}
    measures = [nDCG(iou=threshold) @ (rank + 1) for rank in range(len(taken))]
    so_far = list(Evaluator(measures, qrels, PAPER).calc_aggregate(run).values())
    ranking = []
    for row, segment in enumerate(taken):
        level = None if segment == iou.FREE else int(qrels.value[segment])
        ranking.append(
            RankedResult(
                rank=row + 1,
                video=run.video[row],
                start=float(run.start[row]),
                end=float(run.end[row]),
                taken=place.get(segment),
                iou=ious.get((row, segment), 0.0),
                level=level,
                gain=float(level or 0) / float(np.log2(row + 2)),
                ndcg=so_far[row],
            )
        )
    return ranking


def _truth(qrels: Segments, taken: list[int]) -> list[JudgedSegment]:
    """Return the judged segments, the highest level first."""
    ranks = {segment: rank for rank, segment in enumerate(taken, start=1)}
    return [
        JudgedSegment(
            qrels.video[row],
            float(qrels.start[row]),
            float(qrels.end[row]),
            int(qrels.value[row]),
            ranks.get(row),
        )
        for row in _by_level(qrels)
    ]


def _by_level(qrels: Segments) -> list[int]:
    """Return the rows by descending level."""
    rows: list[int] = np.argsort(-qrels.value, kind="stable").tolist()
    return rows


def _select_query(segments: Segments, query: str) -> Segments:
    """Return one query's segments, if any."""
    number = segments.queries.index(query) if query in segments.queries else -1
    rows = segments.query == number
    one = segments.select(rows)
    return one._replace(queries=[query], query=np.zeros(int(rows.sum()), dtype=np.int64))
