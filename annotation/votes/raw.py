"""Raw judgments of any collection: `pair_id,worker,relevance`, a row for each answer.

The columns `submitted_at` (ISO 8601) and `seconds` (time per answer) are optional; others
are ignored. An empty relevance is an answer without a level.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.votes.rule import LEVELS
from annotation.votes.votes import NO_LEVEL, Ints, select_rows
from momentrank.ids import as_integers, is_utf8
from pipeline.core import csv_files, files
from pipeline.core.files import FileError

REQUIRED = ("pair_id", "worker", "relevance")
LEVEL_OF = {"": NO_LEVEL} | {
    f"{level}{end}": level for level in range(LEVELS) for end in ("", ".0")
}
"""The levels as texts: programs that know no empty whole number write 2 as 2.0."""
DTYPES: dict[str, Any] = {
    "relevance": "int64",
    "submitted_at": "datetime64[us]",
    "seconds": "float64",
}
SPECIAL = (b'"', b"'", b"\r", b"\0")
"""What pandas reads more leniently than `csv_files`."""

Repeated = Literal["both", "distinct"]
"""One person's two answers on a pair: `both` count (the paper), or only the newer one."""


class Raw(NamedTuple):
    """Raw judgments as columns, in the order of the file.

    `pair` and `annotator` are positions in `pairs` and `annotators`, the ids in rising order:
    numbers if all of them are. `level` is 0 to 4 or NO_LEVEL. `time` and `seconds` are None if the
    file does not have them.
    """

    pairs: pd.Index
    annotators: pd.Index
    pair: Ints
    annotator: Ints
    level: Ints
    time: npt.NDArray[np.datetime64] | None = None
    seconds: npt.NDArray[np.float64] | None = None


def read(path: Path, repeated: Repeated = "both") -> Raw:
    """Read raw judgments; `repeated` says which of a person's answers on one pair count.

    With `distinct` it is the newest one; if times are unknown or equal, the last in the file.

    Raises:
        FileError: the file is missing or malformed, with file, line and field.
    """
    try:
        raw = _parse(path, _read_fast(path))
    except (ValueError, FileError):  # pandas' own errors are ValueErrors
        raw = _parse(path, _read_lines(path))
    return raw if repeated == "both" else _keep_newest(raw)


def _read_fast(path: Path) -> pd.DataFrame:
    """Read the file with pandas; anything that may be wrong is left to `_read_lines`."""
    with files.open_source(path) as stream:
        content = stream.read()
    if any(mark in content.replace(b"\r\n", b"\n") for mark in SPECIAL):
        raise FileError(f"{path}: contains quotes or bare carriage returns")
    header = content.partition(b"\n")[0].decode("utf-8-sig").rstrip("\r").split(",")
    frame = pd.read_csv(io.BytesIO(content), dtype="str", keep_default_na=False)
    short = (frame.iloc[:, -1] == "").any()  # an empty cell, or none
    whole = list(frame) == header and isinstance(frame.index, pd.RangeIndex)
    if short or not whole or not {*REQUIRED} <= {*header}:
        raise FileError(f"{path}: not the columns, or a row may be too long or too short")
    return _select(frame).astype("category")


def _read_lines(path: Path) -> pd.DataFrame:
    """Read the file row by row; the index is the line on which each row starts.

    Raises:
        FileError: the file is missing, malformed, or contains text that is not UTF-8.
    """
    frame = _select(csv_files.read_csv(path, REQUIRED).fillna(""))
    for name in frame:
        cells = frame[name]
        for line, cell in cells[~cells.map(is_utf8)].items():
            raise FileError(f"{path}, line {line}, {name}: {cell!r} is not UTF-8")
    return frame.astype("category")


def _select(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[[name for name in _PARSERS if name in frame]]


def _parse(path: Path, frame: pd.DataFrame) -> Raw:
    if frame.empty:
        raise FileError(f"{path}: no judgments")
    values = {str(name): _parse_column(path, frame[name]) for name in frame}
    code = {name: frame[name].cat.codes.to_numpy().astype(np.int64) for name in values}
    pair, pairs = _rank(values["pair_id"], code["pair_id"])
    annotator, annotators = _rank(values["worker"], code["worker"])
    rest: Any = (
        values[name].to_numpy(dtype)[code[name]] if name in values else None
        for name, dtype in DTYPES.items()
    )
    return Raw(pairs, annotators, pair, annotator, *rest)


def _parse_column(path: Path, cells: pd.Series) -> pd.Series:
    """Return the values of a column's distinct texts; each is parsed only once.

    Raises:
        FileError: a text is not valid, with its line.
    """
    parser, expected = _PARSERS[str(cells.name)]
    texts = pd.Series(cells.cat.categories, dtype="str")
    values = parser(texts)
    invalid = values.isna().to_numpy()[cells.cat.codes]
    if invalid.any():
        row = int(invalid.argmax())
        location = f"{path}, line {cells.index[row]}, {cells.name}"
        raise FileError(f"{location}: {cells.iloc[row]!r} is not {expected}")
    return values


def _rank(ids: pd.Series, code: Ints) -> tuple[Ints, pd.Index]:
    """Return each row's position among the distinct ids in rising order, and these ids."""
    ids = pd.Series(as_integers(ids.tolist()))
    order = ids.argsort(kind="stable").to_numpy()
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    return position[code], pd.Index(ids.iloc[order])


def _keep_newest(raw: Raw) -> Raw:
    frame = pd.DataFrame({"pair": raw.pair, "annotator": raw.annotator})
    order = np.arange(len(frame)) if raw.time is None else raw.time.argsort(kind="stable")
    rows = frame.iloc[order].drop_duplicates(keep="last").index.sort_values().to_numpy()
    return select_rows(raw, rows)


def _parse_id(cells: pd.Series) -> pd.Series:
    return cells.where(cells.str.strip() != "")


def _parse_instant(cells: pd.Series) -> pd.Series:
    times = pd.to_datetime(cells, format="ISO8601", utc=True, errors="coerce")
    return times.dt.tz_localize(None)


def _parse_seconds(cells: pd.Series) -> pd.Series:
    numbers = pd.to_numeric(cells, errors="coerce")
    return numbers.where((numbers >= 0) & np.isfinite(numbers))


_PARSERS: dict[str, tuple[Callable[[pd.Series], pd.Series], str]] = {
    "pair_id": (_parse_id, "an id"),
    "worker": (_parse_id, "an id"),
    "relevance": (lambda cells: cells.map(LEVEL_OF), f"a level from 0 to {LEVELS - 1}, nor empty"),
    "submitted_at": (_parse_instant, "a date and time"),
    "seconds": (_parse_seconds, "a number of seconds"),
}
