"""Qrels and runs in a program: paths, frames, dicts, lists of tuples or of records.

    [("q1", "v1", 0.0, 20.0, 4), ...]                   qrels: query, video, start, end, level
    [("q1", "v1", 0.0, 19.5, 0.9), ...]                 runs: ... score; or without, in order
    {"q1": [("v1", 0.0, 20.0, 4), ...]}                 the same by query
    {"q1": {("v1", 0.0, 20.0): 4}}                      as documents in ranx and ir_measures

Records are dicts or frames with the columns `query_id, video_id, start, end` and `level`, or `rank`
or `score`. A run is sorted by rank, else by descending score.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, Unpack

from momentrank import formats, mismatches
from momentrank.errors import UsageError
from momentrank.formats.read import RunOptions
from momentrank.formats.text import Time
from momentrank.ids import IdError
from momentrank.matching.aligned import restore_own_ids
from momentrank.segments import (
    SegmentError,
    Segments,
    build_qrels,
    build_run,
    qrels_from_frame,
    read_ids,
    run_from_frame,
)

if TYPE_CHECKING:
    import pandas as pd

    from momentrank.scoring import Evaluator

Data = Union[Segments, "pd.DataFrame", str, Path, Mapping[Any, Any], Iterable[Any]]
"""What qrels and runs are read from."""
Warn = Callable[[str], None]
SEGMENT = ("query_id", "video_id", "start", "end")


def as_truth(qrels: Data, time: Time, warn: Warn) -> formats.Truth:
    """Return judged segments, with what else their file has; `warn` is called with warnings."""
    if isinstance(qrels, str | Path):
        return formats.load_truth(qrels, time=time, warn=warn)
    try:
        return formats.Truth(as_qrels(qrels))
    except SegmentError as exc:
        raise SegmentError(exc.row, exc.reason, "the qrels") from exc


def as_qrels(qrels: Data) -> Segments:
    """Return judged segments that are not in a file; see `as_truth`."""
    if isinstance(qrels, Segments):
        return qrels
    if (frame := _as_frame(qrels)) is not None:
        return qrels_from_frame(frame)
    rows = list(_rows(qrels, "level"))
    return build_qrels(*_columns(rows, len(SEGMENT) + 1, ", level"))


def as_lists(run: Data, *, tasks: bool = False, **options: Unpack[RunOptions]) -> formats.Lists:
    """Return ranked results by task; "" is the list of all.

    For a file, the options of `formats.load_lists` decide what is read.
    """
    if isinstance(run, str | Path):
        return formats.load_lists(run, tasks=tasks, **options)
    return {"": run if isinstance(run, Segments) else _as_run(run, options["warn"])}


def _as_run(run: Data, warn: Warn) -> Segments:
    if (frame := _as_frame(run)) is not None:
        return run_from_frame(frame, warn)
    rows = list(_rows(run, "score"))
    scored = bool(rows) and len(rows[0]) != len(SEGMENT)
    columns = _columns(rows, len(SEGMENT) + scored, " and, in all or in none, a score")
    return build_run(*columns, by_score=scored)


def _as_frame(data: Any) -> "pd.DataFrame | None":
    """Return pandas' frame, or one that converts to it, as polars' do; None for other data."""
    frame: pd.DataFrame | None = data.to_pandas() if hasattr(data, "to_pandas") else data
    return frame if hasattr(frame, "iloc") else None


def match(
    read: Callable[[int | None, Warn], formats.Lists],
    scorer: "Evaluator",
    name: str,
    warn: Warn,
    *,
    require_match: bool = True,
) -> formats.Lists:
    """Return a run's lists with the ids of the qrels; warn about what they don't share.

    `read` returns the first results of each list, or all, and calls a function with warnings;
    `name` is the run's, for messages. Without `require_match`, no match at all is only a warning.
    """

    def load(depth: int | None, tell: Warn) -> formats.Lists:
        try:
            lists = read(depth, tell).items()
            return {task: restore_own_ids(run, scorer.qrels) for task, run in lists}
        except IdError as exc:
            raise IdError(f"{name}: {exc}") from exc
        except SegmentError as exc:
            raise SegmentError(exc.row, exc.reason, name) from exc

    check = partial(mismatches.check_lists, scorer.convention, scorer.qrels)
    lists = load(scorer.depth, warn)
    try:
        check(lists, name, warn)
    except mismatches.NoOverlapError as exc:
        try:
            if scorer.depth is None:
                raise
            check(load(None, lambda _: None), name, warn)  # matches may be further down
        except mismatches.NoOverlapError:
            if require_match:
                raise
            warn(str(exc))
    return lists


def _rows(data: Any, value: str) -> Iterator[tuple[Any, ...]]:
    if isinstance(data, Mapping):
        data = _by_query(data)
    elif not isinstance(data, Iterable):
        raise UsageError(f"qrels and runs are paths, frames, dicts or lists, not {data!r}")
    for number, row in enumerate(data):
        if isinstance(row, Mapping):
            yield _record(number, row, value)
        elif isinstance(row, str) or not isinstance(row, Iterable):
            raise SegmentError(number, f"must be {', '.join(SEGMENT)}, {value}; not {row!r}")
        else:
            yield tuple(row)


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


def _record(number: int, row: Mapping[Any, Any], value: str) -> tuple[Any, ...]:
    missing = [name for name in SEGMENT if name not in row]
    if missing:
        raise SegmentError(number, f"the record has no {missing[0]!r}")
    return (*(row[name] for name in SEGMENT), *([row[value]] if value in row else []))


def _columns(rows: list[tuple[Any, ...]], width: int, last: str) -> list[list[Any]]:
    for number, row in enumerate(rows):
        if len(row) != width:
            raise SegmentError(number, f"must be {', '.join(SEGMENT)}{last}; not {row!r}")
    query, video, *numbers = ([row[column] for row in rows] for column in range(width))
    return [read_ids(query, "query_id"), read_ids(video, "video_id"), *numbers]
