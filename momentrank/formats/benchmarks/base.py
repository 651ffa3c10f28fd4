"""Shared by the readers of benchmarks' formats; malformed input is a FormatError in all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np

from momentrank.formats.records import Column
from momentrank.formats.source import FormatError, Location
from momentrank.formats.table import Table, Truth, Windows, fill_scores, read_windows
from momentrank.segments import LATEST, MOST, Bools


class Fields(NamedTuple):
    """The keys of a record: its id, video, times in seconds, text, and the video's duration."""

    query: str
    video: str
    times: str
    text: str
    duration: str = ""


class Reading(NamedTuple):
    """What a reader is given: see `momentrank.formats.read.load_run`.

    `names` are the names of videos by index. `truth` is what a run without ids or videos refers to.
    """

    depth: int | None = None
    names: Mapping[int, str] | None = None
    truth: Truth | None = None
    lenient: bool = False
    scored: bool = True
    """Whether results usually have scores: only then are missing ones reported."""


class JsonFormat(NamedTuple):
    """A JSON format: its name, a test of the first record, and its reader.

    `convention` is the benchmark's own, if the format identifies the benchmark.
    """

    name: str
    shape: str
    knows: Callable[[Any], bool]
    read: Callable[[Column, Reading], Table]
    convention: str = ""


def has_key(name: str) -> Callable[[Any], bool]:
    """Return a test for objects with a key."""
    return lambda record: isinstance(record, dict) and name in record


def spread(queries: list[str], lists: Column) -> list[str]:
    """Repeat each query for every item of its list."""
    return list(chain.from_iterable(map(repeat, queries, map(len, lists.values))))


def split_objects(records: Column) -> tuple[list[str], Column]:
    """Return the keys of all records, which must be distinct ids, and a column of their values."""
    owner = [row for row, record in enumerate(records.require(dict).values) for _ in record]
    names = [name for record in records.values for name in record]

    def location(row: int) -> Location:
        return records.location(owner[row]).key(names[row])

    values = [value for record in records.values for value in record.values()]
    return Column(names, location).distinct_ids(), Column(values, location)


def cut(lists: Column, depth: int | None) -> Column:
    """Return the first `depth` values of each list."""
    lists.require(list)
    return lists if depth is None else lists._replace(values=[v[:depth] for v in lists.values])


def read_qrels(queries: list[str], videos: list[str], lists: Column) -> Table:
    """Read a list `[[start, end], ...]` for each query, each of level 1."""
    windows = lists.flat()
    start, end = windows.split_as("start end")
    query, video = spread(queries, lists), spread(videos, lists)
    levels = np.ones(len(video))
    return Table(query, video, start.numbers(), end.numbers(), levels, windows.location, queries)


def with_details(table: Table, records: Column, fields: Fields, queries: list[str]) -> Table:
    """Return a table with the durations and texts of its records, if all of these are valid."""

    def durations() -> dict[str, float]:
        pairs = ((record.get(fields.video), record.get(fields.duration)) for record in rows)
        return longest(pairs)

    rows: list[dict[str, Any]] = records.values
    return with_texts(table, records, fields.text, queries)._replace(durations=durations)


def with_texts(table: Table, records: Column, key: str, queries: list[str]) -> Table:
    """Return a table with the texts of its queries, of which each has a record."""
    return table._replace(
        texts=lambda: texts_of(queries, (record.get(key) for record in records.values))
    )


def texts_of(queries: list[str], texts: Iterable[object]) -> dict[str, str]:
    """Return the text of each query that has one."""
    pairs = zip(queries, texts, strict=True)
    return {query: text for query, text in pairs if isinstance(text, str)}


def longest(pairs: Any) -> dict[str, float]:
    """Return the longest duration of each video that has one."""
    durations: dict[str, float] = {}
    for video, duration in pairs:
        if isinstance(video, str) and type(duration) in {int, float} and duration < MOST:
            durations[video] = max(float(duration), durations.get(video, 0.0))
    return durations


Parse = Callable[[Column], Windows]


