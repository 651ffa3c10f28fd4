"""Texts in batches, in shards: a batch is done as a whole, wherever that is.

What a model says of a text depends, in its last bits, on the batch that the text is read in. So
batches are cut from all texts before they are handed out, and shards consist of whole batches.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core import files
from pipeline.core.engine.parts import part_key
from pipeline.core.engine.shards import map_shards
from pipeline.core.sections import Engine

Batch = Sequence[str]
Work = Callable[[Sequence[Batch], Path], None]
"""Does some batches and writes one file; a function of a module, or a partial of one."""


class Share(NamedTuple):
    """The batches of one shard: row groups of a file."""

    file: Path
    numbers: Sequence[int]


class Part(NamedTuple):
    """What was made of some batches, by their numbers, in their order."""

    numbers: Sequence[int]
    path: Path


def map_batches(  # noqa: PLR0913  (what, by what, and where)
    stage: str,
    work: Work,
    texts: Sequence[str],
    length: int,
    facts: str,
    *,
    engine: Engine,
    gpus: float = 0,
) -> list[Part]:
    """Let `work` do the texts, `length` at a time, in as many shards as `engine` asks for.

    `facts` names all that the work depends on besides its texts.
    """
    text = pa.table({"text": pa.array(texts, pa.large_string())})
    key = part_key(facts, length, hashlib.sha256(repr(list(texts)).encode()).hexdigest())
    file = Path(engine.folder).absolute() / stage / f"texts-{key}.parquet"
    with files.unfinished(file, "wb") as stream:
        pq.write_table(text, stream, row_group_size=length)
    every = range(-(-len(texts) // length))
    shares = [every[shard :: engine.shards] for shard in range(engine.shards)]
    given = {
        part_key(key, shard, engine.shards): Share(file, numbers)
        for shard, numbers in enumerate(shares)
        if numbers
    }
    paths = map_shards(stage, partial(_do, work), given, engine, gpus)
    return [Part(given[key].numbers, path) for key, path in paths.items()]


def _do(work: Work, share: Share, path: Path) -> None:
    with pq.ParquetFile(share.file) as texts:
        work([texts.read_row_group(n)["text"].to_pylist() for n in share.numbers], path)
