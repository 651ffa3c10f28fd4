"""The formats by name, and their detection from a file's content."""

from collections.abc import Sequence
from typing import Any, Literal

from momentrank.errors import UsageError
from momentrank.formats import videos
from momentrank.formats.benchmarks import captions, didemo, ego4d_nlq, qvhighlights_records, tvr
from momentrank.formats.benchmarks.base import JsonFormat
from momentrank.formats.lines import is_segments
from momentrank.formats.records import Column
from momentrank.formats.source import FormatError, Location, Source
from momentrank.formats.table import Truth

SEGMENTS = "segments"

QRELS = (
    tvr.RELEASE,
    qvhighlights_records.ANNOTATIONS,
    tvr.ANNOTATIONS,
    captions.ANNOTATIONS,
    didemo.ANNOTATIONS,
    ego4d_nlq.ANNOTATIONS,
    tvr.FLAT,
)
RUNS = (
    tvr.PREDICTIONS,
    *tvr.SUBMISSIONS,
    qvhighlights_records.SUBMISSION,
    ego4d_nlq.SUBMISSION,
    captions.SUBMISSION,
    tvr.SCORES,
    didemo.LISTS,
)
FORMATS = {"qrels": QRELS, "run": RUNS}
SHAPES = {
    "qrels": [
        f"{SEGMENTS} query_id Q0 video_id start end level",
        f"{captions.CHARADES} {captions.CHARADES_SHAPE}",
        *(f"{known.name} {known.shape}" for known in QRELS),
    ],
    "run": [
        f"{SEGMENTS} query_id Q0 video_id start end [jump_in] rank score [tag]",
        *(f"{known.name} {known.shape}" for known in RUNS),
    ],
}
QRELS_FORMATS = (SEGMENTS, captions.CHARADES, *(known.name for known in QRELS))
RUN_FORMATS = (SEGMENTS, *(known.name for known in RUNS))
CONVENTIONS = {
    captions.CHARADES: captions.CONVENTION,
    **{known.name: known.convention for known in QRELS if known.convention},
}
"""The convention of the benchmark that a format of qrels belongs to."""


def official_convention(truth: Truth) -> str:
    """Return the convention that prints a benchmark's published numbers; empty if none is known.

    Other collections use TVR-Ranking's format too; the ids of its own queries are numbers.
    """
    if truth.format == tvr.RELEASE.name and not all(map(str.isdecimal, truth.segments.queries)):
        return ""
    return CONVENTIONS.get(truth.format, "")


def check_format(fmt: str | None, names: Sequence[str]) -> None:
    """Check that a format exists."""
    if fmt is not None and fmt not in names:
        raise UsageError(f"{fmt!r} is not a valid format, must be one of {', '.join(names)}")


_NAMED = {"qrels": "qrels", "run": "a run"}


def is_charades(source: Source, fmt: str | None) -> bool:
    """Tell whether to read a file as Charades-STA's annotations."""
    if fmt is None:
        return captions.is_charades(source.text)
    return fmt == captions.CHARADES


def is_text(source: Source, fmt: str | None) -> bool:
    """Tell whether to read a file as lines of fields."""
    is_unknown = fmt is None and not is_charades(source, None)
    return fmt == SEGMENTS or (is_unknown and is_segments(source.text))


def is_json(source: Source) -> bool:
    """Tell whether a file may be a JSON array or object."""
    return source.text.lstrip()[0] in "[{"


def detect_kind(records: Column) -> tuple[Literal["qrels", "run"], JsonFormat] | None:
    """Return whether the records are qrels or a run, and their format."""
    first = first_record(records)
    for known in (*QRELS, *RUNS):
        if known.knows(first):
            return ("qrels" if known in QRELS else "run"), known
    return None


def first_record(records: Column) -> Any:
    """Return the first record, None if there is none."""
    return records.values[0] if records.values else None


def is_training(records: Column) -> bool:
    """Tell a training set from qrels: its moments are not judged."""
    lists = (record.get("relevant_moment") for record in records.values if isinstance(record, dict))
    moments = next(filter(None, lists), None)  # of the first query that has any
    if not isinstance(moments, list) or not all(isinstance(moment, dict) for moment in moments):
        return False
    return not any({"relevance", "pair_id"} & moment.keys() for moment in moments)


def is_corpus(records: Column) -> bool:
    """Tell a video corpus, `{name: [duration, index]}`, by its first value."""
    first = first_record(records)
    return isinstance(first, dict) and videos.is_corpus(first)


def choose_format(source: Source, records: Column, kind: Literal["qrels", "run"]) -> JsonFormat:
    """Return the format of records that must be of `kind`."""
    first = first_record(records)
    if kind == "qrels" and is_training(records):
        what = "a training set (its moments have no relevance)"
        raise Location(source.path).error(f"{what}, not qrels")
    for known in FORMATS[kind]:
        if known.knows(first):
            return known
    raise _other(source, records, kind) or unknown(source, kind, records)


def _other(source: Source, records: Column, kind: str) -> FormatError | None:
    wanted = f", not {_NAMED[kind]}"
    if is_corpus(records):
        return Location(source.path).error(f"a video corpus{wanted}")
    if detected := detect_kind(records):
        detected_kind, known = detected
        return Location(source.path).error(f"{_NAMED[detected_kind]} ({known.name}){wanted}")
    return None


def unknown(source: Source, kind: str = "", records: Column | None = None) -> FormatError:
    """Return an error that lists the formats."""
    if records is not None and not records.values:
        return Location(source.path).error("the file contains no queries")
    shapes = SHAPES.get(kind) or [f"{name}: {s}" for name in SHAPES for s in SHAPES[name]]
    listed = "".join(f"\n  {shape}" for shape in shapes)
    what = _NAMED.get(kind, "qrels or a run")
    return Location(source.path).error(f"no known format of {what}; the formats are:{listed}")
