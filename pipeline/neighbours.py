"""The k moments most similar to a query: exact over the whole pool, whatever its size.

DESIGN.md, section 3, "Candidates". A float32 product over the pool finds a shortlist, a
rescoring without rounding (`pipeline.similarity`) orders it, and a bound on the product's
error proves that nothing outside the shortlist could belong inside; where it can't, the
shortlist grows. So the answer is the same for every block size and number of threads.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.blas import import_faiss
from pipeline.embeddings import Embeddings
from pipeline.similarity import MICRO, Ints, Vectors, micro_similarities, product_error

QUERY_BLOCK = 8192
POOL_BLOCK = 131_072
RESCORE_BLOCK = 64


Flags = npt.NDArray[np.bool_]


class PoolError(MomentRankError):
    """There is nothing to search."""


class Neighbours(NamedTuple):
    """Rows of (query, moment, rank, similarity), by query and then by rank from 1.

    `query` and `moment` are positions in what was asked; a query has fewer rows than k
    only where the pool has fewer moments.
    """

    query: Ints
    moment: Ints
    rank: Ints
    similarity: npt.NDArray[np.float64]

    def taken(self, rows: Ints | Flags) -> "Neighbours":
        """Return some of the rows, in the order asked for."""
        query, moment, rank, similarity = self
        return Neighbours(query[rows], moment[rows], rank[rows], similarity[rows])


@dataclass(frozen=True)
class Pool:
    """Moments to search, by the distinct texts that describe them.

    `texts` are the rows of the embeddings in use, (t,). `moments[starts[i]:starts[i + 1]]`
    are the moments of text i in the order of their ids: what ties are broken by. `places`
    tells moments of the same video, start and end apart from others, by position. It is made
    to find the `k` nearest: a text that thousands share holds no more than k moments.
    """

    texts: Ints
    starts: Ints
    moments: Ints
    places: Ints
    k: int

    @classmethod
    def of(cls, moments: pd.DataFrame, rows: Ints, k: int) -> "Pool":
        """Arrange `moments` (`moment_id, video_id, start, end`), text rows beside them.

        They must be sorted by moment_id. Of one text only the first k places can ever be
        among the k best, so the others are left out.
        """
        places = moments.groupby(["video_id", "start", "end"], sort=False).ngroup().to_numpy()
        table = pd.DataFrame({"text": rows, "place": places}).drop_duplicates()
        table = table[table.groupby("text").cumcount() < k]
        table = table.sort_values("text", kind="stable")
        texts, starts = np.unique(table["text"].to_numpy(), return_index=True)
        return cls(
            texts=texts.astype(np.int64),
            starts=np.append(starts, len(table)).astype(np.int64),
            moments=table.index.to_numpy(dtype=np.int64),
            places=places.astype(np.int64),
            k=k,
        )


def search(
    texts: pd.Series, moments: pd.DataFrame, embedded: Embeddings, k: int
) -> Iterator[Neighbours]:
    """Yield the k nearest of `moments` (as `pool.described` gives them) for each text.

    Raises:
        PoolError: there is no moment.
        EmbeddingsError: a text or caption has not been embedded.
    """
    if moments.empty:
        raise PoolError("the pool is empty: no caption of ingest.pool_modalities takes part")
    pool = Pool.of(moments, embedded.rows(moments["caption"]), k)
    return nearest(embedded.vectors, embedded.rows(texts), pool)


def nearest(
    vectors: Vectors,
    queries: Ints,
    pool: Pool,
    query_block: int = QUERY_BLOCK,
    pool_block: int = POOL_BLOCK,
) -> Iterator[Neighbours]:
    """Yield the `pool.k` nearest moments of each query, a block of queries at a time.

    `vectors` are unit rows on the grid (n, d), memory-mapped or not; `queries` are rows of
    them. Memory is bounded by the block sizes, not by the pool. Order is by descending
    similarity, rounded to 6 decimals, then by moment_id; moments with the same video,
    start and end are one, the best caption's.
    """
    search = _Search(vectors, pool, pool_block)
    for first in range(0, len(queries), query_block):
        found = search.block(queries[first : first + query_block])
        yield found._replace(query=found.query + first)


@dataclass(frozen=True)
class _Search:
    vectors: Vectors
    pool: Pool
    pool_block: int

    def block(self, queries: Ints) -> Neighbours:
        """Search with ever longer shortlists until each query's answer is proven."""
        found: list[Neighbours] = []
        unproven: Ints = np.arange(len(queries))
        size = self.pool.k + max(4, self.pool.k // 8)
        while len(unproven):
            answer, proven = self._attempt(queries[unproven], min(size, len(self.pool.texts)))
            done = answer.taken(proven[answer.query])
            found.append(done._replace(query=unproven[done.query]))
            unproven, size = unproven[~proven], size * 4
        joined = Neighbours(
            query=np.concatenate([part.query for part in found]),
            moment=np.concatenate([part.moment for part in found]),
            rank=np.concatenate([part.rank for part in found]),
            similarity=np.concatenate([part.similarity for part in found]),
        )
        return joined.taken(np.argsort(joined.query, kind="stable"))

    def _attempt(self, queries: Ints, size: int) -> tuple[Neighbours, Flags]:
        vectors = _take(self.vectors, queries)
        texts, floor = self._shortlist(vectors, size)
        similarity = self._rescore(vectors, texts)
        answer = self._select(texts, similarity)
        if size == len(self.pool.texts):
            return answer, np.ones(len(queries), dtype=bool)
        worst = np.full(len(queries), -np.inf)
        full = answer.rank == self.pool.k
        worst[answer.query[full]] = answer.similarity[full]
        # What was left out has at most this product; rounded, it stays below the worst kept.
        return answer, floor + product_error(vectors.shape[1]) < worst - 1 / MICRO

    def _shortlist(self, vectors: Vectors, size: int) -> tuple[Ints, npt.NDArray[np.float32]]:
        """Return the `size` best texts by float32 product, and the least of their scores."""
        faiss = import_faiss()
        scores: Vectors = np.empty((len(vectors), 0), dtype=np.float32)
        texts: Ints = np.empty((len(vectors), 0), dtype=np.int64)
        for first in range(0, len(self.pool.texts), self.pool_block):
            block = _take(self.vectors, self.pool.texts[first : first + self.pool_block])
            metric = faiss.METRIC_INNER_PRODUCT
            more, where = faiss.knn(vectors, block, min(size, len(block)), metric=metric)
            scores, texts = np.hstack([scores, more]), np.hstack([texts, where + first])
            if scores.shape[1] > size:
                best = np.argpartition(-scores, size - 1, axis=1)[:, :size]
                scores = np.take_along_axis(scores, best, axis=1)
                texts = np.take_along_axis(texts, best, axis=1)
        return texts, scores.min(axis=1)

    def _rescore(self, vectors: Vectors, texts: Ints) -> Ints:
        rows = self.pool.texts[texts]
        result = np.empty(texts.shape, dtype=np.int64)

        def rescore(first: int) -> None:
            part = slice(first, first + RESCORE_BLOCK)
            result[part] = micro_similarities(vectors[part], self.vectors[rows[part]])

        with ThreadPoolExecutor() as threads:
            list(threads.map(rescore, range(0, len(texts), RESCORE_BLOCK)))
        return result

    def _select(self, texts: Ints, similarity: Ints) -> Neighbours:
        """Turn texts into moments, order them, and keep the best k places of each query."""
        counts = self.pool.starts[texts + 1] - self.pool.starts[texts]
        query = np.repeat(np.arange(len(texts)), counts.sum(axis=1))
        micro = np.repeat(similarity, counts.ravel())
        moment = self.pool.moments[_ranges(self.pool.starts[texts].ravel(), counts.ravel())]
        query, micro, moment = _ordered(query, micro, moment)
        first = _first_of(query * len(self.pool.places) + self.pool.places[moment])
        query, micro, moment = query[first], micro[first], moment[first]
        rank = np.arange(len(query)) - np.searchsorted(query, query) + 1
        best = rank <= self.pool.k
        return Neighbours(query[best], moment[best], rank[best], micro[best] / MICRO)


def _ordered(query: Ints, micro: Ints, moment: Ints) -> tuple[Ints, Ints, Ints]:
    """Sort by query, then descending similarity, then moment: as one number each.

    14 bits of query (a block), 21 of similarity, 28 of moment; six times faster than a
    sort by three keys.
    """
    packed = np.sort(query << 49 | (MICRO - micro) << 28 | moment)
    return packed >> 49, MICRO - (packed >> 28 & (1 << 21) - 1), packed & (1 << 28) - 1


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Return start, start + 1, ... for each start, as many as its count, in a row."""
    skipped = np.cumsum(counts) - counts
    ranges: Ints = np.arange(counts.sum()) + np.repeat(starts - skipped, counts)
    return ranges


def _take(vectors: Vectors, rows: Ints) -> Vectors:
    """Return rows of the array, as a view where they stand side by side."""
    first, last = int(rows[0]), int(rows[-1])
    if last - first + 1 == len(rows) and np.array_equal(rows, np.arange(first, last + 1)):
        return np.ascontiguousarray(vectors[first : last + 1])
    return vectors[rows]


def _first_of(keys: Ints) -> Flags:
    """Tell of each key whether it has not occurred before."""
    first = np.zeros(len(keys), dtype=bool)
    first[np.unique(keys, return_index=True)[1]] = True
    return first
