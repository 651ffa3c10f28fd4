"""The formats by name, and their detection from a file's content."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from momentrank.errors import UsageError
from momentrank.formats import text, videos
from momentrank.formats.benchmarks import json_qrels, json_runs
from momentrank.formats.benchmarks.json_runs import Corpus
from momentrank.formats.column import Column
from momentrank.formats.documents import DocumentKind
from momentrank.formats.source import FormatError, Place, Source
from momentrank.formats.table import Table

SEGMENTS = "segments"


class JsonFormat(NamedTuple):
    """A JSON format: its name, a test of the first record, and its reader."""

    name: str
    shape: str
    knows: Callable[[dict[str, Any]], bool]
    read: Callable[[Column, int | None, Corpus], Table]


def _with_key(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda record: name in record


def _is_scores(record: dict[str, Any]) -> bool:
    """Tell whether a record is `{query_id: [{"video_name", ...}, ...]}`; lists may be empty."""
    values = list(record.values())
    are_lists = bool(values) and set(map(type, values)) == {list}
    first = [value[0] for value in values if value] if are_lists else []
    return are_lists and all(isinstance(one, dict) and "desc_id" not in one for one in first)


def _is_tasks(record: dict[str, Any]) -> bool:
    """Tell `{video2idx, VCMR}` from scores of a query named `VCMR`."""
    return "video2idx" in record or ("VCMR" in record and not _is_scores(record))


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
        _is_tasks,
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
        _is_scores,
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


def check_format(fmt: str | None, names: Sequence[str]) -> None:
    """Check that a format exists.

    Raises:
        UsageError: no format has that name.
    """
    if fmt is not None and fmt not in names:
        raise UsageError(f"{fmt!r} is not a valid format, must be one of {', '.join(names)}")


Kind = Literal["qrels", "run", "training set", "video corpus", DocumentKind, "empty file"]
_NAMED = {"qrels": "qrels", "run": "a run"}


def is_text(source: Source, fmt: str | None) -> bool:
    """Tell whether to read a file as lines of fields."""
    return fmt == SEGMENTS or (fmt is None and text.is_segments(source.text))


def is_json(source: Source) -> bool:
    """Tell whether a file may be a JSON array or object."""
    return source.text.lstrip()[0] in "[{"


def detect_kind(records: Column) -> tuple[Kind, JsonFormat] | None:
    """Return whether the records are qrels or a run, and their format."""
    first = _first(records)
    for one in (*QRELS, *RUNS):
        if one.knows(first):
            return ("qrels" if one in QRELS else "run"), one
    return None


def _first(records: Column) -> dict[str, Any]:
    first = records.values[0] if records.values else None
    return first if isinstance(first, dict) else {}


def is_training(records: Column) -> bool:
    """Tell a training set from qrels: its moments are not judged."""
    lists = (one.get("relevant_moment") for one in records.values if isinstance(one, dict))
    moments = next(filter(None, lists), None)  # of the first query that has any
    if not isinstance(moments, list) or not all(isinstance(one, dict) for one in moments):
        return False
    return not any({"relevance", "pair_id"} & one.keys() for one in moments)


def is_corpus(records: Column) -> bool:
    """Tell a video corpus, `{name: [duration, index]}`, by its first value."""
    return videos.is_corpus(_first(records))


def choose_format(source: Source, records: Column, kind: Literal["qrels", "run"]) -> JsonFormat:
    """Return the format of records that must be of `kind`.

    Raises:
        FormatError: they are of another or unknown kind.
    """
    first = _first(records)
    if kind == "qrels" and is_training(records):
        what = "a training set (its moments have no relevance)"
        raise Place(source.path).error(f"{what}, not qrels")
    for one in FORMATS[kind]:
        if one.knows(first):
            return one
    raise _other(source, records, kind) or unknown(source, kind, records)


def _other(source: Source, records: Column, kind: str) -> FormatError | None:
    """Return an error that names what the records are instead, if known."""
    wanted = f", not {_NAMED[kind]}"
    if is_corpus(records):
        return Place(source.path).error(f"a video corpus{wanted}")
    if detected := detect_kind(records):
        other, one = detected
        return Place(source.path).error(f"{_NAMED[other]} ({one.name}){wanted}")
    return None


def unknown(source: Source, kind: str = "", records: Column | None = None) -> FormatError:
    """Return an error that lists the formats."""
    if records is not None and not records.values:
        return Place(source.path).error("the file contains no queries")
    shapes = SHAPES[kind] if kind else [*SHAPES["qrels"], *SHAPES["run"]]
    listed = "".join(f"\n  {shape}" for shape in shapes)
    what = _NAMED.get(kind, "qrels or a run")
    return Place(source.path).error(f"no known format of {what}; the formats are:{listed}")
