"""The k moments most similar to a query: exact over the whole pool, whatever its size.

A float32 product over the pool finds a shortlist, a rescoring without rounding
(`pipeline.retrieval.similarity`) orders it, and a bound on the product's error proves that nothing
outside the shortlist belongs in the answer; where it can't, the shortlist grows. So the answer is
the same for every block size and number of threads, with a GPU or without (docs/exactness.md).
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.retrieval.array_on_disk import release, take
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.ranking import Flags, Neighbours, Pool, best_places, concatenate
from pipeline.retrieval.shortlist import Knn, choose_knn, faiss_knn, import_faiss
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
"""Pairs of query and text in memory at a time, however long the shortlists are."""
RESCORED = 4096
"""Pairs that a thread rescores at a time."""
THREADS = 8
"""The most threads that rescore: as many as faiss may use, which obeys OMP_NUM_THREADS."""


class SearchError(MomentRankError):
    """A search whose answer can't be proven."""


def search(
    texts: pd.Series, moments: pd.DataFrame, embedded: Embeddings, k: int, device: str = "auto"
) -> Iterator[Neighbours]:
    """Yield the k nearest of `moments` (as `captions.join_captions` returns them) for each text.

    `device` is as in `embed.device`: where there is a GPU, it finds the shortlists.

    Raises:
        PoolError: there are no moments.
        EmbeddingsError: a text or caption has not been embedded.
        SearchError: the device multiplies with less precision than float32.
    """
    pool = Pool.build(moments, embedded.rows(moments["caption"]), k)
    knn = choose_knn(device, len(texts) * len(pool.texts))
    return nearest(embedded.vectors, embedded.rows(texts), pool, Execution(knn=knn))


class Execution(NamedTuple):
    """How a search runs, which never changes its answer: the sizes of blocks, the product."""

    query_block: int = QUERY_BLOCK
    pool_block: int = POOL_BLOCK
    knn: Knn = faiss_knn


DEFAULT = Execution()


def nearest(
    vectors: Vectors, queries: Ints, pool: Pool, execution: Execution = DEFAULT
) -> Iterator[Neighbours]:
    """Yield the `pool.k` nearest moments of each query, a block of queries at a time.

    `vectors` are unit rows on the grid (n, d), memory-mapped or not; `queries` are rows of
    them. Memory is bounded by the block sizes and a few integers per moment of the pool.
    Order is by descending similarity, rounded to 6 decimals, then by moment_id; moments with
    the same video, start and end are one, the best caption's.
    """
    search_block = _Search(vectors, pool, execution).block
    step = execution.query_block
    for first in range(0, len(queries), step):
        answer = search_block(queries[first : first + step])
        yield answer._replace(query=answer.query + first)


@dataclass(frozen=True)
class _Search:
    vectors: Vectors
    pool: Pool
    execution: Execution

    def block(self, queries: Ints) -> Neighbours:
        """Search with ever longer shortlists until each query's answer is proven."""
        answers: list[Neighbours] = []
        unproven: Ints = np.arange(len(queries))
        # Enough texts if the best places have as many as the average place.
        per_place = -(-len(self.pool.moments) // self.pool.distinct)
        size = self.pool.k * per_place + max(4, self.pool.k // 8)
        while len(unproven) and size <= LONGEST_SHORTLIST:
            left: list[Ints] = []
            for some in _slices(unproven, SHORTLISTED // size):
                answer, proven = self._attempt(queries[some], min(size, len(self.pool.texts)))
                answers.append(_renumber(answer.select(proven[answer.query]), some))
                left.append(some[~proven])
            unproven, size = np.concatenate(left), size * 4
        answers += [_renumber(self._scan(queries[rows]), rows) for rows in _slices(unproven, 1)]
        rows = concatenate(answers)
        return rows.select(np.argsort(rows.query, kind="stable"))

    def _attempt(self, queries: Ints, size: int) -> tuple[Neighbours, Flags]:
        vectors = take(self.vectors, queries)
        texts, scores = self._shortlist(vectors, size)
        micro = self._rescore(vectors, texts)
        error = product_error(vectors.shape[1])
        _refuse_coarse(scores, micro, error)
        answer = best_places(self.pool, texts, micro)
        if size == len(self.pool.texts):
            return answer, np.ones(len(queries), dtype=bool)
        worst = np.full(len(queries), -np.inf)
        last = answer.rank == min(self.pool.k, self.pool.distinct)
        worst[answer.query[last]] = answer.similarity[last]
        # What was left out has at most this product. Rounded, or counted as 1 where it is the
        # query's own vector, it must stay below the worst that is kept.
        return answer, scores.min(axis=1) + error < worst - (OFF_BY + 1) / MICRO

    def _shortlist(self, vectors: Vectors, size: int) -> tuple[Ints, Vectors]:
        """Return each query's `size` best texts by float32 product, and their scores."""
        scores: Vectors = np.empty((len(vectors), 0), dtype=np.float32)
        texts: Ints = np.empty((len(vectors), 0), dtype=np.int64)
        step = self.execution.pool_block
        for first in range(0, len(self.pool.texts), step):
            block = take(self.vectors, self.pool.texts[first : first + step])
            more, where = self.execution.knn(vectors, block, min(size, len(block)))
            release(self.vectors)
            scores, texts = np.hstack([scores, more]), np.hstack([texts, where + first])
            if scores.shape[1] > size:
                best = np.argpartition(-scores, size - 1, axis=1)[:, :size]
                scores = np.take_along_axis(scores, best, axis=1)
                texts = np.take_along_axis(texts, best, axis=1)
        return texts, scores

    def _rescore(self, vectors: Vectors, texts: Ints) -> Ints:
        rows = self.pool.texts[texts]
        result = np.empty(texts.shape, dtype=np.int64)

        def rescore(some: Ints) -> None:
            result[some] = micro_similarities(vectors[some], self.vectors[rows[some]])
            release(self.vectors)

        slices = _slices(np.arange(len(texts)), max(1, RESCORED // texts.shape[1]))
        number = min(THREADS, import_faiss().omp_get_max_threads())
        with ThreadPoolExecutor(number) as threads:
            list(threads.map(rescore, slices))
        return result

    def _scan(self, query: Ints) -> Neighbours:
        """Answer one query without a shortlist: thousands of texts are as near as the k-th."""
        vector = take(self.vectors, query)
        micro = []
        for rows in _slices(self.pool.texts, SCAN_BLOCK):
            micro.append(micro_similarities(vector, take(self.vectors, rows)[None]))
            release(self.vectors)
        texts = np.arange(len(self.pool.texts))[None]
        return best_places(self.pool, texts, np.concatenate(micro, axis=1))


def _refuse_coarse(scores: Vectors, micro: Ints, error: float) -> None:
    if np.abs(scores - micro / MICRO).max(initial=0) > error + (OFF_BY + 1) / MICRO:
        raise SearchError(
            "products are less precise than float32's, so the search can't be proven exact: on a"
            " GPU, run it again with CUDA_VISIBLE_DEVICES= (empty), on the processor"
        )


def _slices(rows: Ints, length: int) -> Iterator[Ints]:
    for first in range(0, len(rows), length):
        yield rows[first : first + length]


def _renumber(answer: Neighbours, queries: Ints) -> Neighbours:
    return answer._replace(query=queries[answer.query])
