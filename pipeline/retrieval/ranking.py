"""Ranking: from similar texts to moments, ties broken by id, each place once.

The order is (-similarity, moment_id); moments with the same video, start and end are one
candidate, the best caption's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.retrieval.similarity import MICRO, Ints

Flags = npt.NDArray[np.bool_]


class PoolError(MomentRankError):
    """The pool is empty."""


class Neighbours(NamedTuple):
    """Rows of (query, moment, rank, similarity), by query and then by rank from 1.

    `query` and `moment` are positions in the input; a query has fewer rows than k
    only where the pool has fewer moments.
    """

    query: Ints
    moment: Ints
    rank: Ints
    similarity: npt.NDArray[np.float64]

    def select(self, rows: Ints | Flags) -> "Neighbours":
        """Return some of the rows, in the requested order."""
        query, moment, rank, similarity = self
        return Neighbours(query[rows], moment[rows], rank[rows], similarity[rows])


def concatenate(parts: Sequence[Neighbours]) -> Neighbours:
    """Return the rows of all parts, one after the other."""
    return Neighbours(*map(np.concatenate, zip(*parts, strict=True)))


@dataclass(frozen=True)
class Pool:
    """Moments to search, by the distinct texts that describe them.

    `texts` are the rows of the embeddings in use, (t,). `moments[starts[i]:starts[i + 1]]`
    are the moments of text i in the order of their ids, which breaks ties. `places`
    numbers the distinct (video, start, end), by position; `distinct` is how many there are. The
    pool serves to find the `k` nearest: a text shared by thousands has at most k moments here.
    """

    texts: Ints
    starts: Ints
    moments: Ints
    places: Ints
    distinct: int
    k: int

    @classmethod
    def build(cls, moments: pd.DataFrame, rows: Ints, k: int) -> "Pool":
        """Arrange `moments` (`moment_id, video_id, start, end`) with the `rows` of their texts.

        They must be sorted by moment_id. Only the first k places of a text can be among the k
        best, so the others are left out.

        Raises:
            PoolError: there are no moments.
        """
        refuse_empty(moments)
        return cls.arrange(rows, places(moments), k)

    @classmethod
    def arrange(cls, rows: Ints, place: Ints, k: int) -> "Pool":
        """Arrange moments, (n,) of 1 or more: their texts' rows, and places numbered from 0."""
        table = pd.DataFrame({"text": rows, "place": place}).drop_duplicates()
        table = table[table.groupby("text").cumcount() < k]
        table = table.sort_values("text", kind="stable")
        texts, starts = np.unique(table["text"].to_numpy(), return_index=True)
        return cls(
            texts=texts.astype(np.int64),
            starts=np.append(starts, len(table)).astype(np.int64),
            moments=table.index.to_numpy(dtype=np.int64),
            places=place,
            distinct=int(place.max()) + 1,
            k=k,
        )


def refuse_empty(moments: pd.DataFrame) -> None:
    """Stop if there is nothing to search.

    Raises:
        PoolError: there are no moments.
    """
    if moments.empty:
        raise PoolError("the pool is empty: no caption of ingest.pool_modalities is in use")


def places(moments: pd.DataFrame) -> Ints:
    """Return the number of each moment's place, (n,): its video, start and end."""
    video = pd.factorize(moments["video_id"])[0]
    keys = [video, *(moments[name].to_numpy("float64") for name in ("start", "end"))]
    order = np.lexsort(keys)
    is_new = np.zeros(len(order), dtype=bool)
    for key in keys:
        is_new[1:] |= np.diff(key[order]) != 0
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(is_new)
    return place


def best_places(pool: Pool, texts: Ints, similarity: Ints) -> Neighbours:
    """Turn each query's texts (n, m), positions in the pool, into its k best places.

    `similarity` (n, m) counts millionths.
    """
    counts = pool.starts[texts + 1] - pool.starts[texts]
    query = np.repeat(np.arange(len(texts)), counts.sum(axis=1))
    micro = np.repeat(similarity, counts.ravel())
    moment = pool.moments[_ranges(pool.starts[texts].ravel(), counts.ravel())]
    order = _rank_rows(query, micro, moment)
    query, micro, moment = query[order], micro[order], moment[order]
    place = query * pool.distinct + pool.places[moment]
    first = np.sort(np.unique(place, return_index=True)[1])
    query, micro, moment = query[first], micro[first], moment[first]
    rank = np.arange(len(query)) - np.searchsorted(query, query) + 1
    best = rank <= pool.k
    return Neighbours(query[best], moment[best], rank[best], micro[best] / MICRO)


def _rank_rows(query: Ints, micro: Ints, moment: Ints) -> Ints:
    """Return the order by query, then descending similarity, then moment.

    The rows are nearly in this order already, so one stable sort is fast; moments are compared only
    where query and similarity are equal.
    """
    key = query * (2 * MICRO + 1) - micro
    order = np.argsort(key, kind="stable")
    repeats = np.diff(key[order]) == 0
    tied = np.flatnonzero(np.append(repeats, False) | np.append(False, repeats))
    rows = order[tied]
    order[tied] = rows[np.lexsort((moment[rows], key[rows]))]
    return order


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Return start, start + 1, ... for each start, as many as its count, in a row."""
    skipped = np.cumsum(counts) - counts
    ranges: Ints = np.arange(counts.sum()) + np.repeat(starts - skipped, counts)
    return ranges
