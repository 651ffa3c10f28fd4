"""The rules for one row of a corpus: its fields in their types, and the first reason not to use it.

A frame here has the rows of a whole corpus or of a part: nothing depends on other rows. Its index
is the row number, from 0.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from momentrank.ids import is_utf8
from momentrank.segments import LATEST
from pipeline.core import tables
from pipeline.core.sections import Ingest
from pipeline.core.text import is_damaged, list_unreadable, strip_invisible
from pipeline.corpora.rows import Row

MAX_ID = 500
"""Characters: files and servers refuse longer names."""
SAME_LENGTH = 0.5
"""Seconds by which a duration may differ from its moment's length and count as equal (rounding)."""
LIMITS = {"ends-after-video": "ingest.end_slack", "too-long": "ingest.max_characters"}
"""The keys that are limits, by the reason that they are for."""
STEP = 0.01
"""Seconds: how exactly a needed `ingest.end_slack` is given."""
_IDS = ("moment_id", "video_id")
LARGEST_INTEGER = 2**63
"""A larger integer is not a time, and pandas can't convert it."""


def as_frame(rows: Iterable[Sequence[object]]) -> pd.DataFrame:
    """Return rows as they were read, numbered from 0."""
    return pd.DataFrame(rows, columns=list(Row._fields), dtype=object)


def convert(raw: pd.DataFrame) -> pd.DataFrame:
    """Convert the fields to their types; what can't be converted becomes null, to be rejected.

    `of_moment` marks rows whose duration is that of the moment, `cleaned` those whose description
    had characters that nobody sees.
    """
    numbers = {name: _numbers(raw[name]) for name in ("start", "end", "duration")}
    kinds = {"moment_id": _as_id, "video_id": _as_id, "description": _as_text}
    kinds["modality"] = _as_modality
    texts = {name: _objects(map(kind, raw[name]), raw.index) for name, kind in kinds.items()}
    frame = _mark_unreadable(_mark_broken_text(raw.assign(**numbers, **texts)))
    return frame.assign(of_moment=_is_of_moment(frame))


def settle(frame: pd.DataFrame, params: Ingest) -> pd.DataFrame:
    """Add `several`, `reason`, `needed` and `clipped`, and give each row the duration of its video.

    `usual` is the duration that most of the video's rows give, `probed` that of the video itself,
    or null. `reason` is why the row can't be used, judged by itself, or empty; `needed` is the
    smallest limit (`LIMITS`) that would keep it, or null. Ends past the video are clipped.
    """
    several = frame["duration"].notna() & (frame["duration"] != frame["usual"])
    frame = frame.assign(duration=frame["usual"].fillna(frame["probed"]), several=several)
    clipped = frame["end"] > frame["duration"]
    end = np.minimum(frame["end"], frame["duration"])
    reason = _reasons(frame, params)
    needed = _find_needed(frame, reason)
    return frame.assign(reason=reason, needed=needed, clipped=clipped, end=end)


def _find_needed(frame: pd.DataFrame, reason: pd.Series) -> pd.Series:
    past = (frame["end"] - frame["duration"]).where(reason == "ends-after-video")
    # The limit itself is excluded; what is added makes 0.29 * 100 more than 28.99.
    slack = pd.Series(np.floor(past / STEP + 1e-6) + 1, frame.index) * STEP
    length = frame["description"].astype("str").str.len().where(reason == "too-long")
    return slack.round(2).fillna(length.astype("float64"))


def _is_of_moment(frame: pd.DataFrame) -> pd.Series:
    """Tell whether a row's duration is the moment's: the video would end before the moment."""
    length = frame["end"] - frame["start"]
    past = frame["end"] > frame["duration"] + SAME_LENGTH
    return past & (length > 0) & ((frame["duration"] - length).abs() <= SAME_LENGTH)


def _mark_broken_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark and clear text that is not UTF-8, which pandas can't store."""
    names = [*_IDS, "description"]
    texts = zip(*(frame[name] for name in names), strict=True)
    broken = np.array([not is_utf8("".join(map(str, row))) for row in texts], bool)
    frame.loc[broken, names] = None
    return frame.assign(
        problem=frame["problem"].mask(broken & (frame["problem"] == ""), "not-utf8")
    )


def _mark_unreadable(frame: pd.DataFrame) -> pd.DataFrame:
    """Remove what nobody sees from descriptions; mark damaged text, and ids that look alike."""
    texts = frame["description"].map(strip_invisible, na_action="ignore")
    ids = [frame[name].fillna("").map(list_unreadable).astype(bool) for name in _IDS]
    bad = texts.fillna("").map(is_damaged).astype(bool) | ids[0] | ids[1]
    problem = frame["problem"].mask(bad & (frame["problem"] == ""), "bad-character")
    cleaned = texts.fillna("") != frame["description"].fillna("")
    return frame.assign(description=texts.map(_as_text), problem=problem, cleaned=cleaned)


def _objects(values: Iterable[object], index: pd.Index) -> pd.Series:
    return pd.Series(list(values), index, dtype=object)


def _numbers(values: pd.Series) -> pd.Series:
    readable = (value if _may_be_number(value) else None for value in values)
    numbers = pd.to_numeric(_objects(readable, values.index), errors="coerce").astype("float64")
    return numbers.where(np.isfinite(numbers))


def _may_be_number(value: object) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < LARGEST_INTEGER
    return isinstance(value, float | str | Decimal)


def _as_id(value: object) -> str | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value).strip() or None
    return None


def _as_text(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    has_words = any(map(str.isalnum, value)) or not is_utf8(value)
    return " ".join(value.split()) if has_words else None


def _as_modality(value: object) -> str | None:
    return value if isinstance(value, str) and value in tables.MODALITIES else None


def _reasons(frame: pd.DataFrame, params: Ingest) -> pd.Series:
    start, end, duration = frame["start"], frame["end"], frame["duration"]
    reasons = {
        "no-id": frame["moment_id"].isna(),
        "no-video": frame["video_id"].isna(),
        "id-too-long": _exceeds(frame["moment_id"], MAX_ID) | _exceeds(frame["video_id"], MAX_ID),
        "empty-text": frame["description"].isna(),
        "too-long": _exceeds(frame["description"], params.max_characters),
        "unknown-modality": frame["modality"].isna(),
        "not-a-number": start.isna() | end.isna(),
        "no-duration": ~(duration > 0),
        "negative-time": (start < 0) | (end < 0),
        "too-late": (start > LATEST) | (end > LATEST) | (duration > LATEST),
        "zero-length": end == start,
        "end-not-after-start": end < start,
        "starts-after-video": start >= duration,
        "ends-after-video": (end > duration) & ~(end - duration < params.slack),
    }
    first = np.select(list(reasons.values()), list(reasons), default="")
    return frame["problem"].where(frame["problem"] != "", pd.Series(first, frame.index))


def _exceeds(texts: pd.Series, limit: int) -> pd.Series:
    return texts.astype("str").str.len().gt(limit) & texts.notna()
