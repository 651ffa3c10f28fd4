"""Qrels and runs in a program: paths, frames, dicts, lists of tuples or of records.

    [("q1", "v1", 0.0, 20.0, 4), ...]                   qrels: query, video, start, end, level
    [("q1", "v1", 0.0, 19.5, 0.9), ...]                 runs: ... score; or without, in order
    {"q1": [("v1", 0.0, 20.0, 4), ...]}                 the same by query
    {"q1": {("v1", 0.0, 20.0): 4}}                      as documents in ranx and ir_measures

Records are dicts or frames with the columns `query_id, video_id, start, end` and `level`, or `rank`
or `score`. A run is sorted by rank, else by descending score. Iterables are read once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, Unpack

import numpy as np

from momentrank import formats
from momentrank.collection.declarations import Negatives, declare_negatives
from momentrank.errors import UsageError
from momentrank.formats.read import RunOptions
from momentrank.formats.table import Row, Table
from momentrank.formats.text import Time
from momentrank.ids import rename_hint
from momentrank.segments import SegmentError, Segments, find_repeats, read_ids, read_numbers

if TYPE_CHECKING:
    import pandas as pd

Data = Union[Segments, "pd.DataFrame", str, Path, Mapping[Any, Any], Iterable[Any]]
"""What qrels and runs are read from."""
Warn = Callable[[str], None]
SEGMENT = ("query_id", "video_id", "start", "end")


def as_truth(
    qrels: Data,
    time: Time,
    warn: Warn,
    *,
    negative: bool = False,
    negatives: Negatives | None = None,
) -> formats.Truth:
    """Return judged segments, with what else their file has; `warn` is called with warnings.

    With `negative`, levels below 0 are read as 0. `negatives`, and those that the qrels' release
    declares, have no relevant moment; with None, all levels are people's.
    """
    path = Path(qrels) if isinstance(qrels, str | Path) else None
    truth = _read_truth(qrels, time, warn, negative=negative)
    return truth if negatives is None else declare_negatives(truth, path, negatives, warn)


def _read_truth(qrels: Data, time: Time, warn: Warn, *, negative: bool) -> formats.Truth:
    if isinstance(qrels, str | Path):
        return formats.load_truth(qrels, time=time, warn=warn, negative=negative)
    if isinstance(qrels, Segments) and not len(find_repeats(qrels)[0]):
        return formats.Truth(qrels)
    table, _ = _table(qrels, "the qrels", "level")
    table = table.without_negative() if negative else table
    segments = table.qrels()
    repeats = table.repeats(segments, judged=True)
    truth = formats.Truth(segments, conflict=repeats.conflict)
    for message in [*table.notes, *repeats.remarks, *truth.odd_times("the qrels")]:
        warn(message)
    return truth


def as_lists(
    run: Data, name: str, *, tasks: bool = False, **options: Unpack[RunOptions]
) -> formats.Lists:
    """Return ranked results by task; "" is the list of all. `name` is the run's, for messages.

    For a file, the options of `formats.load_lists` decide what is read.
    """
    if isinstance(run, str | Path):
        return formats.load_lists(run, tasks=tasks, **options)
    if isinstance(run, Segments) and not len(find_repeats(run)[0]):
        return {"": run}
    (table, has_ranks), warn = _table(run, name, "score"), options["warn"]
    segments = table.run(warn if has_ranks else None)
    for message in table.remarks(segments):
        warn(message)
    return {"": segments}


Columns = Mapping[str, Any]
"""By name: those of `SEGMENT`, and `level` or, of a run, perhaps `rank` and `score`."""


def _table(data: Data, name: str, value: str) -> tuple[Table, bool]:
    """Return rows in memory as a table, and whether they have ranks.

    A run without ranks is in descending order of its scores.
    """
    try:
        columns = _columns(data, value)
        ids = [read_ids(columns[key], key) for key in SEGMENT[:2]]
        numbers = {
            key: read_numbers(columns[key], key) for key in columns if key not in SEGMENT[:2]
        }
    except SegmentError as exc:
        raise SegmentError(exc.row, exc.reason, name) from exc
    values = numbers.get(value, np.zeros(len(ids[0])))
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        raise SegmentError(row, f"the {value} must be a number", name)
    order = numbers.get("rank", -values) if value == "score" else None
    times = numbers["start"], numbers["end"]
    table = Table(ids[0], ids[1], *times, values, partial(Row, name), ranks=order)
    return table, "rank" in numbers


def _columns(data: Data, value: str) -> Columns:
    """Return the columns of qrels, with `value` "level", or of a run, with "score"."""
    if isinstance(data, Segments):
        query = [data.queries[number] for number in data.query.tolist()]
        columns: Columns = dict(zip((*SEGMENT, value), (query, *data[2:6]), strict=True))
        return columns if value == "level" else {**columns, "rank": data.rank}
    if (frame := _as_frame(data)) is not None:
        return _of_frame(frame, value)
    rows = list(_rows(data, value))
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _of_records(rows, value)
    rows = [_of_record(number, row, value) for number, row in enumerate(rows)]
    is_short = value == "score" and (not rows or len(rows[0]) == len(SEGMENT))
    names = SEGMENT if is_short else (*SEGMENT, value)
    for number, row in enumerate(rows):
        if len(row) != len(names):
            last = " and, in all or in none, a score" if value == "score" else f", {value}"
            raise SegmentError(number, f"must be {', '.join(SEGMENT)}{last}; not {row!r}")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _as_frame(data: Any) -> "pd.DataFrame | None":
    """Return pandas' frame, or one that converts to it, as polars' do; None for other data."""
    frame: pd.DataFrame | None = data.to_pandas() if hasattr(data, "to_pandas") else data
    return frame if hasattr(frame, "iloc") else None


def _of_frame(frame: "pd.DataFrame", value: str) -> Columns:
    kind, needed = ("run", SEGMENT) if value == "score" else ("qrels", (*SEGMENT, value))
    if missing := [name for name in needed if name not in frame]:
        found = ", ".join(map(repr, frame.columns)) + rename_hint(missing, frame.columns)
        raise UsageError(f"{kind}: the frame has no column {missing[0]!r}; it has {found}")
    if value == "score" and not {"rank", "score"} & {*frame.columns}:
        hint = rename_hint(["score"], frame.columns)
        raise UsageError(f"the run has neither a column 'rank' nor 'score'{hint}")
    ids = {name: _shared(frame[name]) for name in SEGMENT[:2]}
    names = [*SEGMENT[2:], value, *(["rank"] if value == "score" else [])]
    return {**ids, **{name: frame[name].to_numpy() for name in names if name in frame}}


def _shared(column: "pd.Series[Any]") -> list[Any]:
    """Return a column's values; equal strings are one object, whose hash is computed once."""
    codes, names = column.factorize()
    if set(map(type, names)) == {str} and (codes >= 0).all():
        shared: list[Any] = np.array([*names], dtype=object)[codes].tolist()
        return shared
    return column.tolist()


