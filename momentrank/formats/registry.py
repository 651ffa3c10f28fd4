"""The formats by name; a JSON file's first record tells which of them it is."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from momentrank.errors import UsageError
from momentrank.formats import json_qrels, json_runs
from momentrank.formats.column import Column
from momentrank.formats.json_runs import Corpus
from momentrank.formats.table import Table

SEGMENTS = "segments"


class JsonFormat(NamedTuple):
    """A shape in JSON: its name, how to know its first record, and its reader."""

    name: str
    shape: str
    knows: Callable[[dict[str, Any]], bool]
    read: Callable[[Column, int | None, Corpus], Table]


def _with_key(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda record: name in record


def _holds_scores(record: dict[str, Any]) -> bool:
    """Tell `{query_id: [{"video_name", ...}, ...]}`, even where some list is empty."""
    values = list(record.values())
    are_lists = bool(values) and set(map(type, values)) == {list}
    first = [value[0] for value in values if value] if are_lists else []
    return are_lists and all(isinstance(one, dict) and "desc_id" not in one for one in first)


def _holds_tasks(record: dict[str, Any]) -> bool:
    """Tell `{video2idx, VCMR}` from scores of a query that is called so."""
    return "video2idx" in record or ("VCMR" in record and not _holds_scores(record))


def _without_options(read: Callable[[Column], Table]) -> Callable[[Column, Any, Any], Table]:
    return lambda records, _depth, _corpus: read(records)


QRELS = (
    JsonFormat(
        "tvr-ranking",
        "{query_id, query, relevant_moment: [{video_name, timestamp, relevance, ...}]}",
        _with_key("relevant_moment"),
        _without_options(json_qrels.read_tvr_ranking),
    ),
    JsonFormat(
        "qvhighlights",
        "{qid, vid, relevant_windows: [[start, end], ...]}",
        _with_key("relevant_windows"),
        _without_options(json_qrels.read_qvhighlights),
    ),
    JsonFormat(
        "flat",
        "{query_id, video_name, timestamp, relevance}",
        _with_key("video_name"),
        _without_options(json_qrels.read_flat),
    ),
)
RUNS = (
    JsonFormat(
        "tvr-ranking",
        "{query_id, predictions: [[video, start, end, score], ...]}",
        _with_key("predictions"),
        json_runs.read_tvr_ranking,
    ),
    JsonFormat(
        "vcmr",
        "{video2idx, VCMR: [{desc_id, predictions}]}",
        _holds_tasks,
        json_runs.read_vcmr,
    ),
    JsonFormat(
        "qvhighlights",
        "{qid, vid, pred_relevant_windows: [[start, end, score], ...]}",
        _with_key("pred_relevant_windows"),
        json_runs.read_qvhighlights,
    ),
    JsonFormat(
        "scores",
        "{query_id: [{video_name, timestamp, model_scores}]}",
        _holds_scores,
        json_runs.read_scores,
    ),
)
FORMATS = {"qrels": QRELS, "run": RUNS}
SHAPES = {
    "qrels": [
        f"{SEGMENTS} query_id Q0 video_id start end level",
        *(f"{one.name} {one.shape}" for one in QRELS),
    ],
    "run": [
        f"{SEGMENTS} query_id Q0 video_id start end [jump_in] rank score [tag]",
        *(f"{one.name} {one.shape}" for one in RUNS),
    ],
}
QRELS_FORMATS = (SEGMENTS, *(one.name for one in QRELS))
RUN_FORMATS = (SEGMENTS, *(one.name for one in RUNS))


def check_format(fmt: str | None, known: Sequence[str]) -> None:
    """Refuse a format that there is not.

    Raises:
        UsageError: there is none of that name.
    """
    if fmt is not None and fmt not in known:
        raise UsageError(f"{fmt!r} is not a valid format, must be one of {', '.join(known)}")
