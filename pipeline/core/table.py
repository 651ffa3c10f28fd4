"""Tables: a path, a schema, a key, and what is wrong with a frame in one line a cell.

pandera checks; the messages are ours, one line a cell, with file, row (or line) and column.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pyarrow
from pandera.engines.pandas_engine import Engine
from pandera.errors import SchemaError, SchemaErrors

from momentrank.errors import MomentRankError
from momentrank.ids import is_utf8
from pipeline.core import csv_files, files

SHOWN_PROBLEMS = 5
INSTANT = "datetime64[us, UTC]"
WORK = Path("datasets/work")
"""The folder of what stages make on the way."""


class TableError(MomentRankError):
    """A table whose content breaks its schema, with file, row (or line) and column."""


@dataclass(frozen=True)
class Table:
    """A table on disk: its path, the schema of its rows, and its key."""

    path: Path
    schema: pa.DataFrameSchema
    key: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """The column names, in order."""
        return list(self.schema.columns)

    def empty(self) -> pd.DataFrame:
        """Return the table without rows, with the right dtypes."""
        return self._empty.copy()

    @cached_property
    def _empty(self) -> pd.DataFrame:
        return self.check(pd.DataFrame({name: [] for name in self.columns}))

    def check(self, frame: pd.DataFrame, where: str = "row") -> pd.DataFrame:
        """Return `frame` with the schema's dtypes, or say which cells break it.

        Raises:
            TableError: a column is missing or unknown, a cell is of the wrong type or
                value, or a key appears twice. Rows are named by their index label.
        """
        self._raise(_column_problems(self.columns, list(frame.columns)))
        timed, problems = _parse_instants(where, frame[self.columns], self.schema)
        self._raise(problems)
        checked = coerce_valid(self.schema, timed)
        try:
            checked = self.schema.validate(timed, lazy=True) if checked is None else checked
        except SchemaErrors as exc:
            problems = _cell_problems(where, exc.failure_cases)
        else:
            problems = _key_problems(where, checked, self.key)
        self._raise(problems)  # not chained: pandera's own text repeats every failing cell
        return checked

    def _raise(self, problems: list[str]) -> None:
        more = len(problems) - SHOWN_PROBLEMS
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

    def write(self, frame: pd.DataFrame, path: Path | None = None) -> None:
        """Check the table and write it whole or not at all; the index is not kept."""
        table = replace(self, path=path or self.path)
        checked = table.check(frame.reset_index(drop=True))
        if table.path.suffix == ".csv":
            csv_files.write_csv(table.path, checked)
        else:
            with files.unfinished(table.path, "wb") as stream:
                checked.to_parquet(stream, index=False)


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
    keys = frame.loc[frame.duplicated(list(key), keep=False), list(key)]
    return [
        f"{where} {index}, {', '.join(key)}: {', '.join(map(str, values))} appears twice"
        for index, *values in keys.itertuples(name=None)
    ]


def coerce_valid(schema: pa.DataFrameSchema, frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return what `schema.validate` returns of a valid frame; None if it would raise.

    It takes a third of the time: pandera prepares a report of what fails before it knows whether
    anything does.
    """
    columns = {}
    try:
        for name, column in schema.columns.items():
            cells = column.coerce_dtype(frame[name])
            if not _is_valid(column, cells):
                return None
            columns[name] = cells
    except SchemaError:
        return None
    return frame.assign(**columns)


def _is_valid(column: pa.Column, cells: pd.Series) -> bool:
    if not column.nullable and cells.isna().any():
        return False
    of_dtype = column.dtype.check(Engine.dtype(cells.dtype), cells)
    return bool(np.all(of_dtype)) and all(check(cells).check_passed for check in column.checks)


def _parse_instants(
    where: str, frame: pd.DataFrame, schema: pa.DataFrameSchema
) -> tuple[pd.DataFrame, list[str]]:
    """Read times in any form of ISO 8601, also several in one column, and in no other."""
    problems = []
    for name in [name for name, column in schema.columns.items() if str(column.dtype) == INSTANT]:
        instants = pd.to_datetime(frame[name], format="ISO8601", utc=True, errors="coerce")
        unread = frame.loc[instants.isna() & frame[name].notna(), name]
        problems += [
            f"{where} {index}, {name}: {text!r} is not a date and time"
            for index, text in unread.items()
        ]
        frame = frame.assign(**{name: instants})
    return frame, problems


def _cell_problems(where: str, cases: pd.DataFrame) -> list[str]:
    # Only a cell's first problem is shown: what is not a number is not in range either.
    first = cases.drop_duplicates(["column", "index"])
    of_one_cell = first["index"].notna()
    shown = first[of_one_cell | (first.groupby("column").cumcount() == 0)]
    cells = shown[["index", "column", "check", "failure_case"]].astype(object)
    return [_cell_problem(where, *cell) for cell in cells.itertuples(index=False, name=None)]


def _cell_problem(
    where: str, index: str | float | None, column: str, check: str, value: object
) -> str:
    expected = _KINDS.get(check, check)
    if pd.isna(index):  # pandas refused the column, and does not say for which cell
        return f"{column}: a cell is not {expected}"
    if check == "not_nullable" or value is None or value == "":
        return f"{where} {index}, {column}: empty"
    shown = value.item() if isinstance(value, np.generic) else value
    return f"{where} {index}, {column}: {shown!r} is not {expected}"


_KINDS = {
    "coerce_dtype('int64')": "a whole number",
    "coerce_dtype('Int64')": "a whole number",
    "coerce_dtype('float32')": "a number",
    "coerce_dtype('float64')": "a number",
    "coerce_dtype('string[pyarrow]')": "UTF-8 text",
}