def _of_records(rows: Sequence[Mapping[Any, Any]], value: str) -> Columns:
    optional = ["rank", "score"] if value == "score" else []
    more = [name for name in optional if name in rows[0]] if optional else [value]
    names = [*SEGMENT, *more]
    for number, row in enumerate(rows):
        if missing := [name for name in names if name not in row]:
            hint = rename_hint(missing, row)
            raise SegmentError(number, f"the record has no {missing[0]!r}{hint}")
        if mixed := [name for name in optional if name in row and name not in names]:
            raise SegmentError(number, f"only some records have a {mixed[0]!r}")
    return {name: [row[name] for row in rows] for name in names}


def _rows(data: Any, value: str) -> Iterator[Any]:
    if isinstance(data, Mapping):
        data = _by_query(data)
    elif not isinstance(data, Iterable):
        raise UsageError(f"qrels and runs are paths, frames, dicts or lists, not {data!r}")
    for number, row in enumerate(data):
        if isinstance(row, str) or not isinstance(row, Iterable):
            raise SegmentError(number, f"must be {', '.join(SEGMENT)}, {value}; not {row!r}")
        yield row if isinstance(row, Mapping) else tuple(row)


def _by_query(listed: Mapping[Any, Any]) -> Iterator[Any]:
    """Yield the rows of each query, each with the query; other values stay as they are."""
    for query, rows in listed.items():
        if not isinstance(rows, Iterable):
            yield rows
            continue
        pairs = rows.items() if isinstance(rows, Mapping) else ((row, None) for row in rows)
        for row, value in pairs:
            if isinstance(row, Mapping):
                yield {"query_id": query, **row}
            elif isinstance(row, tuple | list):
                yield (query, *row) if value is None else (query, *row, value)
            else:
                yield row


def _of_record(number: int, row: Any, value: str) -> tuple[Any, ...]:
    """Return a row as a tuple, for lists of which only some rows are records."""
    if not isinstance(row, Mapping):
        return tuple(row)
    try:
        columns = _of_records([row], value)
    except SegmentError as exc:
        raise SegmentError(number, exc.reason) from exc
    if "rank" in columns:
        raise SegmentError(number, "only some rows have a 'rank'")
    return tuple(column[0] for column in columns.values())
