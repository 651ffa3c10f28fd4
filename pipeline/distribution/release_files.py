"""A file of the release before it is written: its bytes, and how many rows they hold."""

import csv
import hashlib
import io
from itertools import chain
from typing import Any, NamedTuple

import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core.csv_files import quoting
from pipeline.core.files import ManifestEntry


class ReleaseFile(NamedTuple):
    """The content of a file; `rows` if it is a table or a list."""

    data: bytes
    rows: int | None = None

    @property
    def sha256(self) -> str:
        """The hash, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def entry(self) -> ManifestEntry:
        """The manifest's entry."""
        return ManifestEntry(self.sha256, len(self.data), self.rows)


ReleaseFiles = dict[str, ReleaseFile]
"""Files by their path below `datasets/release/`."""


def json_list(records: list[dict[str, Any]]) -> ReleaseFile:
    """Return a JSON array, one object per line."""
    lines = b",\n".join(orjson.dumps(record) for record in records)
    return ReleaseFile(b"[\n" + lines + b"\n]\n" if records else b"[]\n", len(records))


def json_object(value: object) -> ReleaseFile:
    """Return an indented JSON object."""
    return ReleaseFile(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def csv_rows(frame: pd.DataFrame) -> ReleaseFile:
    """Return numbers and ids as CSV, for programs: ids are the same as everywhere else.

    A corpus's id or a run's name may look like a formula. It gets no prefix, as that would change
    the id.
    """
    stream = io.StringIO()
    cells = [[None if pd.isna(cell) else cell for cell in frame[name].tolist()] for name in frame]
    quoted = quoting(chain.from_iterable(cells))
    writer = csv.writer(stream, lineterminator="\n", quoting=quoted)
    writer.writerow(list(frame.columns))
    writer.writerows(zip(*cells, strict=True))
    return ReleaseFile(stream.getvalue().encode(), len(frame))


def columns(frame: pd.DataFrame, *names: str) -> list[list[Any]]:
    """Return a frame's columns as lists."""
    return [frame[name].tolist() for name in names]


def parquet(cells: list[list[Any]], schema: pa.Schema) -> ReleaseFile:
    """Return columns as Parquet, without any trace of when or where it was made.

    They are in the schema's order. A table without rows has no row group: `datasets` can't read
    an empty one.
    """
    stream = io.BytesIO()
    table = pa.table(cells, schema=schema)
    with pq.ParquetWriter(stream, schema, compression="zstd") as writer:
        if table.num_rows:
            writer.write_table(table)
    return ReleaseFile(stream.getvalue(), table.num_rows)
