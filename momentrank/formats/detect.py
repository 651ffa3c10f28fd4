"""Which kind and format a file is of, by its content."""

from typing import Any, Literal

from momentrank.formats import text
from momentrank.formats.column import Column
from momentrank.formats.documents import DocumentKind
from momentrank.formats.registry import FORMATS, QRELS, RUNS, SEGMENTS, SHAPES, JsonFormat
from momentrank.formats.source import FormatError, Place, Source

Kind = Literal["qrels", "run", "training set", "video corpus", DocumentKind, "empty file"]
_NAMED = {"qrels": "qrels", "run": "a run"}


def is_text(source: Source, fmt: str | None) -> bool:
    """Tell whether a file is to be read as lines of fields."""
    return fmt == SEGMENTS or (fmt is None and text.is_segments(source.text))


def is_json(source: Source) -> bool:
    """Tell whether a file may be JSON: an array or an object."""
    return source.text.lstrip()[0] in "[{"


def detect_kind(records: Column) -> tuple[Kind, JsonFormat] | None:
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
    found = (one.get("relevant_moment") for one in records.values if isinstance(one, dict))
    moments = next(filter(None, found), None)  # of the first query that has any
    if not isinstance(moments, list) or not all(isinstance(one, dict) for one in moments):
        return False
    return not any({"relevance", "pair_id"} & one.keys() for one in moments)


def is_corpus(records: Column) -> bool:
    """Tell a video corpus, `{name: [duration, index]}`, by its first value."""
    first = next(iter(_first(records).values()), None)
    return isinstance(first, list) and len(first) == 2 and type(first[1]) is int  # noqa: PLR2004  (two)


def choose_format(source: Source, records: Column, kind: Literal["qrels", "run"]) -> JsonFormat:
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
    """Return the error that says what the records are instead, if that is known."""
    wanted = f", not {_NAMED[kind]}"
    if is_corpus(records):
        return Place(source.path).error(f"a video corpus{wanted}")
    if found := detect_kind(records):
        return Place(source.path).error(f"{_NAMED[found[0]]} ({found[1].name}){wanted}")
    return None


def unknown(source: Source, kind: str = "", records: Column | None = None) -> FormatError:
    """Return the error that lists the formats, for a file that is none of them."""
    if records is not None and not records.values:
        return Place(source.path).error("the file holds no queries")
    shapes = SHAPES[kind] if kind else [*SHAPES["qrels"], *SHAPES["run"]]
    listed = "".join(f"\n  {shape}" for shape in shapes)
    what = _NAMED.get(kind, "qrels or a run")
    return Place(source.path).error(f"no known format of {what}; the formats are:{listed}")
