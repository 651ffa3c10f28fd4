"""The k moments most similar to a query: exact over the whole pool, whatever its size.

DESIGN.md, section 3, "Candidates". A float32 product over the pool finds a shortlist, a
rescoring without rounding (`pipeline.retrieval.similarity`) orders it, and a bound on the product's
error proves that nothing outside the shortlist could belong inside; where it can't, the
shortlist grows. So the answer is the same for every block size and number of threads.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.core.parallel import cores
from pipeline.retrieval.blas import import_faiss
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.ranking import MOST_QUERIES, Flags, Neighbours, Pool, best_places, joined
from pipeline.retrieval.similarity import (
    MICRO,
    OFF_BY,
    Ints,
    Vectors,
    micro_similarities,
    product_error,
)

QUERY_BLOCK = 8192
POOL_BLOCK = 131_072
SCAN_BLOCK = 8192
LONGEST_SHORTLIST = 4096
SHORTLISTED = QUERY_BLOCK * 64
"""How many pairs of query and text are in hand at a time, however long the shortlists are."""
RESCORED = 4096
"""How many of them a thread rescores at a time."""
THREADS = min(8, cores())


def search(
    texts: pd.Series, moments: pd.DataFrame, embedded: Embeddings, k: int
) -> Iterator[Neighbours]:
    """Yield the k nearest of `moments` (as `pool.described` gives them) for each text.

    Raises:
        PoolError: there is no moment.
        EmbeddingsError: a text or caption has not been embedded.
    """
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
    them. Memory is bounded by the block sizes and a few integers per moment of the pool.
    Order is by descending similarity, rounded to 6 decimals, then by moment_id; moments with
    the same video, start and end are one, the best caption's.

    Raises:
        ValueError: `query_block` is more than one sort tells apart.
    """
    if query_block > MOST_QUERIES:
        raise ValueError(f"query_block must be at most {MOST_QUERIES}")
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
        size = self._first_size()
        while len(unproven) and size <= LONGEST_SHORTLIST:
            left: list[Ints] = []
            for some in _slices(unproven, SHORTLISTED // size):
                answer, proven = self._attempt(queries[some], min(size, len(self.pool.texts)))
                found.append(_of(answer.taken(proven[answer.query]), some))
                left.append(some[~proven])
            unproven, size = np.concatenate(left), size * 4
        found += [_of(self._scan(queries[one]), one) for one in _slices(unproven, 1)]
        return _joined(found)

    def _first_size(self) -> int:
        """Return how many texts will do where the best places have as many as most have."""
        per_place = -(-len(self.pool.moments) // self.pool.distinct)
        return self.pool.k * per_place + max(4, self.pool.k // 8)

    def _attempt(self, queries: Ints, size: int) -> tuple[Neighbours, Flags]:
        vectors = _take(self.vectors, queries)
        texts, floor = self._shortlist(vectors, size)
        answer = best_places(self.pool, texts, self._rescore(vectors, texts))
        if size == len(self.pool.texts):
            return answer, np.ones(len(queries), dtype=bool)
        worst = np.full(len(queries), -np.inf)
        last = answer.rank == min(self.pool.k, self.pool.distinct)
        worst[answer.query[last]] = answer.similarity[last]
        # What was left out has at most this product. Rounded, or counted as 1 where it is the
        # query's own vector, it must stay below the worst that is kept.
        return answer, floor + product_error(vectors.shape[1]) < worst - (OFF_BY + 1) / MICRO

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

        def rescore(some: Ints) -> None:
            result[some] = micro_similarities(vectors[some], self.vectors[rows[some]])

        slices = _slices(np.arange(len(texts)), max(1, RESCORED // texts.shape[1]))
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(rescore, slices))
        return result

    def _scan(self, query: Ints) -> Neighbours:
        """Answer one query without a shortlist: thousands of texts are as near as the k-th."""
        vector = _take(self.vectors, query)
        blocks = _slices(self.pool.texts, SCAN_BLOCK)
        micro = [micro_similarities(vector, self.vectors[rows][None]) for rows in blocks]
        texts = np.arange(len(self.pool.texts))[None]
        return best_places(self.pool, texts, np.concatenate(micro, axis=1))


def _slices(rows: Ints, length: int) -> Iterator[Ints]:
    for first in range(0, len(rows), length):
        yield rows[first : first + length]


def _of(answer: Neighbours, queries: Ints) -> Neighbours:
    return answer._replace(query=queries[answer.query])


def _joined(found: list[Neighbours]) -> Neighbours:
    rows = joined(found)
    return rows.taken(np.argsort(rows.query, kind="stable"))


def _take(vectors: Vectors, rows: Ints) -> Vectors:
    """Return rows of the array, as a view where they stand side by side."""
    first, last = int(rows[0]), int(rows[-1])
    if last - first + 1 == len(rows) and np.array_equal(rows, np.arange(first, last + 1)):
        return np.ascontiguousarray(vectors[first : last + 1])
    return vectors[rows]
