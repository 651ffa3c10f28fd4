"""The formats by name, and which of them a JSON file is: its first record's keys tell."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from momentrank.errors import UsageError
from momentrank.formats import json_qrels, json_runs, text
from momentrank.formats.column import Column
from momentrank.formats.json_runs import Corpus
from momentrank.formats.source import FormatError, Place, Source
from momentrank.formats.table import Table

Kind = Literal["qrels", "run", "training set", "video corpus"]
SEGMENTS = "segments"
_PLURAL = {"qrels": "qrels", "run": "a run"}


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
    return are_lists and all(isinstance(value[0], dict) for value in values if value)


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
        lambda record: "VCMR" in record or "video2idx" in record,
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
QRELS_FORMATS = (SEGMENTS, *(one.name for one in QRELS))
RUN_FORMATS = (SEGMENTS, *(one.name for one in RUNS))


def check_format(fmt: str | None, known: Sequence[str]) -> None:
    """Refuse a format that there is not.

    Raises:
        UsageError: there is none of that name.
    """
    if fmt is not None and fmt not in known:
        raise UsageError(f"{fmt!r} is not a valid format, must be one of {', '.join(known)}")


def is_text(source: Source, fmt: str | None) -> bool:
    """Tell whether a file is to be read as lines of fields."""
    return fmt == SEGMENTS or (fmt is None and text.is_segments(source.text))


def is_json(source: Source) -> bool:
    """Tell whether a file may be JSON: an array or an object."""
    return source.text.lstrip()[0] in "[{"


def kind_of(records: Column) -> tuple[Kind, JsonFormat] | None:
    """Return what the records are: qrels or a run, and in which format."""
    first = _first(records)
    for one in (*QRELS, *RUNS):
        if one.knows(first):
            return ("qrels" if one in QRELS else "run"), one
    return None


def _first(records: Column) -> dict[str, Any]:
    first = records.values[0] if records.values else None
    return first if isinstance(first, dict) else {}


def is_training(records: Column) -> bool:
    """Tell a training set from qrels: its moments have a similarity, and were never judged."""
    moments = _first(records).get("relevant_moment")
    if not isinstance(moments, list) or not all(isinstance(one, dict) for one in moments):
        return False
    return bool(moments) and not any({"relevance", "pair_id"} & one.keys() for one in moments)


def is_corpus(records: Column) -> bool:
    """Tell a video corpus, `{name: [duration, index]}`, by its first value."""
    first = next(iter(_first(records).values()), None)
    return isinstance(first, list) and len(first) == 2 and type(first[1]) is int  # noqa: PLR2004


def chosen(source: Source, records: Column, kind: Literal["qrels", "run"]) -> JsonFormat:
    """Return the format of records that should be of that kind.

    Raises:
        FormatError: they are of another kind, or of none that is known.
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
    wanted = f", not {_PLURAL[kind]}"
    if is_corpus(records):
        return Place(source.path).error(f"a video corpus{wanted}")
    found = kind_of(records)
    return (
        Place(source.path).error(f"{_PLURAL[found[0]]} ({found[1].name}){wanted}")
        if found
        else None
    )


def unknown(source: Source, kind: str, records: Column | None = None) -> FormatError:
    """Return the error that lists the formats, for a file that is none of them."""
    if records is not None and not records.values:
        return Place(source.path).error("the file holds no queries")
    layouts = ["query_id Q0 video_id start end level"] if kind != "run" else []
    layouts += (
        ["query_id Q0 video_id start end [jump_in] rank score [tag]"] if kind != "qrels" else []
    )
    shapes = [
        f"{one.name} {one.shape}"
        for name, all_of in FORMATS.items()
        if kind in {name, ""}
        for one in all_of
    ]
    known = "".join(f"\n  {line}" for line in [*(f"{SEGMENTS} {one}" for one in layouts), *shapes])
    what = _PLURAL.get(kind, "qrels or a run")
    return Place(source.path).error(f"no known format of {what}; the formats are:{known}")
