"""The tables that stages hand to each other: one schema each, checked on read and write.

DESIGN.md, section 2. A table is Parquet under `datasets/work/`, or CSV where people edit
or commit it. Times are seconds; a moment is the half-open interval [start, end).
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pyarrow
from pandera.errors import SchemaErrors

from momentrank.errors import MomentRankError
from pipeline import files

MODALITIES = ("v", "t", "vt")
SPLITS = ("val", "test", "train")
WORK = Path("datasets/work")
CAMPAIGN = Path("datasets/campaign")
SHOWN_PROBLEMS = 5
_INSTANT = "datetime64[us, UTC]"


class TableError(MomentRankError):
    """A table whose content breaks its schema, with file, row (or line) and column."""


@dataclass(frozen=True)
class Table:
    """A named table: where it lies and what every row of it must be."""

    path: Path
    schema: pa.DataFrameSchema
    key: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """The column names, in order."""
        return list(self.schema.columns)

    def empty(self) -> pd.DataFrame:
        """Return the table without rows, with the right dtypes."""
        return self.check(pd.DataFrame({name: [] for name in self.columns}))

    def check(self, frame: pd.DataFrame, where: str = "row") -> pd.DataFrame:
        """Return `frame` with the schema's dtypes, or say which cells break it.

        Raises:
            TableError: a column is missing or unknown, a cell is of the wrong type or
                value, or a key occurs twice. Rows are told by their index label.
        """
        self._tell(_column_problems(self.columns, list(frame.columns)))
        timed, problems = _with_instants(where, frame[self.columns], self.schema)
        self._tell(problems)
        try:
            checked = self.schema.validate(timed, lazy=True)
        except SchemaErrors as exc:
            problems = _cell_problems(where, exc.failure_cases)
        else:
            problems = _key_problems(where, checked, self.key)
        self._tell(problems)  # not chained: pandera's own text repeats every failing cell
        return checked

    def _tell(self, problems: list[str]) -> None:
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
            files.write_csv(table.path, checked)
        else:
            with files.atomic(table.path, "wb") as stream:
                checked.to_parquet(stream, index=False)


def _read_csv(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise files.FileError(f"{path}: no such file; `git restore {path}` brings it back")
    frame = files.read_csv(path)
    for name in frame:
        for line, cell in frame[name].items():
            if cell and not files.is_utf8(cell):
                raise TableError(f"{path}: line {line}, {name}: not UTF-8")
    return frame


def _read_parquet(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise files.FileError(f"{path}: no such file; `dvc repro` makes it")
    try:
        return pd.read_parquet(path)
    except (pyarrow.ArrowException, OSError) as exc:
        raise files.FileError(f"{path}: not readable as Parquet ({exc})") from exc


def _column_problems(wanted: list[str], found: list[str]) -> list[str]:
    missing = [f"column {name!r} is missing" for name in wanted if name not in found]
    return missing + [f"unknown column {name!r}" for name in found if name not in wanted]


def _key_problems(where: str, frame: pd.DataFrame, key: tuple[str, ...]) -> list[str]:
    keys = frame.loc[frame.duplicated(list(key), keep=False), list(key)]
    return [
        f"{where} {index}, {', '.join(key)}: {', '.join(map(str, values))} occurs twice"
        for index, *values in keys.itertuples(name=None)
    ]


def _with_instants(
    where: str, frame: pd.DataFrame, schema: pa.DataFrameSchema
) -> tuple[pd.DataFrame, list[str]]:
    """Read times in any form of ISO 8601, also several in one column, and in no other."""
    problems = []
    for name in [name for name, column in schema.columns.items() if str(column.dtype) == _INSTANT]:
        instants = pd.to_datetime(frame[name], format="ISO8601", utc=True, errors="coerce")
        unread = frame.loc[instants.isna() & frame[name].notna(), name]
        problems += [
            f"{where} {index}, {name}: {text!r} is not a date and time"
            for index, text in unread.items()
        ]
        frame = frame.assign(**{name: instants})
    return frame, problems


def _cell_problems(where: str, cases: pd.DataFrame) -> list[str]:
    # A cell's first problem is the one to tell: what is no number is not in range either.
    first = cases.drop_duplicates(["column", "index"])
    of_one_cell = first["index"].notna()
    told = first[of_one_cell | (first.groupby("column").cumcount() == 0)]
    cells = zip(told["index"], told["column"], told["check"], told["failure_case"], strict=True)
    return [_cell_problem(where, *cell) for cell in cells]


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


def _column(dtype: str, *checks: pa.Check, nullable: bool = False) -> pa.Column:
    return pa.Column(dtype, list(checks), nullable=nullable, coerce=True)


def _table(path: Path, key: list[str], /, **columns: pa.Column) -> Table:
    return Table(path, pa.DataFrameSchema(columns), tuple(key))


def _id() -> pa.Column:
    return _column("str", pa.Check.str_length(min_value=1, error="an id"))


def _text() -> pa.Column:
    return _column("str", pa.Check(lambda texts: texts.str.strip() != "", error="text"))


def _one_of(*values: str, nullable: bool = False) -> pa.Column:
    known = pa.Check.isin(values, error=f"one of {', '.join(values)}")
    return _column("str", known, nullable=nullable)


def _time() -> pa.Column:
    finite = pa.Check.in_range(0, np.finfo("float64").max, error="a time of 0 s or more")
    return _column("float64", finite)


def _instant() -> pa.Column:
    return _column(_INSTANT)


def _number(dtype: str, low: float, high: float | None = None, nullable: bool = False) -> pa.Column:
    if high is None:
        check = pa.Check.ge(low, error=f"{low} or more")
    else:
        check = pa.Check.in_range(low, high, error=f"between {low} and {high}")
    return _column(dtype, check, nullable=nullable)


def _similarity(dtype: str = "float32", nullable: bool = False) -> pa.Column:
    return _number(dtype, -1, 1, nullable=nullable)


MOMENTS = _table(
    WORK / "moments.parquet",
    ["moment_id"],
    moment_id=_id(),
    video_id=_id(),
    start=_time(),
    end=_time(),
    description=_text(),
    modality=_one_of(*MODALITIES),
)
VIDEOS = _table(
    WORK / "videos.parquet",
    ["video_id"],
    video_id=_id(),
    duration=_time(),
    path=_column("str", nullable=True),
)
CAPTIONS = _table(
    WORK / "captions.parquet",
    ["moment_id"],
    moment_id=_id(),
    caption=_text(),
    source=_one_of("llm", "rules", "none", "review"),
    model=_column("str", nullable=True),
    prompt=_column("str", nullable=True),
    rounds=_number("int64", 0),
    similarity=_similarity(nullable=True),
    name_score=_number("float32", 0, 1, nullable=True),
    status=_one_of("passed", "repaired", "reviewed", "failed", "dropped"),
)
QUERIES = _table(
    WORK / "queries.parquet",
    ["query_id"],
    query_id=_id(),
    query=_text(),
    split=_one_of(*SPLITS),
)
FROZEN_QUERIES = replace(QUERIES, path=CAMPAIGN / "queries.csv")
CANDIDATES = _table(
    WORK / "candidates.parquet",
    ["query_id", "moment_id"],
    query_id=_id(),
    moment_id=_id(),
    rank=_number("int64", 1),
    similarity=_similarity("float64"),
    batch=_number("int64", 1, 2),
)
PAIRS = _table(
    CAMPAIGN / "pairs.csv",
    ["pair_id"],
    pair_id=_number("int64", 0),
    query_id=_id(),
    moment_id=_id(),
    video_id=_id(),
    start=_time(),
    end=_time(),
    duration=_time(),
    caption=_text(),
    similarity=_similarity("float64"),
    rank=_number("int64", 1),
    query_sha=_id(),
    clip_sha=_id(),
)
JUDGMENTS = _table(
    CAMPAIGN / "judgments.csv",
    ["query_id", "moment_id", "annotator", "kind"],
    query_id=_id(),
    moment_id=_id(),
    annotator=_number("int64", 0),
    level=_number("Int64", 0, 4, nullable=True),
    reason=_one_of("broken-clip", "senseless-query", nullable=True),
    submitted_at=_instant(),
    seconds=_time(),
    origin=_id(),
    guideline=_id(),
    kind=_one_of("first", "escalated", "gold", "repeat"),
    query_sha=_id(),
    clip_sha=_id(),
)
ASSIGNMENTS = _table(
    WORK / "assignments.parquet",
    ["query_id", "moment_id", "annotator", "kind"],
    query_id=_id(),
    moment_id=_id(),
    annotator=_number("int64", 0),
    kind=_one_of("first", "escalated", "gold", "repeat"),
)
CONSENSUS = _table(
    WORK / "consensus.parquet",
    ["query_id", "moment_id"],
    query_id=_id(),
    moment_id=_id(),
    level=_number("Int64", 0, 4, nullable=True),
    mean=_number("float64", 0, 4, nullable=True),
    scores=_column("object"),
    outcome=_one_of("two", "four", "adjudicated", "discarded", "unjudgeable", "waiting"),
)
