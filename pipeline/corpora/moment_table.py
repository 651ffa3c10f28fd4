"""Any table of moments: CSV or TSV, JSON lines or Parquet, with columns of the usual names."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
from pyarrow import parquet

from pipeline.core import csv_files, files
from pipeline.core.batches import ROWS
from pipeline.core.sections import Column, Columns
from pipeline.corpora.columns import locate
from pipeline.corpora.rows import Row, stable_id, unreadable
from pipeline.corpora.sources import Portion, source_files
from pipeline.corpora.times import seconds

FIRST = 100
"""JSON lines whose keys define the columns: no line needs to have all of them."""
Places = Iterator[tuple[Row, Mapping[str, Any]]]


class _Table(NamedTuple):
    """A table: its columns, how to read some of them, and whether 0,5 is half a second."""

    header: list[str]
    rows: Callable[[Collection[str]], Places]
    decimal_comma: bool = False


def list_files(source: Path) -> list[Path]:
    """List the tables of a folder, or `source` if it is a table."""
    return source_files(source, tuple(_READERS))


def read(portion: Portion, columns: Columns) -> Iterator[Row]:
    """Yield the moments of a table.

    `columns` maps our field (`video_id`, `start`, ...) to the table's column, or to None if it has
    no column; the others are found by their usual names (`pipeline.corpora.columns`). Without a
    column for `moment_id`, ids are made from the row's content; without one for `modality`, every
    description is visual; without one for `duration`, durations are read from the videos.

    Raises:
        FileError: the file is unreadable, has another suffix, lacks a required or named column, or
            has several for one field.
    """
    path = portion.path
    kind = path.suffix.lower()
    if kind not in _READERS:
        raise files.FileError(f"{path}: save it as one of {', '.join(_READERS)}")
    table = _READERS[kind](portion)
    located = locate(path, table.header, columns) if table.header else {}
    for row, fields in table.rows({*located.values()}):
        yield row if row.problem else _fill(row, fields, located, table.decimal_comma)


def _fill(
    row: Row, fields: Mapping[str, Any], columns: Mapping[Column, str], decimal_comma: bool
) -> Row:
    values: dict[str, Any] = {ours: fields.get(theirs) for ours, theirs in columns.items()}
    row = row._replace(**values)
    if "moment_id" not in columns:
        moment_id = stable_id(row.video_id, row.start, row.end, row.description)
        row = row._replace(moment_id=moment_id)
    read = partial(seconds, decimal_comma=decimal_comma)
    return row._replace(start=read(row.start), end=read(row.end), duration=read(row.duration))


def _json_lines(portion: Portion) -> _Table:
    first = islice(files.read_json_lines(portion.path), FIRST)
    header = list(dict.fromkeys(name for record in first for name in record.fields))
    return _Table(header, partial(_json_rows, portion))


def _json_rows(portion: Portion, _: Collection[str]) -> Places:
    for record in files.read_json_lines(*portion):
        yield unreadable(portion.path, record.line, record.problem), record.fields


def _csv(portion: Portion) -> _Table:
    sheet = csv_files.read_sheet(portion.path)
    return _Table(sheet.header, partial(_csv_rows, portion.path, sheet), sheet.delimiter != ",")


def _csv_rows(path: Path, sheet: csv_files.Sheet, _: Collection[str]) -> Places:
    for line, cells in sheet.rows:
        problem = "" if len(cells) == len(sheet.header) else "wrong-number-of-cells"
        fields = {name: cell or None for name, cell in zip(sheet.header, cells, strict=False)}
        yield unreadable(path, line, problem), fields


def _parquet(portion: Portion) -> _Table:
    path = portion.path
    with _explain(path):
        header = parquet.read_schema(path).names
    return _Table(header, partial(_parquet_rows, path))


def _parquet_rows(path: Path, columns: Collection[str]) -> Places:
    # Without pandas, which would turn integers next to a null into floats, and so change ids.
    with _explain(path), parquet.ParquetFile(path) as source:
        batches = source.iter_batches(ROWS, columns=sorted(columns))
        rows = chain.from_iterable(batch.to_pylist() for batch in batches)
        for number, fields in enumerate(rows):
            yield Row(file=path.name, item=f"row {number}"), fields


@contextmanager
def _explain(path: Path) -> Iterator[None]:
    try:
        yield
    except (pyarrow.ArrowException, OSError) as exc:
        raise files.FileError(f"{path}: not readable as Parquet ({exc})") from exc


_READERS: dict[str, Callable[[Portion], _Table]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".jsonl": _json_lines,
    ".parquet": _parquet,
}
