"""Rejected rows: as text for a CSV file, and counted by reason, with what keeps them."""

import reprlib
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from momentrank.ids import is_utf8
from pipeline.core.sections import Ingest
from pipeline.core.text import reveal
from pipeline.corpora.rows import Row
from pipeline.corpora.rules import LIMITS

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
    "no-windows": "leave a test split without windows out of ingest.source",
    "no-duration": "set where the videos are (ingest.videos), and it is read from this one",
    "duplicate-id": "an earlier row has this id: remove one of them, or its file",
    "starts-after-video": "correct the duration, or remove it to read it from ingest.videos",
    "zero-length": "no key keeps it: it has no clip, and no result can overlap it",
    "end-not-after-start": "no key keeps it: exchange start and end in the corpus if that is meant",
}
"""What to do, by reason; `_advise_limit` does it for the reasons that a limit is for."""
_READ = "to read them from ingest.videos, set none (ingest.columns: {duration: null})"
_NAME = "name the column of the videos' durations (ingest.columns: {duration: ITS COLUMN})"
DURATIONS = {"table": f"{_NAME[0].upper()}{_NAME[1:]}, or, {_READ}"}
REMOVE_DURATIONS = "Correct them, or remove them: then they are read from ingest.videos"
"""What to do if the durations are those of the moments: in the formats of `DURATIONS`, in others"""
OF_FORMAT: Mapping[str, Mapping[str, str]] = {
    "table": {
        "no-duration": f"{_NAME}, or set where the videos are (ingest.videos); this video was not"
        " found there",
        "duplicate-id": "if that column does not contain the moments' ids, set ingest.columns:"
        " {moment_id: null}",
        "unknown-modality": "if that column is something else: ingest.columns: {modality: null}",
        "starts-after-video": f"if the durations are wrong: {_READ}",
        "end-not-after-start": "if the columns are exchanged, name them: ingest.columns:"
        " {start: ITS COLUMN, end: ITS COLUMN}",
    },
    "charades-sta": {
        "no-duration": "add this video to the CSV with the durations, or set where the videos are"
        " (ingest.videos)",
    },
}
"""What to do in a format where that differs, or is more."""
_LOADERS = "loaders such as VSLNet's also cut such ends to the duration"
PUBLISHED = {
    "tvr": "TVR's loader also cuts such ends to the video",
    "qvhighlights": "Moment-DETR's loader also cuts such ends to the video",
    "charades-sta": _LOADERS,
    "activitynet-captions": _LOADERS,
}
"""What published code does with ends past the video, by format."""
ROUNDING = 10.0
"""Seconds past the video: an end later than that is an error, not rounding."""
REMEDY = "set the keys named, or fix the corpus; a higher ingest.max_rejected drops the rows"


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


def summarize(
    first: pd.DataFrame, counts: Mapping[str, int], needed: pd.DataFrame, params: Ingest
) -> str:
    """Return a line for each reason, the most frequent first.

    It has the number of rows, the `first` of them, and what to do. `needed` says how many rows
    (`rows`) would need which limit (`needed`), by reason.
    """
    rows = {row["reason"]: row for row in first.to_dict("records")}
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    limits = dict(iter(needed.groupby("reason")))
    return "\n".join(
        _line(reason, count, rows[reason], _advise(reason, limits.get(reason), params.corpus))
        for reason, count in ordered
    )


def _line(reason: str, count: int, row: Mapping[Hashable, Any], advice: str | None) -> str:
    location = str(row["file"]) if pd.isna(row["line"]) else f"{row['file']} line {row['line']}"
    location = f"{location} {row['item']}" if row["item"] else location
    fields = [name for name in TELLING.get(reason, TIMES) if not pd.isna(row[name])]
    cells = ", ".join(f"{name} {_brief(row[name])}" for name in fields)
    example = f"{location}: {cells}" if cells else location
    return f"  {count:>7,}  {reason:<20} e.g. {example}{f'; {advice}' if advice else ''}"


def _advise(reason: str, needed: pd.DataFrame | None, corpus: str) -> str | None:
    if needed is None:
        return OF_FORMAT.get(corpus, {}).get(reason, ADVICE.get(reason))
    advice = [_advise_limit(LIMITS[reason], needed)]
    if reason == "ends-after-video" and corpus in PUBLISHED:
        advice.append(PUBLISHED[corpus])
    return "; ".join(advice)


def _advise_limit(key: str, needed: pd.DataFrame) -> str:
    """Return the smallest value of a limit that keeps the rows, except for ends that are errors."""
    is_rounding = needed["needed"] <= (ROUNDING if key.endswith("slack") else np.inf)
    kept, total = needed[is_rounding], int(needed["rows"].sum())
    number = int(kept["rows"].sum())
    if not number:
        return f"more than {ROUNDING:g} s past the end: the duration or the end is wrong"
    value = f"{key}: {kept['needed'].max():g} keeps"
    if number == total:
        return f"{value} them" if total > 1 else f"{value} it"
    return f"{value} {number:,} of them; the others end more than {ROUNDING:g} s past their videos"


def _brief(value: object) -> str:
    text = repr(value) if isinstance(value, str) and is_utf8(value) else str(value)
    return text if len(text) <= BRIEF else f"{text[: BRIEF - 3]}..."
