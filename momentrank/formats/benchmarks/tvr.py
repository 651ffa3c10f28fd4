"""TVR (Lei et al., ECCV 2020): its annotations, and submissions to its tasks.

The order of a list is the ranking.
"""

from functools import partial
from typing import Any

from momentrank.formats.benchmarks.base import (
    Fields,
    JsonFormat,
    Reading,
    has_key,
    read_qrels,
    with_details,
)
from momentrank.formats.benchmarks.tvr_ranking import SCORES, read_lists
from momentrank.formats.column import Column
from momentrank.formats.table import Table
from momentrank.formats.videos import whole_numbers

FIELDS = Fields("desc_id", "vid_name", "ts", "desc", "duration")
MODALITY = "type"
"""The key of what a description is about: `v` video, `t` subtitles, `vt` both."""
TASKS = ("VCMR", "SVMR", "VR")
"""Moments in the corpus, moments in the right video, videos."""


def read_annotations(records: Column, _: Reading) -> Table:
    """Read `{desc_id, vid_name, ts: [start, end], desc, duration, ...}`; a moment has level 1.

    Several moments of a query, as in DiDeMo, are a list in `ts`.

    Raises:
        FormatError: a record is malformed; as in every reader here.
    """
    queries = records.key(FIELDS.query).distinct_ids()
    videos = records.key(FIELDS.video, str).ids()
    times = records.key(FIELDS.times, list)
    is_list = [bool(value) and isinstance(value[0], list) for value in times.values]
    if any(is_list):
        lists = [v if yes else [v] for v, yes in zip(times.values, is_list, strict=True)]
        table = read_qrels(queries, videos, times._replace(values=lists))
    else:
        times.parts("start end")
        one_each = times._replace(values=[[pair] for pair in times.values])
        table = read_qrels(queries, videos, one_each)._replace(place=times.place)
    return with_details(table, records, FIELDS, queries)


def read_submission(records: Column, reading: Reading, task: str) -> Table:
    """Read `{video2idx: {name: index}, VCMR: [{desc_id, predictions: [[index, ...]]}]}`."""
    entries = records.key(task, list).flat()
    queries = entries.key(FIELDS.query).distinct_ids()
    names = _video_names(records.key("video2idx", dict))
    lists = entries.key("predictions", list)
    return read_lists(queries, lists, reading._replace(names=names))


def _video_names(records: Column) -> dict[int, str]:
    if not records.values:
        return {}
    if len(records.values) > 1:  # each may number videos differently
        raise records.place(1).error("a second object; the format allows only one")
    names = list(records.values[0])
    indices = list(records.values[0].values())
    column = Column(indices, lambda row: records.place(0).key(names[row]))
    numbers = whole_numbers(column)
    column._replace(values=numbers).distinct_ids()  # an index must name one video
    return dict(zip(numbers, names, strict=True))


def _has_task(task: str, record: Any) -> bool:  # noqa: ANN401  (a value of JSON)
    """Tell a submission to a task from scores of a query of that name."""
    if not isinstance(record, dict):
        return False
    others = record.keys() & TASKS
    unnamed = "video2idx" in record and not others and task == TASKS[0]
    return unnamed or (task in record and ("video2idx" in record or not SCORES.knows(record)))


ANNOTATIONS = JsonFormat(
    "tvr",
    "{desc_id, vid_name, ts: [start, end], desc, duration}",
    has_key(FIELDS.times),
    read_annotations,
    convention="vcmr",
)
SUBMISSIONS = tuple(
    JsonFormat(
        task.lower(),
        f"{{video2idx, {task}: [{{desc_id, predictions}}]}}",
        partial(_has_task, task),
        partial(read_submission, task=task),
        convention="vcmr",
    )
    for task in TASKS
)
