"""The columns of a table: as set in `ingest.columns`, else by their usual names."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from pipeline.core.files import FileError
from pipeline.core.sections import Column, Columns

USUAL: dict[Column, tuple[str, ...]] = {
    "moment_id": ("moment_id", "id", "desc_id", "annotation_id", "segment_id", "qid"),
    "video_id": ("video_id", "video", "video_name", "vid", "vid_name", "youtube_id",
                 "video_file", "filename", "file_name", "file"),
    "start": ("start", "start_time", "start_sec", "start_seconds", "start_s", "begin",
              "begin_time", "from", "t_start", "ts_start", "onset"),
    "end": ("end", "end_time", "end_sec", "end_seconds", "end_s", "stop", "stop_time", "to",
            "t_end", "ts_end", "offset"),
    "duration": ("video_duration", "video_length", "duration", "length", "duration_sec",
                 "duration_seconds", "duration_s"),
    "description": ("description", "desc", "caption", "sentence", "text", "query", "annotation"),
    "modality": ("modality",),
}  # fmt: skip
"""The names under which each field is found; case, spaces and punctuation do not matter."""
NEEDED: tuple[Column, ...] = ("video_id", "start", "end", "description")
"""Required columns; a missing `duration` is read from the videos, other fields have defaults."""


def locate(path: Path, header: Sequence[str], columns: Columns) -> dict[Column, str]:
    """Return the table's column for each of our fields that has one.

    A field in `columns` has the column named there, or none if that is None; any other field is
    found by its usual names, among the columns that no entry has taken.

    Raises:
        FileError: a named column is missing, a required field is not found, or a field may be in
            several columns.
    """
    located = {ours: theirs for ours, theirs in columns.items() if theirs is not None}
    for ours, theirs in located.items():
        if theirs not in header:
            raise FileError(f"{path}: column {theirs!r} is missing (ingest.columns: {ours})"
                            f"; found: {_quote(header)}")  # fmt: skip
    free = [name for name in header if name not in located.values()]
    for field in get_args(Column):
        usual = None if field in columns else _usual(path, field, free)
        if usual:
            located[field] = usual
    for needed in NEEDED:
        if needed not in located:
            raise FileError(
                f"{path}: no column has a usual name of {needed}"
                f" ({', '.join(USUAL[needed])}); found: {_quote(header)}. Name its column:"
                f" ingest.columns: {{{needed}: ITS COLUMN}}"
            )
    return located


def _usual(path: Path, field: Column, header: Sequence[str]) -> str | None:
    matches = [name for name in header if _plain(name) in USUAL[field]]
    if len(matches) > 1:
        raise FileError(
            f"{path}: {_quote(matches)} may each be the {field}; name the right one:"
            f" ingest.columns: {{{field}: {matches[0]}}}"
        )
    return matches[0] if matches else None


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "_", name).strip("_").lower()


def _quote(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
