"""Parquet in batches: files of any length, written and read with the memory of one row group."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from pipeline.core import files

ROWS = 131_072
"""Rows per batch and per row group, however a table is made."""


def count_rows(path: Path) -> int:
    """Count the rows of a Parquet file; 0 if it can't be read, which its reader then reports."""
    try:
        return int(parquet.read_metadata(path).num_rows)
    except (pa.ArrowException, OSError):
        return 0


def read(path: Path) -> Iterator[pd.DataFrame]:
    """Yield a file's rows in order, numbered from 0 in the index; an empty file is one frame.

    Raises:
        FileError: the file is missing, or not readable as Parquet.
    """
    first = 0
    try:
        with parquet.ParquetFile(path) as source:
            for batch in source.iter_batches(ROWS):
                frame = batch.to_pandas()
                yield frame.set_axis(pd.RangeIndex(first, first + len(frame)))
                first += len(frame)
            if not first:
                yield source.schema_arrow.empty_table().to_pandas()
    except (pa.ArrowException, OSError) as exc:
        raise files.FileError(f"{path}: not readable as Parquet ({exc})") from exc


def write(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    """Write tables one after the other, whole or not at all.

    How their rows are divided does not show: row groups have `ROWS` rows.
    """
    with (
        files.unfinished(path, "wb") as stream,
        parquet.ParquetWriter(stream, schema, compression="snappy") as writer,
    ):
        for group in _regroup(tables, schema):
            writer.write_table(group.combine_chunks())


def _regroup(tables: Iterable[pa.Table], schema: pa.Schema) -> Iterator[pa.Table]:
    """Yield tables of `ROWS` rows, then one with the remaining rows, or an empty one."""
    held, written = schema.empty_table(), 0
    for table in tables:
        held = pa.concat_tables([held, table.cast(schema)])
        while held.num_rows >= ROWS:
            yield held[:ROWS]
            held, written = held[ROWS:], written + 1
    if held.num_rows or not written:
        yield held
