"""A corpus read in shards: each portion becomes a part, whose rows have the types of the rules.

Portions have one size, and their parts are joined in the order of the corpus, so that neither the
number of shards nor the engine shows. Portions are not divided by video: a row must be read before
its video is known. Steps that involve several rows of a video come later.
"""

import hashlib
import json
import reprlib
import socket
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from pipeline import corpora
from pipeline.core import batches, files
from pipeline.core.engine.parts import EngineError, Input, part_key, wait_until_visible
from pipeline.core.engine.shards import map_shards
from pipeline.core.sections import Columns, Engine, Ingest
from pipeline.corpora import rules
from pipeline.corpora.rows import Row
from pipeline.corpora.sources import Portion, source_files

STAGE = "ingest"
ROWS = 16_384
"""Rows converted at a time: 30 MB."""
RAW = "raw"
"""The column of the row as read, in JSON; types that JSON lacks are written as in `rejected`."""
CONVERTED = {
    **dict.fromkeys(["moment_id", "video_id"], pa.large_string()),
    **dict.fromkeys(["start", "end", "duration"], pa.float64()),
    **dict.fromkeys(["description", "modality", "problem"], pa.large_string()),
    **dict.fromkeys(["of_moment", "cleaned"], pa.bool_()),
}
"""The other columns: all but a row's place in its file."""
SUFFIXES = (".csv", ".json", ".jsonl", ".parquet", ".tsv", ".txt")
"""Suffixes of the files in a folder that its rows may depend on."""
SCHEMA = pa.schema({**CONVERTED, RAW: pa.large_string()})


class Reading(NamedTuple):
    """What one task reads: a portion of SHA-256 `sha256`, and the files that are read with it."""

    corpus: str
    portion: Portion
    columns: Columns
    sha256: str
    others: tuple[Input, ...]


def read_in_shards(params: Ingest, engine: Engine) -> list[Path]:
    """Return a Parquet file for each portion of a corpus, in order; errors as in `corpora.read`."""
    source = Path(params.source)
    portions = {portion: hash_portion(portion) for portion in corpora.cut(params.corpus, source)}
    read = {portion.path for portion in portions}
    others = tuple(
        Input(path.absolute(), files.file_sha256(path))
        for path in source_files(source, SUFFIXES)
        if path not in read
    )
    content = {path.name: sha256 for path, sha256 in others}
    columns = {name: params.columns[name] for name in sorted(params.columns)}
    given = {
        part_key(params.corpus, columns, content, portion.path.name, *portion.span, sha256):
        Reading(params.corpus, portion, columns, sha256, others)
        for portion, sha256 in portions.items()
    }  # fmt: skip
    return list(map_shards(STAGE, write_rows, given, engine, bundled=True).values())


def write_rows(reading: Reading, path: Path) -> None:
    """Write a portion's rows.

    Raises:
        EngineError: this machine sees another corpus, or none.
    """
    corpus, portion, columns, sha256, others = reading
    wait_until_visible(portion.path)
    if hash_portion(portion) != sha256:
        raise EngineError(
            f"{portion.path}: {socket.gethostname()} sees another content than the stage's own"
            " process: it was changed, or is not the same file everywhere (ingest.source)"
        )
    for other in others:
        other.locate()
    batches.write(path, SCHEMA, _convert(corpora.read_portion(corpus, portion, columns)))


def hash_portion(portion: Portion) -> str:
    """Return the SHA-256 of a portion's bytes."""
    path, span = portion
    if span == files.WHOLE:
        return files.file_sha256(path)
    with path.open("rb") as stream:
        stream.seek(span.start)
        return hashlib.sha256(stream.read(int(span.length))).hexdigest()


def _convert(rows: Iterator[Row]) -> Iterator[pa.Table]:
    encode = json.JSONEncoder(default=reprlib.repr).encode
    while some := [tuple(row) for row in islice(rows, ROWS)]:
        frame = rules.convert(rules.as_frame(some))
        columns = {
            name: pa.array(frame[name], kind, from_pandas=True) for name, kind in CONVERTED.items()
        }
        yield pa.table(columns | {RAW: pa.array(map(encode, some), pa.large_string())})
