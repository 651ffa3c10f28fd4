"""Rejected rows: as text for a CSV file, and counted by reason."""

import reprlib
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from momentrank.ids import is_utf8
from pipeline.core.text import reveal
from pipeline.corpora.rows import Row

MAX_SHOWN = 200
"""Characters of a cell that are shown, with the total."""
BRIEF = 60
"""Characters of a cell in a line of the summary."""
COLUMNS = [*(name for name in Row._fields if name != "problem"), "reason"]
TELLING = {
    "no-id": ("moment_id",),
    "id-too-long": ("moment_id", "video_id"),
    "no-video": ("video_id",),
    "empty-text": ("description",),
    "too-long": ("description",),
    "not-utf8": ("moment_id", "video_id", "description"),
    "bad-character": ("moment_id", "video_id", "description"),
    "unknown-modality": ("modality",),
    "no-duration": ("video_id", "duration"),
    "duplicate-id": ("moment_id",),
}
"""The fields that show the reason; for other reasons, the times."""
TIMES = ("start", "end", "duration")
ADVICE = {
    "not-utf8": "save the file as UTF-8 (Excel: `CSV UTF-8`), or type: iconv -f CP1252 -t UTF-8",
    "bad-character": "remove control, private-use and replacement characters from the texts, and"
    " from ids invisible ones too",
    "no-duration": "name the column of the videos' durations (ingest.columns), or set where the"
    " videos are (ingest.videos); this video was not found there",
    "duplicate-id": "if that column does not contain the moments' ids, set ingest.columns:"
    " {moment_id: null}",
    "too-long": "ingest.max_characters is the limit",
}


def as_text(raw: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with every field as text, cut short, for a CSV file."""
    return raw.map(_cell_text).astype(object).assign(line=raw["line"].astype("Int64"))


def _cell_text(value: object) -> object:
    if value is None or isinstance(value, float):
        return value
    text = value if isinstance(value, str) else reprlib.repr(value)
    if len(text) > MAX_SHOWN:
        text = f"{text[:MAX_SHOWN]}... ({len(text):,} characters)"
    return reveal(text)


def summary(first: pd.DataFrame, counts: Mapping[str, int]) -> str:
    """Return a line for each reason, the most frequent first: how many rows, and the `first`."""
    rows = {row["reason"]: row for row in first.to_dict("records")}
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return "\n".join(_line(reason, count, rows[reason]) for reason, count in ordered)


def _line(reason: str, count: int, row: Mapping[Hashable, Any]) -> str:
    location = str(row["file"]) if pd.isna(row["line"]) else f"{row['file']} line {row['line']}"
    location = f"{location} {row['item']}" if row["item"] else location
    fields = [name for name in TELLING.get(reason, TIMES) if not pd.isna(row[name])]
    cells = ", ".join(f"{name} {_brief(row[name])}" for name in fields)
    example = f"{location}: {cells}" if cells else location
    advice = f"; {ADVICE[reason]}" if reason in ADVICE else ""
    return f"  {count:>7,}  {reason:<20} e.g. {example}{advice}"


def _brief(value: object) -> str:
    text = repr(value) if isinstance(value, str) and is_utf8(value) else str(value)
    return text if len(text) <= BRIEF else f"{text[: BRIEF - 3]}..."
