"""Tables: a path, a schema, a key, and one line for each wrong cell of a frame.

pandera checks; the messages are ours, one line per cell, with file, row (or line) and column.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow

from momentrank.errors import MomentRankError
from momentrank.ids import is_utf8
from pipeline.core import batches, csv_files, files
from pipeline.core.validation import RowRule

if TYPE_CHECKING:
    import pandera.pandas as pa

SHOWN_PROBLEMS = 5
WORK = Path("datasets/work")
"""The folder of the stages' intermediate results."""


class TableError(MomentRankError):
    """A table whose content breaks its schema, with file, row (or line) and column."""


Cells = Any
"""A column's cells: a series, or its array, of numpy or of pandas."""


class Column(NamedTuple):
    """A column of a schema; `is_valid` marks the cells, none of them empty, that are as `expected`.

    It gets the column's array; pandera, which names the cells that are not, gives it a series.
    """

    dtype: str
    is_valid: Callable[[Cells], Any] | None = None
    expected: str = ""
    nullable: bool = False


class Problem(NamedTuple):
    """What is wrong with a cell, in the order in which problems are reported."""

    is_of_column: bool
    """False: the column could not be converted, which comes first."""
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

    @property
    def schema(self) -> "pa.DataFrameSchema":
        """The schema of its rows, built on first use."""
        return _build_schema(self.definitions)

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
        self._raise(_column_problems(self.columns, list(frame.columns)))
        checked, problems = self._check_cells(frame, where)
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
            self._raise(_column_problems(self.columns, list(frame.columns)))
            checked, problems = self._check_cells(frame, "row")
            first, count = sorted([*first, *problems])[:SHOWN_PROBLEMS], count + len(problems)
            if not count:
                yield checked
        self._raise([problem.text for problem in first], count)

    def refuse_repeats(self, rows: pd.DataFrame, count: int) -> None:
        """Stop if a key appears twice: `rows` are the first of `count` such rows."""
        self._raise(_repeats("row", rows, self.key), count)

    def _check_cells(self, frame: pd.DataFrame, where: str) -> tuple[pd.DataFrame, list[Problem]]:
        rows = frame[:] if list(frame.columns) == self.columns else frame[self.columns]
        from pandera.errors import SchemaErrors  # noqa: PLC0415  (--help needs none)

        timed, problems = _parse_instants(where, rows, self.schema)
        if problems:
            return timed, problems
        if (checked := coerce_valid(self.schema, timed)) is None:
            try:
                checked = self.schema.validate(timed, lazy=True)
            except SchemaErrors as exc:  # whose own text repeats every failing cell
                return timed, _cell_problems(where, exc.failure_cases, self.columns)
        return checked, _rule_problems(where, checked, self.rule)

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


@cache
def _build_schema(definitions: tuple[tuple[str, Column], ...]) -> "pa.DataFrameSchema":
    import pandera.pandas as pa  # noqa: PLC0415  (--help needs none)

    columns = {}
    for name, (dtype, is_valid, expected, nullable) in definitions:
        checks = [pa.Check(is_valid, error=expected)] if is_valid else []
        valid = {"is_valid": is_valid}
        columns[name] = pa.Column(dtype, checks, nullable=nullable, coerce=True, metadata=valid)
    return pa.DataFrameSchema(columns)


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
    return [Problem(False, 0, row, f"{where} {row}: {rule.error}") for row in broken]


def _repeats(where: str, rows: pd.DataFrame, key: tuple[str, ...]) -> list[str]:
    return [
        f"{where} {index}, {', '.join(key)}: {', '.join(map(str, values))} appears twice"
        for index, *values in rows[list(key)].itertuples(name=None)
    ]


def coerce_valid(schema: "pa.DataFrameSchema", frame: pd.DataFrame) -> pd.DataFrame | None:
    """Return what `schema.validate` returns of a valid frame; None if it would raise.

    It takes a sixth of the time: pandera prepares a report of failures before it knows whether
    there are any, and checks the type of each cell even in a column with the right dtype.
    """
    from pandera.errors import SchemaError  # noqa: PLC0415  (--help needs none)

    coerced = {}
    try:
        for name, column in schema.columns.items():
            cells = frame[name]
            if cells.dtype != column.dtype.type:
                cells = coerced[name] = column.coerce_dtype(cells)
                if not _has_dtype(column, cells):
                    return None
            if not _is_valid(column, cells):
                return None
    except SchemaError:
        return None
    return frame.assign(**coerced) if coerced else frame


def _has_dtype(column: "pa.Column", cells: pd.Series) -> bool:
    from pandera.engines.pandas_engine import Engine  # noqa: PLC0415  (--help needs none)

    of_dtype = column.dtype.check(Engine.dtype(cells.dtype), cells)
    return of_dtype if isinstance(of_dtype, bool) else all(of_dtype)


def _is_valid(column: "pa.Column", cells: pd.Series) -> bool:
    array = cells.to_numpy() if isinstance(cells.dtype, np.dtype) else cells.array  # 3 times faster
    full = array[~empty] if (empty := pd.isna(array)).any() else array
    is_valid = column.metadata["is_valid"]  # which pandera calls, too
    valid = is_valid is None or bool(is_valid(full).all())
    return valid and (column.nullable or len(full) == len(array))


def _number(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    first = 0
    for frame in frames:
        yield frame.set_axis(pd.RangeIndex(first, first + len(frame)))
        first += len(frame)


def _parse_instants(
    where: str, frame: pd.DataFrame, schema: "pa.DataFrameSchema"
) -> tuple[pd.DataFrame, list[Problem]]:
    """Read times in any form of ISO 8601, even mixed in one column, and in no other form."""
    problems = []
    for at, (name, column) in enumerate(schema.columns.items()):
        dtype = column.dtype.type
        if not isinstance(dtype, pd.DatetimeTZDtype) or frame[name].dtype == dtype:
            continue
        instants = pd.to_datetime(frame[name], format="ISO8601", utc=True, errors="coerce")
        unread = frame.loc[instants.isna() & frame[name].notna(), name]
        problems += [
            Problem(True, at, index, f"{where} {index}, {name}: {text!r} is not a date and time")
            for index, text in unread.items()
        ]
        frame = frame.assign(**{name: instants})
    return frame, problems


def _cell_problems(where: str, cases: pd.DataFrame, columns: list[str]) -> list[Problem]:
    # Only a cell's first problem is shown: what is not a number is not in range either.
    first = cases.drop_duplicates(["column", "index"])
    shown = first[first["index"].notna() | (first.groupby("column").cumcount() == 0)]
    positions = {name: position for position, name in enumerate(columns)}
    problems = []
    for context, *cell in shown[_CASE].astype(object).itertuples(index=False, name=None):
        index, name, _, _ = cell
        row = -1 if pd.isna(index) else index
        text = _cell_problem(where, *cell)
        problems.append(Problem(context == "Column", positions.get(name, -1), row, text))
    return sorted(problems)


_CASE = ["schema_context", "index", "column", "check", "failure_case"]


def _cell_problem(
    where: str, index: str | float | None, column: str, check: str, value: object
) -> str:
    expected = _KINDS.get(check, check)
    if pd.isna(index):  # pandas refused the column, and does not name the cell
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
