"""DiDeMo (Hendricks et al., ICCV 2017): a list whose times are indices of 5-second segments.

Indices are inclusive: [1, 4] is 5 s to 25 s. Several people marked each description, and each of
their moments is judged. A submission is a ranked list `[[first, last], ...]` for each description,
in the order of the annotations.
"""

from typing import Any

import numpy as np

from momentrank.formats.benchmarks.base import (
    Fields,
    JsonFormat,
    Reading,
    has_key,
    parse_list,
    read_run,
    require_truth,
    spread,
    with_texts,
)
from momentrank.formats.records import Column
from momentrank.formats.source import count
from momentrank.formats.table import Table, Windows
from momentrank.formats.videos import whole_numbers
from momentrank.segments import Floats

FIELDS = Fields("annotation_id", "video", "times", "description")
SEGMENTS = "num_segments"
"""The key of the number of segments; no file tells how long the videos are."""
SEGMENT_SECONDS = 5
NAME = "didemo"


def segment_seconds(first: int, last: int) -> tuple[int, int]:
    """Return the start and end of a moment in seconds."""
    return first * SEGMENT_SECONDS, (last + 1) * SEGMENT_SECONDS


def _seconds(first: Column, last: Column) -> tuple[Floats, Floats]:
    numbers = [whole_numbers(column) for column in (first, last)]
    for column, indices in zip((first, last), numbers, strict=True):
        column.refuse((index < 0 for index in indices), "must be the index of a segment, from 0")
    pairs = zip(*numbers, strict=True)
    last.refuse((end < start for start, end in pairs), "must be the first segment or a later one")
    times = [segment_seconds(*pair) for pair in zip(*numbers, strict=True)]
    start, end = np.array(times, dtype=np.float64).reshape(-1, 2).T
    return start, end


def read_annotations(records: Column, _: Reading) -> Table:
    """Read `{annotation_id, video, times: [[first, last], ...], description}`; levels are 1."""
    queries = records.key(FIELDS.query).distinct_ids()
    lists = records.key(FIELDS.times, list)
    rows = lists.flat()
    start, end = _seconds(*rows.split_as("first last"))
    names = records.key(FIELDS.video, str).ids()
    video = spread(names, lists)

    def durations() -> dict[str, float]:
        counts = (
            (name, record.get(SEGMENTS)) for name, record in zip(names, records.values, strict=True)
        )
        return {name: float(n * SEGMENT_SECONDS) for name, n in counts if type(n) is int}

    columns = (start, end, np.ones(len(video)))
    table = Table(spread(queries, lists), video, *columns, rows.location, queries)
    return with_texts(table, records, FIELDS.text, queries)._replace(durations=durations)


def read_lists(records: Column, reading: Reading) -> Table:
    """Read `[[[start, end], ...], ...]`, a list for each query of the qrels, in their order.

    For DiDeMo, these are indices of segments.
    """
    truth = require_truth(records, reading, "its lists have no ids")
    queries = truth.segments.queries
    if len(records.values) != len(queries):
        lists = count(len(records.values), "list")
        reason = f"{lists}, where the qrels have {count(len(queries), 'query')}"
        raise records.location(0)._replace(line=None, trail="").error(reason)
    videos = [truth.videos.get(query, "") for query in queries]

    def parse(rows: Column) -> Windows:
        windows = parse_list(rows, "start end score", any_score=reading.lenient)
        if truth.format != NAME:
            return windows
        pairs = rows._replace(values=[window[:2] for window in rows.values])
        start, end = _seconds(*pairs.split_as("first last"))
        return windows._replace(start=start, end=end)

    return read_run(queries, records.require(list), reading._replace(scored=False), parse, videos)


def _is_lists(record: Any) -> bool:
    return isinstance(record, list) and all(isinstance(segment, list) for segment in record)


ANNOTATIONS = JsonFormat(
    NAME,
    "{annotation_id, video, times: [[first, last], ...], description}, in 5-second segments",
    lambda record: has_key(FIELDS.times)(record) and FIELDS.query in record,
    read_annotations,
    convention=NAME,
)
LISTS = JsonFormat(
    "lists",
    "[[[start, end], ...], ...], a list for each query of the qrels (DiDeMo: of segments)",
    _is_lists,
    read_lists,
)
