"""The columns of a table: as set in `ingest.columns`, else by their usual names."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from pipeline.core.files import FileError
from pipeline.core.sections import Column, Columns

USUAL: dict[Column, tuple[str, ...]] = {
    "moment_id": ("moment_id", "id", "desc_id", "annotation_id", "segment_id", "narration_id",
                  "qid"),
    "video_id": ("video_id", "video", "video_name", "vid", "vid_name", "youtube_id",
                 "video_file", "filename", "file"),
    "start": ("start", "start_time", "start_sec", "start_seconds", "start_s", "start_timestamp",
              "begin", "begin_time", "from", "t_start", "ts_start", "onset"),
    "end": ("end", "end_time", "end_sec", "end_seconds", "end_s", "end_timestamp", "stop",
            "stop_time", "stop_timestamp", "to", "t_end", "ts_end", "offset"),
    "duration": ("video_duration", "video_length", "duration", "length", "duration_sec",
                 "duration_seconds", "duration_s"),
    "description": ("description", "desc", "caption", "sentence", "text", "query", "annotation",
                    "heading", "narration"),
    "modality": ("modality",),
}  # fmt: skip
"""The names under which each field is found; case, spaces and punctuation do not matter."""
CERTAIN = ("video_duration", "video_length")
"""Names that count alone where a column of another usual name may be something else."""
NEEDED: tuple[Column, ...] = ("video_id", "start", "end", "description")
"""Required columns; a missing `duration` is read from the videos, other fields have defaults."""


def locate(path: Path, header: Sequence[str], columns: Columns) -> dict[Column, str]:
    """Return the table's column for each of our fields that has one.

    A field in `columns` has the column named there, or none if that is None; any other field is
    found by its usual names, among the columns that no entry has taken.

    Raises:
        FileError: named columns are missing, required fields are not found, or a field may be in
            several columns; all of them are in the message.
    """
    located = {ours: theirs for ours, theirs in columns.items() if theirs is not None}
    problems = [
        f"column {theirs!r} is missing (ingest.columns: {ours}); found: {_quote(header)}"
        for ours, theirs in located.items()
        if theirs not in header
    ]
    free = [name for name in header if name not in located.values()]
    for field in get_args(Column):
        usual = [] if field in columns else _find_usual(field, free)
        if len(usual) > 1:
            problems.append(
                f"{_quote(usual)} may each be the {field}; name the right one:"
                f" ingest.columns: {{{field}: {usual[0]}}}"
            )
        if usual:
            located[field] = usual[0]
    if missing := [needed for needed in NEEDED if needed not in located]:
        looked = "; ".join(f"of {field} ({', '.join(USUAL[field])})" for field in missing)
        entries = ", ".join(f"{field}: ITS COLUMN" for field in missing)
        problems.append(
            f"no column has a usual name {looked}; found: {_quote(header)}. Name each column:"
            f" ingest.columns: {{{entries}}}"
        )
    if problems:
        raise FileError("\n".join(f"{path}: {problem}" for problem in problems))
    return located


def _find_usual(field: Column, header: Sequence[str]) -> list[str]:
    usual, certain = (set(map(_plain, names)) for names in (USUAL[field], CERTAIN))
    matches = [name for name in header if _plain(name) in usual]
    return [name for name in matches if _plain(name) in certain] or matches


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).lower()


def _quote(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
