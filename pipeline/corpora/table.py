"""Any table of moments: CSV, JSON lines or Parquet, its columns named in `ingest.columns`."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from pipeline import csv_files, files
from pipeline.corpora.rows import Row, stable_id, unreadable
from pipeline.corpora.sources import source_files
from pipeline.params import Columns

Placed = tuple[Row, Mapping[str, Any]]


def read(source: Path, columns: Columns) -> Iterator[Row]:
    """Yield the moments of one table, or of a folder of them.

    `columns` maps our field (`video_id`, `start`, ...) to the table's column. Without a
    column for `moment_id` the ids are made of what the row says; without one for
    `modality` every description is visual.

    Raises:
        FileError: a file is unreadable, of another suffix, or lacks a named column.
    """
    for path in source_files(source, *_READERS):
        if path.suffix not in _READERS:
            raise files.FileError(f"{path}: a table is one of {list(_READERS)}")
        for row, fields in _READERS[path.suffix](path, columns):
            yield row if row.problem else _fill(row, fields, columns)


def _fill(row: Row, fields: Mapping[str, Any], columns: Columns) -> Row:
    values: dict[str, Any] = {ours: fields.get(theirs) for ours, theirs in columns.items()}
    row = row._replace(**values)
    if "moment_id" in columns:
        return row
    return row._replace(moment_id=stable_id(row.video_id, row.start, row.end, row.description))


def _json_lines(path: Path, _: Columns) -> Iterator[Placed]:
    for record in files.read_json_lines(path):
        yield unreadable(path, record.line, record.problem), record.fields


def _csv(path: Path, columns: Columns) -> Iterator[Placed]:
    header, rows = csv_files.read_rows(path, list(columns.values()))
    for line, cells in rows:
        problem = "" if len(cells) == len(header) else "wrong-number-of-cells"
        fields = {name: cell or None for name, cell in zip(header, cells, strict=False)}
        yield unreadable(path, line, problem), fields


def _parquet(path: Path, columns: Columns) -> Iterator[Placed]:
    try:
        table = parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as exc:
        raise files.FileError(f"{path}: not readable as Parquet ({exc})") from exc
    if missing := [name for name in columns.values() if name not in table.column_names]:
        raise files.FileError(f"{path}: column {missing[0]!r} is missing")
    # Without pandas, which would turn integers beside a null into floats, and so change ids.
    for number, fields in enumerate(table.select(sorted({*columns.values()})).to_pylist()):
        yield Row(file=path.name, item=f"row {number}"), fields


_READERS: dict[str, Callable[[Path, Columns], Iterator[Placed]]] = {
    ".csv": _csv,
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}
