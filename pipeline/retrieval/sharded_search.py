"""The search in shards: the k nearest moments of every part of the pool, then of them all.

A shard has all moments of its videos, and the moments of a place belong to one video. So a place's
best caption is found in the place's shard, the k best places of the pool are among the k best of
their shards, and the answer is that of `search` (docs/exactness.md). A part is the answer of one
shard to one block of queries: a matrix of numbers that sort as the answer does.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from pipeline.core import files
from pipeline.core.engine import parts
from pipeline.core.engine.parts import Input
from pipeline.core.engine.shards import assign_shards, clear_parts, map_shards
from pipeline.core.sections import Engine
from pipeline.retrieval import search as whole
from pipeline.retrieval.embeddings import Embeddings
from pipeline.retrieval.ranking import Neighbours, Pool, places, refuse_empty
from pipeline.retrieval.search import Execution, nearest
from pipeline.retrieval.shortlist import choose_knn
from pipeline.retrieval.similarity import MICRO, Ints, Vectors

QUERIES = 65_536
"""Queries that a part answers: it takes 8 bytes for each of their k moments."""
MERGED = 2**21
"""Answers that are merged at a time."""
MOMENTS = 2**31
"""A key has 31 bits for the moment, below those of the similarity."""


@dataclass(frozen=True)
class ShardSearch:
    """What one task searches for, and where, in files that every machine sees.

    `vectors` is the array of the embeddings; `moments` (3, n) has the shard's positions in the
    pool, the rows of their texts and their places; `queries` the rows of the texts searched for.
    """

    vectors: Input
    moments: Input
    queries: Input
    k: int
    device: str

    @property
    def key(self) -> str:
        """Return the name of its part."""
        inputs = (self.vectors.sha256, self.moments.sha256, self.queries.sha256)
        return parts.part_key("nearest", *inputs, self.k)


@dataclass(frozen=True)
class ShardedSearch:
    """The search of a stage, in the shards of `engine`; `device` as in `embed.device`.

    With one shard it runs in this process as its answers are read. Otherwise it ends before it
    yields the first of them.
    """

    stage: str
    engine: Engine
    device: str = "auto"

    def search(
        self, texts: pd.Series, moments: pd.DataFrame, embedded: Embeddings, k: int
    ) -> Iterator[Neighbours]:
        """Return what `search.search` returns for the same input.

        Raises:
            PoolError: there are no moments.
            EmbeddingsError: a text or caption has not been embedded.
        """
        if self.engine.shards == 1:
            return whole.search(texts, moments, embedded, k, self.device)
        refuse_empty(moments)
        vectors = self._share(embedded.vectors)
        rows = embedded.rows(texts)
        pools = [self._write(shard) for shard in _divide(moments, embedded, self.engine.shards)]
        blocks = [self._write(rows[at : at + QUERIES]) for at in range(0, len(rows), QUERIES)]
        tasks = [
            [ShardSearch(vectors, pool, block, k, self.device) for pool in pools]
            for block in blocks
        ]
        given = {task.key: task for block in tasks for task in block}
        gpus = float(self.device != "cpu")
        paths = map_shards(self.stage, find_nearest, given, self.engine, gpus)
        return merge([[paths[task.key] for task in block] for block in tasks], k)

    def clear(self) -> None:
        """Delete the parts, once the stage has written its result."""
        clear_parts(self.stage, self.engine)

    def _share(self, vectors: Vectors) -> Input:
        if isinstance(vectors, np.memmap) and vectors.filename is not None:
            path = Path(vectors.filename)
            return Input(path, files.file_sha256(path))
        return self._write(vectors)

    def _write(self, array: npt.NDArray[np.generic]) -> Input:
        stream = io.BytesIO()
        np.save(stream, array)
        folder = parts.stage_folder(self.stage, self.engine) / "inputs"
        return Input.share(stream.getvalue(), folder, ".npy")


def find_nearest(shard: ShardSearch, path: Path) -> None:
    """Write the keys of each query's k nearest moments of a shard, (queries, k), best first.

    Raises:
        EngineError: this machine sees other inputs, or none.
    """
    vectors = np.load(shard.vectors.locate(), mmap_mode="r", allow_pickle=False)
    position, rows, place = np.load(shard.moments.locate(), allow_pickle=False)
    queries = np.load(shard.queries.locate(), allow_pickle=False)
    pool = Pool.arrange(rows, np.unique(place, return_inverse=True)[1], shard.k)
    keys = np.empty((len(queries), min(shard.k, pool.distinct)), dtype=np.int64)
    knn = choose_knn(shard.device, len(queries) * len(pool.texts))
    for answer in nearest(vectors, queries, pool, Execution(knn=knn)):
        micro = np.rint(answer.similarity * MICRO).astype(np.int64)
        # The order of answers: descending similarity, then moment.
        keys[answer.query, answer.rank - 1] = (MICRO - micro) * MOMENTS + position[answer.moment]
    with path.open("wb") as stream:
        np.save(stream, keys)


def merge(blocks: Sequence[Sequence[Path]], k: int) -> Iterator[Neighbours]:
    """Yield the k best of all shards' parts, by blocks of queries; only a few are in memory."""
    begun = 0
    for paths in blocks:
        shards = [np.load(path, mmap_mode="r", allow_pickle=False) for path in paths]
        step = max(1, MERGED // sum(shard.shape[1] for shard in shards))
        for first in range(0, len(shards[0]), step):
            keys = np.hstack([shard[first : first + step] for shard in shards])
            if keys.shape[1] > k:
                keys = np.partition(keys, k - 1, axis=1)[:, :k]
            keys.sort(axis=1)
            yield _decode(keys, begun + first)
        begun += len(shards[0])


def _decode(keys: Ints, first: int) -> Neighbours:
    queries, k = keys.shape
    query = np.repeat(np.arange(first, first + queries), k)
    rank = np.tile(np.arange(1, k + 1), queries)
    return Neighbours(
        query, (keys % MOMENTS).ravel(), rank, (MICRO - keys // MOMENTS).ravel() / MICRO
    )


def _divide(moments: pd.DataFrame, embedded: Embeddings, shards: int) -> Iterator[Ints]:
    """Yield position, text row and place of each shard's moments; none is empty."""
    video, names = pd.factorize(moments["video_id"])
    shard = assign_shards(names.tolist(), shards)[video]
    every = np.stack([np.arange(len(moments)), embedded.rows(moments["caption"]), places(moments)])
    for number in np.unique(shard):
        yield every[:, shard == number]
