"""Ego4D, natural language queries (Grauman et al., CVPR 2022): annotations and submissions.

Times are seconds of the clip. The k-th query of an annotation, from 0, is `CLIP#ANNOTATION#k`.
"""

from typing import Any

import numpy as np

from momentrank.formats.benchmarks.base import (
    JsonFormat,
    Reading,
    has_key,
    longest,
    parse_list,
    read_run,
    spread,
    with_texts,
)
from momentrank.formats.records import Column
from momentrank.formats.table import Table, Windows
from momentrank.formats.videos import whole_numbers

CLIP, ANNOTATION, INDEX = "clip_uid", "annotation_uid", "query_idx"
PREDICTED = "predicted_times"


def read_annotations(records: Column, _: Reading) -> Table:
    """Read `{videos: [{clips: [{clip_uid, annotations: [...]}]}]}`; a moment has level 1.

    An annotation is `{annotation_uid, language_queries: [{clip_start_sec, clip_end_sec}]}`.
    """
    clips = records.key("videos", list).flat().key("clips", list).flat()
    lists = clips.key("annotations", list)
    annotations = lists.flat()
    clip = spread(clips.key(CLIP, str).ids(), lists)
    listed = annotations.key("language_queries", list)
    rows, video = listed.flat(), spread(clip, listed)
    names = spread(annotations.key(ANNOTATION, str).ids(), listed)
    index = [k for queries_of_clip in listed.values for k in range(len(queries_of_clip))]
    queries = Column(_ids(video, names, index), rows.location).distinct_ids()
    start, end = (rows.key(f"clip_{edge}_sec").numbers() for edge in ("start", "end"))

    def durations() -> dict[str, float]:
        return longest(
            (clip_record.get(CLIP), _duration(clip_record)) for clip_record in clips.values
        )

    table = Table(queries, video, start, end, np.ones(len(video)), rows.location, queries)
    return with_texts(table, rows, "query", queries)._replace(durations=durations)


def _ids(clips: list[str], annotations: list[str], index: list[int]) -> list[str]:
    return list(map("#".join, zip(clips, annotations, map(str, index), strict=True)))


def _duration(clip: dict[str, Any]) -> float | None:
    start, end = clip.get("video_start_sec"), clip.get("video_end_sec")
    if isinstance(start, int | float) and isinstance(end, int | float):
        return end - start
    return None


def read_submission(records: Column, reading: Reading) -> Table:
    """Read `{results: [{clip_uid, annotation_uid, query_idx, predicted_times: [[s, e], ...]}]}`.

    Or the list of results alone. A window may have a score; the order of the list counts.
    """
    is_whole = records.values and "results" in records.require(dict).values[0]
    results = records.key("results", list).flat() if is_whole else records
    clips = results.key(CLIP, str).ids()
    index = whole_numbers(results.key(INDEX))
    ids = _ids(clips, results.key(ANNOTATION, str).ids(), index)
    queries = Column(ids, results.location).distinct_ids()

    def parse(windows: Column) -> Windows:
        return parse_list(windows, "start end score", any_score=reading.lenient)

    return read_run(
        queries, results.key(PREDICTED, list), reading._replace(scored=False), parse, clips
    )


def _is_submission(record: Any) -> bool:
    results = record.get("results") if isinstance(record, dict) else None
    return isinstance(results, list) or has_key(PREDICTED)(record)


ANNOTATIONS = JsonFormat(
    "ego4d-nlq",
    "{videos: [{clips: [{clip_uid, annotations: [{annotation_uid, language_queries}]}]}]}",
    has_key("videos"),
    read_annotations,
    convention="nlq",
)
SUBMISSION = JsonFormat(
    "ego4d-nlq",
    "{results: [{clip_uid, annotation_uid, query_idx, predicted_times: [[start, end], ...]}]}",
    _is_submission,
    read_submission,
    convention="nlq",
)
