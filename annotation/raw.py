"""Read any collection's raw judgments: `pair_id,worker,relevance`, a row for each answer.

The columns `submitted_at` (ISO 8601) and `seconds` (what the answer took) may be there; others
are passed over. An empty relevance is an answer without a level.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from annotation.rule import LEVELS
from annotation.votes import NO_LEVEL, Ints
from pipeline import csv_files
from pipeline.files import FileError

REQUIRED = ("pair_id", "worker", "relevance")
LEVEL_OF = {"": NO_LEVEL} | {str(level): level for level in range(LEVELS)}

Repeated = Literal["both", "distinct"]
"""One person's two answers on a pair: `both` count (the paper), or the newer one alone."""


class Raw(NamedTuple):
    """Raw judgments as columns, in the order of the file.

    `pair` and `annotator` are places in `pairs` and `annotators`, the ids in rising order:
    numbers where all of them are. `level` is 0 to 4 or NO_LEVEL. `time` and `seconds` are None
    where the file does not tell them.
    """

    pairs: pd.Index
    annotators: pd.Index
    pair: Ints
    annotator: Ints
    level: Ints
    time: npt.NDArray[np.datetime64] | None = None
    seconds: npt.NDArray[np.float64] | None = None


class Column(NamedTuple):
    """A column's distinct texts, and which of them each row holds; `lines` tells its rows."""

    texts: pd.Series
    code: Ints
    lines: pd.Index | None = None


def read(path: Path, repeated: Repeated = "both") -> Raw:
    """Read raw judgments; of a person's answers on one pair `repeated` says which count.

    With `distinct` it is the newest one; where times are not known or equal, the last in the
    file.

    Raises:
        FileError: the file is missing or malformed, with file, line and field.
    """
    try:
        raw = _coded(path, _fast(path))
    except (pa.ArrowException, OSError, FileError):
        raw = _coded(path, _with_lines(path))
    return raw if repeated == "both" else _distinct(raw)


def _fast(path: Path) -> dict[str, Column]:
    """Read the file; what this can't take goes the slow way, which knows the lines."""
    texts = pa.dictionary(pa.int32(), pa.string())
    table = csv.read_csv(
        path,
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(_READERS, texts)),
    )
    names = table.column_names
    if len(set(names)) != len(names) or not set(REQUIRED) <= set(names):
        raise FileError(f"{path}: not the columns of raw judgments")
    found = {}
    for name in filter(_READERS.__contains__, names):
        whole = table[name].unify_dictionaries().combine_chunks()
        code = whole.indices.to_numpy()
        found[name] = Column(pd.Series(whole.dictionary.to_pylist(), dtype="str"), code)
    return found


def _with_lines(path: Path) -> dict[str, Column]:
    frame = csv_files.read_csv(path, REQUIRED).fillna("")
    found = {}
    for name in filter(_READERS.__contains__, map(str, frame)):
        code, texts = pd.factorize(frame[name])
        found[name] = Column(pd.Series(texts, dtype="str"), code, frame.index)
    return found


def _values(path: Path, name: str, column: Column) -> pd.Series:
    """Return what a column's distinct texts mean, or say which cell means nothing."""
    reader, wanted = _READERS[name]
    values = reader(column.texts)
    wrong = values.isna().to_numpy()
    if wrong.any():
        at = int(wrong[column.code].argmax())
        cell = column.texts[column.code[at]]
        where = f"line {column.lines[at]}" if column.lines is not None else f"row {at}"
        raise FileError(f"{path}, {where}, {name}: {cell!r} is not {wanted}")
    return values


def _id(cells: pd.Series) -> pd.Series:
    return cells.where(cells.str.strip() != "")


def _level(cells: pd.Series) -> pd.Series:
    return cells.map(LEVEL_OF)


def _instant(cells: pd.Series) -> pd.Series:
    times = pd.to_datetime(cells, format="ISO8601", utc=True, errors="coerce")
    return times.dt.tz_localize(None)


def _duration(cells: pd.Series) -> pd.Series:
    numbers = pd.to_numeric(cells, errors="coerce")
    return numbers.where((numbers >= 0) & np.isfinite(numbers))


_READERS: dict[str, tuple[Callable[[pd.Series], pd.Series], str]] = {
    "pair_id": (_id, "an id"),
    "worker": (_id, "an id"),
    "relevance": (_level, f"a level from 0 to {LEVELS - 1}, nor empty"),
    "submitted_at": (_instant, "a date and time"),
    "seconds": (_duration, "a number of seconds"),
}
_DTYPES = {"relevance": "int64", "submitted_at": "datetime64[us]", "seconds": "float64"}


def _coded(path: Path, columns: dict[str, Column]) -> Raw:
    if not len(columns["pair_id"].code):
        raise FileError(f"{path}: holds no judgment")
    values = {name: _values(path, name, column) for name, column in columns.items()}
    rest = {
        name: values[name].to_numpy(dtype)[columns[name].code]
        for name, dtype in _DTYPES.items()
        if name in columns
    }
    pair, pairs = _places(values["pair_id"], columns["pair_id"].code)
    annotator, annotators = _places(values["worker"], columns["worker"].code)
    return Raw(
        pairs,
        annotators,
        pair,
        annotator,
        rest["relevance"],
        rest.get("submitted_at"),
        rest.get("seconds"),
    )


def _places(ids: pd.Series, code: Ints) -> tuple[Ints, pd.Index]:
    """Return each row's place among the distinct ids in order, and these ids."""
    if ids.str.fullmatch(r"0|[1-9][0-9]{0,17}").all():
        ids = ids.astype("int64")
    order = ids.argsort(kind="stable").to_numpy()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place[code], pd.Index(ids.iloc[order])


def _distinct(raw: Raw) -> Raw:
    frame = pd.DataFrame({"pair": raw.pair, "annotator": raw.annotator})
    order = np.arange(len(frame)) if raw.time is None else raw.time.argsort(kind="stable")
    kept = frame.iloc[order].drop_duplicates(keep="last").index.sort_values().to_numpy()
    return raw._replace(
        pair=raw.pair[kept],
        annotator=raw.annotator[kept],
        level=raw.level[kept],
        time=None if raw.time is None else raw.time[kept],
        seconds=None if raw.seconds is None else raw.seconds[kept],
    )
