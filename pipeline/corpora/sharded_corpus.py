"""A corpus read in shards: each portion becomes a part, whose rows have the types of the rules.

Portions have one size, and their parts are joined in the order of the corpus, so that neither the
number of shards nor the engine shows. Portions are not divided by video: a row must be read before
its video is known. Steps that involve several rows of a video come later.
"""

import json
import reprlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from pipeline import corpora
from pipeline.core import batches, files
from pipeline.core.engine.parts import part_key
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
    """What one task reads."""

    corpus: str
    portion: Portion
    columns: Columns


def read_in_shards(params: Ingest, engine: Engine) -> list[Path]:
    """Return a Parquet file for each portion of a corpus, in order; errors as in `corpora.read`."""
    source = Path(params.source)
    content = {path.name: files.file_sha256(path) for path in source_files(source, SUFFIXES)}
    columns = {name: params.columns[name] for name in sorted(params.columns)}
    given = {
        part_key(params.corpus, columns, content, portion.path.name, *portion.span): Reading(
            params.corpus, portion, columns
        )
        for portion in corpora.cut(params.corpus, source)
    }
    return list(map_shards(STAGE, write_rows, given, engine, bundled=True).values())


def write_rows(reading: Reading, path: Path) -> None:
    """Write a portion's rows."""
    batches.write(path, SCHEMA, _convert(corpora.read_portion(*reading)))


def _convert(rows: Iterator[Row]) -> Iterator[pa.Table]:
    encode = json.JSONEncoder(default=reprlib.repr).encode
    while some := [tuple(row) for row in islice(rows, ROWS)]:
        frame = rules.convert(rules.as_frame(some))
        columns = {
            name: pa.array(frame[name], kind, from_pandas=True) for name, kind in CONVERTED.items()
        }
        yield pa.table(columns | {RAW: pa.array(map(encode, some), pa.large_string())})
