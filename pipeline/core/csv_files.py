"""CSV files that people open in a spreadsheet: read with line numbers, written without formulas."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from momentrank.ids import is_utf8
from pipeline.core.files import (
    MAX_LINE_BYTES,
    FileError,
    decode_lines,
    refuse_conflict,
    unfinished,
)

DELIMITERS = ",;\t|"
NOT_UTF8 = (
    "not UTF-8; save the file as UTF-8 (Excel: `CSV UTF-8`; its plain CSV is Windows-1252), or"
    " type: iconv -f CP1252 -t UTF-8 OLD.csv > NEW.csv"
)
_SEPARATOR = re.compile(r'"?sep=([,;\t|])"?\s*', re.IGNORECASE)

csv.field_size_limit(MAX_LINE_BYTES)  # `read_csv` must accept what `write_csv` wrote


def read_csv(path: Path, required: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV file as text; the index is the line on which a row starts.

    Empty cells are null. Cells and names of columns that `defuse` made harmless are restored.

    Raises:
        FileError: the file is missing, malformed or in conflict, a required column is missing,
            a column name appears twice, or a row has too few or too many cells, with its line.
    """
    rows = _csv_rows(path, _unmerged(path))
    header = list(map(restore, next(rows, (1, []))[1]))
    _check_header(path, header, required)
    lines, cells = [], []
    for line, row in rows:
        if len(row) != len(header):
            problem = f"{len(row)} cells where the header has {len(header)}"
            raise FileError(f"{path}, line {line}: {problem}")
        lines.append(line)
        cells.append([restore(cell) if cell else None for cell in row])
    index = pd.Index(lines, name="line", dtype="int64")
    return pd.DataFrame(cells, columns=header, index=index, dtype=object)


def _unmerged(path: Path) -> Iterator[str]:
    for number, line in enumerate(decode_lines(path), 1):
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):
            refuse_conflict(path, line.encode("utf-8", "surrogateescape"), number)
        yield line


class Sheet(NamedTuple):
    """A CSV file as people export it: its columns, and its rows with the line they start on."""

    header: list[str]
    delimiter: str
    rows: Iterator[tuple[int, list[str]]]


def read_sheet(path: Path) -> Sheet:
    """Read a CSV file whose delimiter is a comma, semicolon, tab or bar.

    The header line shows which, or Excel's `sep=;` before it. Empty rows, and the empty cells
    that spreadsheets leave at the end of rows, are skipped.

    Raises:
        FileError: the file is missing or malformed, or a column name appears twice.
    """
    lines = decode_lines(path)
    first, number = next(lines, ""), 1
    if separator := _SEPARATOR.fullmatch(first):
        first, number = next(lines, ""), 2
    delimiter = separator[1] if separator else _delimiter(first)
    rows = _csv_rows(path, chain([first], lines), delimiter, number)
    names = [cell.strip() for cell in next(rows, (1, []))[1]]
    header = _trim(names, 0)
    _check_header(path, [name or f"column {n}" for n, name in enumerate(header, 1)], [])
    used = ((line, _trim(row, len(header))) for line, row in rows if any(map(str.strip, row)))
    return Sheet(header, delimiter, used)


def _delimiter(line: str) -> str:
    """Return the delimiter that gives a header the most cells; the first in a tie."""
    widths = {mark: len(next(csv.reader([line], delimiter=mark), [])) for mark in DELIMITERS}
    return max(DELIMITERS, key=widths.__getitem__)


def _trim(cells: list[str], least: int) -> list[str]:
    """Return cells without the empty ones at their end, but at least the first `least`."""
    end = len(cells)
    while end > least and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def _csv_rows(
    path: Path, lines: Iterable[str], delimiter: str = ",", first: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank with the line on which it starts."""
    reader = csv.reader(lines, strict=True, delimiter=delimiter)
    line = first
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + first
    except csv.Error as exc:
        raise FileError(f"{path}, line {line}: {exc}") from exc


def _check_header(path: Path, header: list[str], required: Sequence[str]) -> None:
    if not all(map(is_utf8, header)):
        raise FileError(f"{path}, line 1: {NOT_UTF8}")
    if missing := [name for name in required if name not in header]:
        raise FileError(f"{path}, line 1: column {missing[0]!r} is missing (found: {header})")
    if len(set(header)) != len(header):
        raise FileError(f"{path}, line 1: a column name appears twice in {header}")


def write_csv(path: Path, frame: pd.DataFrame) -> None:
    """Write a frame as `csv_text`."""
    with unfinished(path) as stream:
        stream.write(csv_text(frame))


def write_csv_batches(path: Path, frames: Callable[[], Iterable[pd.DataFrame]]) -> None:
    """Write all frames (one or more) as `write_csv` would; they are made twice."""
    rule: Literal[0, 2] = max(_quoting(*_defuse(frame)) for frame in frames())
    with unfinished(path) as stream:
        for number, frame in enumerate(frames()):
            stream.write(_csv(_defuse(frame)[0], rule, header=not number))


def csv_text(frame: pd.DataFrame) -> str:
    """Return a frame as CSV without its index; texts and header are made harmless (`defuse`)."""
    safe, texts = _defuse(frame)
    return _csv(safe, _quoting(safe, texts))


def _defuse(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Index]:
    """Return a frame whose texts are harmless, and the names of their columns."""
    texts = frame.select_dtypes(include=["object", "str"]).columns
    safe = frame.astype(dict.fromkeys(texts, object))
    for name in texts:  # not `Series.map`, which turns integers next to a null into floats
        safe[name] = pd.Series([defuse(cell) for cell in safe[name]], safe.index, dtype=object)
    return safe, texts


def _quoting(safe: pd.DataFrame, texts: pd.Index) -> Literal[0, 2]:
    return quoting(chain(safe.columns, *(safe[name] for name in texts)), safe.columns[:1])


def _csv(safe: pd.DataFrame, rule: Literal[0, 2], *, header: bool = True) -> str:
    names = [str(defuse(name)) for name in safe.columns] if header else False
    return str(safe.to_csv(index=False, header=names, lineterminator="\n", quoting=rule))


def quoting(cells: Iterable[object], first: Iterable[str] = ()) -> Literal[0, 2]:
    """Return what Python's writer must quote so that every reader restores the cells.

    It leaves a bare carriage return unquoted; and a byte order mark that begins the `first` cell
    would not be part of its text.
    """
    hostile = any("\r" in cell for cell in cells if isinstance(cell, str))
    marked = any(cell.startswith("\ufeff") for cell in first)
    return csv.QUOTE_NONNUMERIC if hostile or marked else csv.QUOTE_MINIMAL


# The last four are the full-width forms, which some spreadsheets treat alike.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]")


def defuse(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def restore(cell: str) -> str:
    """Undo `defuse`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
