"""The columns of a file of raw judgments: fast where nothing is wrong, else by the line.

A value is looked at once, however many rows hold it: few distinct texts make up a large file.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from annotation.votes.rule import LEVELS
from annotation.votes.votes import NO_LEVEL, Ints
from momentrank.texts import is_utf8
from pipeline.core import csv_files
from pipeline.core.files import FileError

REQUIRED = ("pair_id", "worker", "relevance")
LEVEL_OF = {"": NO_LEVEL} | {str(level): level for level in range(LEVELS)}


class Column(NamedTuple):
    """A column's distinct texts, and which of them each row holds; `lines` tells its rows."""

    texts: pd.Series
    code: Ints
    lines: pd.Index | None = None


def fast(path: Path) -> dict[str, Column]:
    """Read the file; what this can't take goes the slow way, which knows the lines."""
    kind = pa.dictionary(pa.int32(), pa.string())
    table = csv.read_csv(
        path,
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(_READERS, kind)),
    )
    names = table.column_names
    if len(set(names)) != len(names) or not set(REQUIRED) <= set(names):
        raise FileError(f"{path}: not the columns of raw judgments")
    found = {}
    for name in filter(_READERS.__contains__, names):
        whole = table[name].unify_dictionaries().combine_chunks()
        texts = pd.Series(whole.dictionary.to_pylist(), dtype="str")
        if texts.str.startswith("'").any():
            raise FileError(f"{path}: text that `csv_files.defuse` may have made harmless")
        found[name] = Column(texts, whole.indices.to_numpy())
    return found


def with_lines(path: Path) -> dict[str, Column]:
    """Read the file row by row, and remember the line on which each starts.

    Raises:
        FileError: the file is missing, malformed, or holds text that is not UTF-8.
    """
    frame = csv_files.read_csv(path, REQUIRED).fillna("")
    found = {}
    for name in filter(_READERS.__contains__, map(str, frame)):
        for line, cell in frame.loc[~frame[name].map(is_utf8), name].items():
            raise FileError(f"{path}, line {line}, {name}: {cell!r} is not UTF-8")
        code, texts = pd.factorize(frame[name])
        found[name] = Column(pd.Series(texts, dtype="str"), code, frame.index)
    return found


def values(path: Path, name: str, column: Column) -> pd.Series:
    """Return what a column's distinct texts mean, or say which cell means nothing."""
    reader, wanted = _READERS[name]
    found = reader(column.texts)
    wrong = found.isna().to_numpy()
    if wrong.any():
        at = int(wrong[column.code].argmax())
        cell = column.texts[column.code[at]]
        where = f"line {column.lines[at]}" if column.lines is not None else f"row {at}"
        raise FileError(f"{path}, {where}, {name}: {cell!r} is not {wanted}")
    return found


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