def read_run(
    queries: list[str],
    lists: Column,
    reading: Reading,
    parse: Parse,
    videos: list[str] | None = None,
) -> Table:
    """Read the list of results of each query, in its order.

    `videos` are the queries' own, if the results do not name theirs.
    """
    first = cut(lists, reading.depth)
    spread_videos = None if videos is None else spread(videos, first)
    table = read_results(spread(queries, first), first.flat(), reading, parse, spread_videos)
    notes = [*table.notes, *_below(lists, reading, parse)]
    return table._replace(queries=queries, notes=notes)


def read_results(
    query: list[str],
    rows: Column,
    reading: Reading,
    parse: Parse,
    videos: list[str] | None = None,
) -> Table:
    """Read results, each with its query and, where it does not name one, its video."""

    def read_some(numbers: Sequence[int]) -> Windows:
        some = rows if len(numbers) == len(rows.values) else rows.select(numbers)
        windows = parse(some)
        return windows.check(some.location) if reading.lenient else windows

    windows, error = read_windows(len(rows.values), read_some, lenient=reading.lenient)
    video = windows.video
    if videos is not None:
        malformed = windows.malformed.tolist()
        video = ["" if bad else name for name, bad in zip(videos, malformed, strict=True)]
    columns = (video, windows.start, windows.end, fill_scores(query, windows))
    final = windows if reading.scored else windows._replace(unscored=windows.malformed)
    unscored = int((windows.unscored & ~windows.malformed).sum())
    notes = final.remarks(error, rows.location)
    return Table(query, *columns, rows.location, notes=notes, unscored=unscored)


def _below(lists: Column, reading: Reading, parse: Parse) -> list[str]:
    """Return a note about the first malformed result that is not scored, if any."""
    if reading.depth is None or reading.lenient:
        return []
    depth = reading.depth
    lists = lists._replace(values=[values[depth:] for values in lists.values])
    if _are_sound(lists.values):
        return []
    rest = lists.flat(depth)
    try:
        parse(rest).check(rest.location)
    except FormatError as exc:
        return [f"{exc} (not among the first {depth} results, so not scored)"]
    return []


def _are_sound(lists: list[Any]) -> bool:
    """Tell quickly that lists of `[video, start, end, score]` contain no error."""
    try:
        wrong = [
            video
            for results in lists
            for video, start, end, score in results
            if not (type(video) is str and video and 0 <= start <= end < LATEST)
            or score - score != 0  # not finite
        ]
    except (TypeError, ValueError):
        return False
    return not wrong


def parse_list(
    results: Column,
    names: str,
    name_videos: Callable[[Column], list[str]] = Column.ids,
    *,
    any_score: bool = False,
) -> Windows:
    """Read results that are lists of `names`, the last of which, the score, may be missing.

    With `any_score`, one that is null or not finite is missing too, instead of an error.
    """
    width = len(names.split())
    unscored: Bools = np.zeros(len(results.values), dtype=bool)
    lengths = set(map(len, results.require(list).values))
    if width - 1 in lengths:
        unscored = np.array([len(v) == width - 1 for v in results.values], dtype=bool)
        padded = [[*v, 0.0] if len(v) == width - 1 else v for v in results.values]
        results = results._replace(values=padded)
    *first, start, end, score = (
        results.split(width) if lengths == {width} else results.split_as(names)
    )
    if any_score:
        none = [v is None or (type(v) is float and v - v != 0) for v in score.values]
        values = [0.0 if bad else v for bad, v in zip(none, score.values, strict=True)]
        unscored = unscored | np.array(none, dtype=bool)
        score = score._replace(values=values)
    video = name_videos(first[0]) if first else [""] * len(results.values)
    columns = (start.numbers(), end.numbers(), score.numbers())
    return Windows(video, *columns, unscored, np.zeros(len(unscored), dtype=bool))


def require_truth(records: Column, reading: Reading, reason: str) -> Truth:
    """Return the ground truth that a run without ids refers to."""
    if reading.truth is None:
        path = records.location(0).path
        raise FormatError(f"{path}: {reason}: it can only be read with its qrels (--qrels FILE)")
    return reading.truth
