"""One query's ranking beside its ground truth: what took what (TVR-Ranking, Figure 7)."""

from typing import NamedTuple

import numpy as np

from momentrank.errors import UsageError
from momentrank.matching import iou
from momentrank.matching.lists import align
from momentrank.measures import nDCG
from momentrank.segments import Segments


class Ranked(NamedTuple):
    """A result, with the judged segment that it took, if it took one; times in seconds."""

    rank: int
    video: str
    start: float
    end: float
    taken: int | None
    """Row in `truth`."""
    iou: float
    level: int | None
    gain: float
    """Discounted: the level over log2(rank + 1)."""
    ndcg: float
    """nDCG up to here."""


class Known(NamedTuple):
    """A judged segment, and the rank of the result that took it, if one did."""

    video: str
    start: float
    end: float
    level: int
    rank: int | None


class Explanation(NamedTuple):
    """A query's results by rank, and its judged segments, the highest level first."""

    query: str
    threshold: float
    ranking: list[Ranked]
    truth: list[Known]

    @property
    def judged(self) -> int:
        """How many results took a judged segment."""
        return sum(row.taken is not None for row in self.ranking)


def explain(
    qrels: Segments, run: Segments, query: str, threshold: float, cutoff: int
) -> Explanation:
    """Show how nDCG(iou=threshold)@cutoff comes about for one query.

    Raises:
        UsageError: the qrels don't have the query.
    """
    if query not in qrels.queries:
        raise UsageError(f"the qrels have no query {query!r}")
    qrels, run = _of(qrels, query), _of(run, query)
    lists = align(qrels, run, cutoff)
    taken = iou.taken(lists, threshold, strict=False)
    ious = dict(zip(zip(*(p.tolist() for p in lists.pairs), strict=True), lists.iou.tolist(),
                    strict=True))  # fmt: skip
    order = np.argsort(-qrels.value, kind="stable").tolist()
    ranks = {segment: rank for rank, segment in enumerate(taken.tolist(), start=1)}
    measure = nDCG(iou=threshold)
    ranking = []
    for row, segment in enumerate(taken.tolist()):
        level = None if segment == iou.FREE else int(qrels.value[segment])
        so_far = (measure @ (row + 1)).calc_aggregate(qrels, run)
        ranking.append(
            Ranked(
                row + 1,
                run.video[row],
                float(run.start[row]),
                float(run.end[row]),
                None if level is None else order.index(segment),
                ious.get((row, segment), 0.0),
                level,
                float(level or 0) / float(np.log2(row + 2)),
                so_far,
            )
        )
    truth = [
        Known(
            qrels.video[row],
            float(qrels.start[row]),
            float(qrels.end[row]),
            int(qrels.value[row]),
            ranks.get(row),
        )
        for row in order
    ]
    return Explanation(query, threshold, ranking, truth)


def _of(segments: Segments, query: str) -> Segments:
    """Return one query's segments; none if it is not there."""
    number = segments.queries.index(query) if query in segments.queries else -1
    rows = segments.query == number
    one = segments.take(rows)
    return one._replace(queries=[query], query=np.zeros(int(rows.sum()), dtype=np.int64))
