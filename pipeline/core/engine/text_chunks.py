"""Texts in chunks: a chunk is processed as a whole, on any machine.

A model's output for a text depends, in its last bits, on the text's batch: a batch is padded to
its longest text, and products of other shapes are summed in another order. So all texts are cut
into chunks of whole batches before any chunk is handed out. Each chunk is a part, so that a kill
loses one at most; a shard processes many, and loads its model once.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core import files
from pipeline.core.engine.parts import (
    EngineError,
    part_key,
    stage_folder,
    wait_until_visible,
)
from pipeline.core.engine.shards import map_shards
from pipeline.core.sections import Engine

BATCHES = 16
"""Batches per chunk."""
Work = Callable[[list[str], Path], None]
"""Processes a chunk's texts and writes one file; a module's function, or a partial of one."""


class Chunk(NamedTuple):
    """The texts of a chunk, of hash `digest`: a row group of a file."""

    file: Path
    number: int
    digest: str


def map_texts(  # noqa: PLR0913  (what, by what, and where)
    stage: str,
    work: Work,
    texts: Sequence[str],
    length: int,
    facts: str,
    *,
    engine: Engine,
    gpus: float = 0,
) -> list[Path]:
    """Let `work` process the texts, `length` at a time; return each chunk's file, in order.

    `facts` names everything that the work depends on besides its texts.
    """
    if not texts:
        return []
    digests = [_digest(chunk) for chunk in cut(texts, length)]
    keys = [part_key(facts, length, digest) for digest in digests]
    file = stage_folder(stage, engine) / f"texts-{part_key(*keys)}.parquet"
    with files.unfinished(file, "wb") as stream:  # again: a killed run's may be damaged
        table = pa.table({"text": pa.array(texts, pa.large_string())})
        pq.write_table(table, stream, row_group_size=length)
    chunks = {
        key: Chunk(file, number, digest)
        for number, (key, digest) in enumerate(zip(keys, digests, strict=True))
    }
    paths = map_shards(stage, partial(_do, work), chunks, engine, gpus, bundled=True)
    return [paths[key] for key in keys]


def cut(texts: Sequence[str], length: int) -> list[list[str]]:
    """Return the texts in lists of `length`, the last one shorter."""
    return [list(texts[first : first + length]) for first in range(0, len(texts), length)]


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256(repr(texts).encode()).hexdigest()


def _do(work: Work, chunk: Chunk, path: Path) -> None:
    wait_until_visible(chunk.file)
    try:
        with pq.ParquetFile(chunk.file) as file:
            texts = file.read_row_group(chunk.number)["text"].to_pylist()
    except (pa.ArrowException, OSError) as exc:
        raise EngineError(f"{chunk.file}: not readable ({exc}); run it again") from exc
    if _digest(texts) != chunk.digest:
        raise EngineError(f"{chunk.file}: its texts are not those that were written; run it again")
    work(texts, path)
