"""Encode many texts in chunks: in one process or in many, with the same bits.

The last bits of a vector depend on the batch that it is encoded in: a batch is padded to its
longest text, and products of other shapes are summed in another order. So chunks of whole batches
are cut from all the texts before any is handed out. What encodes a chunk, and when, changes
nothing; nor does the number of torch's threads, which has been measured (docs/exactness.md).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core import files
from pipeline.core.engine import parts
from pipeline.core.engine.parts import Task, part_key
from pipeline.core.engine.shards import map_shards
from pipeline.core.progress import progress
from pipeline.core.sections import Engine
from pipeline.retrieval.embeddings import Ids
from pipeline.retrieval.similarity import Vectors

if TYPE_CHECKING:
    from pipeline.retrieval.encoder import Encoder

STAGE = "embed"


class Encoding(NamedTuple):
    """How texts are encoded: `load` returns the encoder, and loads it once in each process.

    `facts` names what decides a vector's bits besides its chunk: the encoder and the size of a
    batch. `length` is how many texts make a chunk, `gpus` what a process wants if there are any.
    """

    load: Callable[[], "Encoder"]
    facts: str
    length: int
    gpus: float = 0


class Texts(NamedTuple):
    """The texts of one chunk: a row group of a file."""

    file: Path
    number: int
    size: int


class Shard(NamedTuple):
    """The chunks of one shard; the `only` one shows how far it is."""

    chunks: Sequence[tuple[Texts, Task]]
    is_only: bool


@dataclass(frozen=True)
class Chunks:
    """Texts with their ids, in the order in which they are encoded; each chunk is a part."""

    ids: Ids
    texts: Sequence[str]
    encoding: Encoding
    engine: Engine

    def encode(self) -> int:
        """Encode what a killed run has not finished; return how many texts that are."""
        left = [(texts, task) for texts, task in self._tasks() if not task.is_finished()]
        if left:
            with files.unfinished(self._file, "wb") as stream:
                table = pa.table({"text": pa.array(self.texts, pa.large_string())})
                pq.write_table(table, stream, row_group_size=self.encoding.length)
        number = self.engine.shards
        shards = [some for shard in range(number) if (some := left[shard::number])]
        given = {
            part_key(*(task.path.name for _, task in some)): Shard(some, len(shards) == 1)
            for some in shards
        }
        map_shards(STAGE, encode_shard, given, self.engine, self.encoding.gpus)
        return sum(texts.size for texts, _ in left)

    def read(self) -> Iterator[tuple[Ids, Vectors]]:
        """Yield ids and vectors of each chunk."""
        for texts, task in self._tasks():
            first = texts.number * self.encoding.length
            ids = self.ids[first : first + texts.size]
            yield ids, np.load(task.path, mmap_mode="r", allow_pickle=False)

    def clear(self) -> None:
        """Delete the parts, once their vectors are stored."""
        parts.clear(STAGE, Path(self.engine.folder))

    def _tasks(self) -> Iterator[tuple[Texts, Task]]:
        work = partial(encode_chunk, self.encoding.load)
        for number, first in enumerate(range(0, len(self.ids), self.encoding.length)):
            ids = self.ids[first : first + self.encoding.length]
            texts = Texts(self._file, number, len(ids))
            yield texts, Task(work, texts, self._folder / self._key(ids))

    @property
    def _folder(self) -> Path:
        return Path(self.engine.folder).absolute() / STAGE

    @property
    def _file(self) -> Path:
        return self._folder / f"texts-{self._key(self.ids)}.parquet"

    def _key(self, ids: Ids) -> str:
        return part_key(self.encoding.facts, hashlib.sha256(ids.tobytes()).hexdigest())


def encode_shard(shard: Shard, path: Path) -> None:  # noqa: ARG001  (each of its chunks is a part)
    """Encode a shard's chunks, one by one: a kill loses one at most."""
    total = sum(texts.size for texts, _ in shard.chunks) if shard.is_only else 0
    with progress("embed", total=total, unit="texts") as bar:
        for texts, task in shard.chunks:
            task.run()
            bar.update(texts.size)


def encode_chunk(load: Callable[[], "Encoder"], texts: Texts, path: Path) -> None:
    """Write the vectors of a chunk, (n, d)."""
    group = pq.ParquetFile(texts.file).read_row_group(texts.number)
    with path.open("wb") as stream:
        np.save(stream, load().encode(group["text"].to_pylist()))
