"""Encode many texts in chunks: in one process or in many, with the same bits.

Which process encodes a chunk, and when, changes nothing; nor does the number of torch's threads,
as measured (docs/exactness.md).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pipeline.core.engine.text_chunks import map_texts
from pipeline.core.sections import Engine
from pipeline.retrieval.embeddings import Ids
from pipeline.retrieval.similarity import Vectors

if TYPE_CHECKING:
    from pipeline.retrieval.encoder import Encoder

STAGE = "embed"


class Encoding(NamedTuple):
    """How texts are encoded: `load` returns the encoder, and loads it once in each process.

    `facts` names what decides a vector's bits besides its chunk: the encoder and the size of a
    batch. `length` is how many texts make a chunk, `gpus` what a process needs if there are any.
    """

    load: Callable[[], "Encoder"]
    facts: str
    length: int
    gpus: float = 0


def encode(
    ids: Ids, texts: Sequence[str], encoding: Encoding, engine: Engine
) -> Iterator[tuple[Ids, Vectors]]:
    """Encode texts in order; return ids and vectors of each chunk."""
    work = partial(encode_chunk, encoding.load)
    length, facts, gpus = encoding.length, encoding.facts, encoding.gpus
    paths = map_texts(STAGE, work, texts, length, facts, engine=engine, gpus=gpus)
    return (
        (ids[n * length : (n + 1) * length], np.load(path, mmap_mode="r", allow_pickle=False))
        for n, path in enumerate(paths)
    )


def encode_chunk(load: Callable[[], "Encoder"], texts: list[str], path: Path) -> None:
    """Write the vectors of a chunk, (n, d)."""
    with path.open("wb") as stream:
        np.save(stream, load().encode(texts))
