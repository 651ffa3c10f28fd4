"""Tables: a path, their columns, a key, and one line for each wrong cell of a frame."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow
from pandas.api.types import pandas_dtype

from momentrank.errors import MomentRankError
from momentrank.ids import is_utf8
from pipeline.core import batches, csv_files, files
from pipeline.core.validation import RowRule

SHOWN_PROBLEMS = 5
WORK = Path("datasets/work")
"""The folder of the stages' intermediate results."""


class TableError(MomentRankError):
    """A table whose content breaks its schema, with file, row (or line) and column."""


Cells = Any
"""A column's cells: a series, or its array, of numpy or of pandas."""


class Column(NamedTuple):
    """A column of a table; `is_valid` marks the cells, none of them empty, that are as `expected`.

    It gets the column's array. A table without the column, of an earlier version, has `default` in
    it, if there is one.
    """

    dtype: str
    is_valid: Callable[[Cells], Any] | None = None
    expected: str = ""
    nullable: bool = False
    default: str | None = None


class Problem(NamedTuple):
    """What is wrong with a cell, in the order in which problems are reported."""

    column: int
    row: float
    text: str


@dataclass(frozen=True)
class Table:
    """A table on disk: its path, its columns by name, its key, and a rule for each row."""

    path: Path
    definitions: tuple[tuple[str, Column], ...]
    key: tuple[str, ...]
    rule: RowRule | None = None

    @property
    def columns(self) -> list[str]:
        """The column names, in order."""
        return [name for name, _ in self.definitions]

    def empty(self) -> pd.DataFrame:
        """Return the table without rows, with the right dtypes."""
        return self._empty.copy()

    @cached_property
    def _empty(self) -> pd.DataFrame:
        return self.check(pd.DataFrame({name: [] for name in self.columns}))

    def check(self, frame: pd.DataFrame, where: str = "row") -> pd.DataFrame:
        """Return `frame` with the schema's dtypes, or report the cells that break it.

        Raises:
            TableError: a column is missing or unknown, a cell is of the wrong type or
                value, or a key appears twice. Rows are named by their index label.
        """
        checked, problems = self._check_columns(frame, where)
        texts = [problem.text for problem in problems] or _key_problems(where, checked, self.key)
        self._raise(texts)
        return checked

    def check_batches(self, frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Check a table in batches whose index numbers its rows; `check_key` checks its key.

        Raises:
            TableError: as in `check`, once all batches have been checked.
        """
        first: list[Problem] = []
        count = 0
        for frame in frames:
            checked, problems = self._check_columns(frame, "row")
            first, count = sorted([*first, *problems])[:SHOWN_PROBLEMS], count + len(problems)
            if not count:
                yield checked
        self._raise([problem.text for problem in first], count)

    def refuse_repeats(self, rows: pd.DataFrame, count: int) -> None:
        """Stop if a key appears twice: `rows` are the first of `count` such rows."""
        self._raise(_repeats("row", rows, self.key), count)

    def _check_columns(self, frame: pd.DataFrame, where: str) -> tuple[pd.DataFrame, list[Problem]]:
        absent = {
            name: column.default
            for name, column in self.definitions
            if column.default is not None and name not in frame
        }
        frame = frame.assign(**absent) if absent else frame
        self._raise(_column_problems(self.columns, list(frame.columns)))
        return self._check_cells(frame, where)

    def _check_cells(self, frame: pd.DataFrame, where: str) -> tuple[pd.DataFrame, list[Problem]]:
        coerced: dict[str, pd.Series] = {}
        problems: list[Problem] = []
        for at, (name, column) in enumerate(self.definitions):
            cells, wrong = frame[name], dict[Any, str]()
            if cells.dtype != column.dtype:
                cells, wrong = coerce(cells, column.dtype)
                coerced[name] = cells
            wrong |= _find_wrong(column, cells)
            problems += (
                Problem(at, row, f"{where} {row}, {name}: {wrong[row]}") for row in sorted(wrong)
            )
        rows = frame[self.columns].assign(**coerced)
        return rows, problems or _rule_problems(where, rows, self.rule)

    def _raise(self, problems: list[str], count: int | None = None) -> None:
        more = (count or len(problems)) - SHOWN_PROBLEMS
        shown = problems[:SHOWN_PROBLEMS] + ([f"and {more} more"] if more > 0 else [])
        if shown:
            raise TableError("\n".join(f"{self.path}: {problem}" for problem in shown))

    def read(self, path: Path | None = None) -> pd.DataFrame:
        """Read and check the table.

        Raises:
            FileError: the file is missing or not of its format.
            TableError: its content breaks the schema.
        """
        table = replace(self, path=path or self.path)
        if table.path.suffix == ".csv":
            return table.check(_read_csv(table.path), "line").reset_index(drop=True)
        return table.check(_read_parquet(table.path))

    def read_or_empty(self) -> pd.DataFrame:
        """Read and check the table, as `read`; without the file it is empty."""
        return self.read() if self.path.is_file() else self.empty()

    def count_rows(self) -> int:
        """Count a Parquet file's rows by its footer; 0 if it can't be read, as `read` reports."""
        return batches.count_rows(self.path)

    def read_batches(self) -> Iterator[pd.DataFrame]:
        """Read and check a Parquet file in batches, except its key; errors as in `read`."""
        return self.check_batches(batches.read(self.path))

    def write_batches(self, frames: Iterable[pd.DataFrame]) -> None:
        """Check a Parquet file's rows, except its key, and write the same bytes as `write`."""
        schema = pyarrow.Table.from_pandas(self.empty(), preserve_index=False).schema
        checked = self.check_batches(_number(frames))
        to_arrow = partial(pyarrow.Table.from_pandas, preserve_index=False)
        batches.write(self.path, schema, map(to_arrow, checked))

    def write(self, frame: pd.DataFrame, path: Path | None = None) -> None:
        """Check the table and write it whole or not at all; the index is not kept."""
        table = replace(self, path=path or self.path)
        checked = table.check(frame.reset_index(drop=True))
        if table.path.suffix == ".csv":
            csv_files.write_csv(table.path, checked)
        else:
            arrow = pyarrow.Table.from_pandas(checked, preserve_index=False)
            batches.write(table.path, arrow.schema, [arrow])


def _read_csv(path: Path) -> pd.DataFrame:
    if not path.is_file():
        in_work = WORK.absolute() in path.absolute().parents
        remedy = _remedy(path) if in_work else f"`git restore {path}` brings it back"
        raise files.FileError(f"{path}: no such file; {remedy}")
    frame = csv_files.read_csv(path)
    for name in frame:
        for line, cell in frame[name].items():
            if cell and not is_utf8(cell):
                raise TableError(f"{path}: line {line}, {name}: not UTF-8")
    return frame


def _read_parquet(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise files.FileError(f"{path}: no such file; {_remedy(path)}")
    try:
        return pd.read_parquet(path)
    except (pyarrow.ArrowException, OSError) as exc:
        raise files.FileError(f"{path}: not readable as Parquet ({exc})") from exc


def _remedy(path: Path) -> str:
    return f"`{files.command_for(path) or 'dvc repro'}` makes it"


def _column_problems(wanted: list[str], present: list[str]) -> list[str]:
    missing = [f"column {name!r} is missing" for name in wanted if name not in present]
    return missing + [f"unknown column {name!r}" for name in present if name not in wanted]


def _key_problems(where: str, frame: pd.DataFrame, key: tuple[str, ...]) -> list[str]:
    twice = frame.duplicated(list(key), keep=False)
    return _repeats(where, frame[twice], key) if twice.any() else []


def _rule_problems(where: str, frame: pd.DataFrame, rule: RowRule | None) -> list[Problem]:
    if rule is None:
        return []
    broken = frame.index[~rule.holds(frame)]
    return [Problem(0, row, f"{where} {row}: {rule.error}") for row in broken]


def _repeats(where: str, rows: pd.DataFrame, key: tuple[str, ...]) -> list[str]:
    return [
        f"{where} {index}, {', '.join(key)}: {', '.join(map(str, values))} appears twice"
        for index, *values in rows[list(key)].itertuples(name=None)
    ]


WHOLE = ("int64", "Int64")
KINDS = dict.fromkeys(WHOLE, "a whole number")
KINDS |= {"float32": "a number", "float64": "a number", "str": "UTF-8 text"}
FAILURES = (TypeError, ValueError, OverflowError, pyarrow.ArrowException)


def coerce(cells: pd.Series, dtype: str) -> tuple[pd.Series, dict[Any, str]]:
    """Return cells as a dtype; and by row, why some are not of it, in which case all stay."""
    try:
        return _cast(cells, dtype), {}
    except FAILURES:
        pass
    alone, wrong = [], {}
    for row, cell in cells.items():
        try:
            alone.append(_cast(pd.Series([cell], [row], dtype=object), dtype))
        except FAILURES:
            kind = KINDS.get(dtype, "a date and time")
            wrong[row] = "empty" if pd.isna(cell) else f"{_shown(cell)} is not {kind}"
    return (cells, wrong) if wrong else (pd.concat(alone), {})


def _cast(cells: pd.Series, dtype: str) -> pd.Series:
    """Return cells as a dtype, with the same values.

    Times may have any form of ISO 8601, even mixed in one column, and no other form.
    """
    if dtype.startswith("datetime"):
        cells = pd.to_datetime(cells, format="ISO8601", utc=True)
    cast: pd.Series = cells.astype(pandas_dtype(dtype))
    if dtype in WHOLE and (cells.dropna().astype("float64") % 1).any():
        raise ValueError
    return cast


def _find_wrong(column: Column, cells: pd.Series) -> dict[Any, str]:
    """Return by row why cells, all of the column's dtype or all as they were, are wrong."""
    empty = cells.isna().to_numpy()
    full = cells[~empty] if empty.any() else cells
    wrong = {} if column.nullable else dict.fromkeys(cells.index[empty], "empty")
    if column.is_valid is None or cells.dtype != column.dtype:
        return wrong
    array = full.to_numpy() if isinstance(full.dtype, np.dtype) else full.array  # 3 times faster
    valid = np.asarray(column.is_valid(array), dtype=bool)
    if not valid.all():
        for row, cell in full[~valid].items():
            wrong[row] = f"{_shown(cell)} is not {column.expected}" if cell != "" else "empty"
    return wrong


def _shown(cell: object) -> str:
    return repr(cell.item() if isinstance(cell, np.generic) else cell)


def _number(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    first = 0
    for frame in frames:
        yield frame.set_axis(pd.RangeIndex(first, first + len(frame)))
        first += len(frame)
