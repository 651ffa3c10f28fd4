"""TVR (Lei et al., ECCV 2020) and TVR-Ranking (Liang et al., 2024).

TVR's annotations, and submissions to its tasks; TVR-Ranking's release, the predictions of its
baselines, and flat records. The order of a list is the ranking.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from momentrank.formats.benchmarks.base import (
    Fields,
    JsonFormat,
    Reading,
    has_key,
    longest,
    parse_list,
    read_qrels,
    read_run,
    split_objects,
    spread,
    with_details,
    with_texts,
)
from momentrank.formats.records import Column
from momentrank.formats.table import Table, Windows
from momentrank.formats.videos import name_videos, whole_numbers
from momentrank.ids import KEY, query_number


def read_release(records: Column, _: Reading) -> Table:
    """Read `{query_id, query, relevant_moment: [{video_name, timestamp, relevance, ...}]}`.

    A query's id is its `query_key`, if it has one.
    """
    queries = own_ids(records).distinct_ids()
    lists = records.key("relevant_moment", list)
    table = _of_pairs(lists.flat(), spread(queries, lists))._replace(queries=queries)
    return with_texts(table, records, "query", queries)


def own_ids(records: Column) -> Column:
    """Return each record's `query_key` if `query_id` is its number, else `query_id`."""
    ids = records.key("query_id")
    keys = [
        key if isinstance(key := record.get(KEY), str) and query_number(key) == number else number
        for record, number in zip(records.values, ids.values, strict=True)
    ]
    return ids._replace(values=keys)


def read_flat(records: Column, _: Reading) -> Table:
    """Read records `{query_id, video_name, timestamp, relevance, ...}`, one per pair."""
    return _of_pairs(records, records.key("query_id").ids())


def _of_pairs(pairs: Column, query: list[str]) -> Table:
    videos = pairs.key("video_name", str).ids()
    start, end = pairs.key("timestamp", list).split_as("start end")
    levels = pairs.key("relevance").numbers()

    def durations() -> dict[str, float]:
        return longest((pair["video_name"], pair.get("duration")) for pair in pairs.values)

    columns = (start.numbers(), end.numbers(), levels)
    return Table(query, videos, *columns, pairs.location, durations=durations)


def read_predictions(records: Column, reading: Reading) -> Table:
    """Read `{query_id, predictions: [[video, start, end, score], ...]}`.

    The predictions published with TVR-Ranking call the query's id `desc_id`.
    """
    is_published = "desc_id" in next(filter(has_key("predictions"), records.values), ())
    queries = records.key("desc_id" if is_published else "query_id").distinct_ids()
    return read_lists(queries, records.key("predictions", list), reading)


def read_lists(queries: list[str], lists: Column, reading: Reading) -> Table:
    """Read lists of `[video, start, end, score]`; a video may be an index."""

    def parse(results: Column) -> Windows:
        return parse_list(
            results,
            "video start end score",
            lambda videos: name_videos(videos, reading.names),
            any_score=reading.lenient,
        )

    return read_run(queries, lists, reading, parse)


def read_scores(records: Column, reading: Reading) -> Table:
    """Read `{query_id: [{video_name, timestamp, model_scores}, ...], ...}`.

    `model_scores` is a number or a list, whose first value is the score.
    """

    def parse(results: Column) -> Windows:
        return _parse_objects(results, reading.names)

    return read_run(*split_objects(records), reading, parse)


def _parse_objects(results: Column, names: Mapping[int, str] | None) -> Windows:
    unscored = np.array(
        ["model_scores" not in result for result in results.require(dict).values], bool
    )
    if unscored.any():
        padded = [{"model_scores": 0.0, **result} for result in results.values]
        results = results._replace(values=padded)
    start, end = results.key("timestamp", list).split_as("start end")
    scores = _first(results.key("model_scores")).numbers()
    video = name_videos(results.key("video_name"), names)
    columns = (start.numbers(), end.numbers(), scores)
    return Windows(video, *columns, unscored, np.zeros(len(unscored), dtype=bool))


def _first(scores: Column) -> Column:
    scores.refuse((value == [] for value in scores.values), "must be a number or a non-empty list")
    first = [value[0] if type(value) is list else value for value in scores.values]
    return scores._replace(values=first)


def _is_scores(record: Any) -> bool:
    """Tell whether a record is `{query_id: [{"video_name", ...}, ...]}`; lists may be empty."""
    if not isinstance(record, dict) or set(map(type, record.values())) != {list}:
        return False
    first = [value[0] for value in record.values() if value]
    return all(isinstance(entry, dict) and "desc_id" not in entry for entry in first)


RELEASE = JsonFormat(
    "tvr-ranking",
    "{query_id, query, relevant_moment: [{video_name, timestamp, relevance, ...}]}",
    has_key("relevant_moment"),
    read_release,
    convention="tvr-ranking",
)
FLAT = JsonFormat(
    "flat",
    "{query_id, video_name, timestamp, relevance}",
    has_key("video_name"),
    read_flat,
)
PREDICTIONS = JsonFormat(
    "tvr-ranking",
    "{query_id, predictions: [[video, start, end, score], ...]}",
    has_key("predictions"),
    read_predictions,
)
SCORES = JsonFormat(
    "scores",
    "{query_id: [{video_name, timestamp, model_scores}]}",
    _is_scores,
    read_scores,
)


FIELDS = Fields("desc_id", "vid_name", "ts", "desc", "duration")
MODALITY = "type"
"""The key of what a description is about: `v` video, `t` subtitles, `vt` both."""
TASKS = ("VCMR", "SVMR", "VR")
"""Moments in the corpus, moments in the right video, videos."""


def read_annotations(records: Column, _: Reading) -> Table:
    """Read `{desc_id, vid_name, ts: [start, end], desc, duration, ...}`; a moment has level 1.

    Several moments of a query, as in DiDeMo, are a list in `ts`.
    """
    queries = records.key(FIELDS.query).distinct_ids()
    videos = records.key(FIELDS.video, str).ids()
    times = records.key(FIELDS.times, list)
    is_list = [bool(value) and isinstance(value[0], list) for value in times.values]
    if any(is_list):
        lists = [v if yes else [v] for v, yes in zip(times.values, is_list, strict=True)]
        table = read_qrels(queries, videos, times._replace(values=lists))
    else:
        times.split_as("start end")
        one_each = times._replace(values=[[pair] for pair in times.values])
        table = read_qrels(queries, videos, one_each)._replace(location=times.location)
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
        raise records.location(1).error("a second object; the format allows only one")
    names = list(records.values[0])
    indices = list(records.values[0].values())
    column = Column(indices, lambda row: records.location(0).key(names[row]))
    numbers = whole_numbers(column)
    column._replace(values=numbers).distinct_ids()  # an index must name one video
    return dict(zip(numbers, names, strict=True))


def _has_task(task: str, record: Any) -> bool:
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
