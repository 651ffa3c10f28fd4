"""Read a corpus of described moments in its own format: moments, videos, and what is wrong.

reads   the corpus at ingest.source (a file or a folder), in the format ingest.corpus
writes  datasets/work/moments.parquet, videos.parquet, rejected_moments.csv

A row that can't be used goes to rejected_moments.csv with its place and reason. More of
them than the share ingest.max_rejected stop the run. Nothing is dropped silently.
"""

import reprlib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from momentrank.errors import MomentRankError
from momentrank.segments import LATEST
from momentrank.texts import is_utf8
from pipeline import corpora, csv_files, stage, tables
from pipeline.corpora.rows import Row
from pipeline.language import detection, support
from pipeline.params import Ingest, load

REJECTED = tables.WORK / "rejected_moments.csv"
REJECTED_COLUMNS = [
    "file",
    "line",
    "item",
    "moment_id",
    "video_id",
    "start",
    "end",
    "duration",
    "description",
    "modality",
    "reason",
]
LARGEST_INTEGER = 2**63
"""A larger integer is no time, and more than pandas can turn into one."""


class CorpusError(MomentRankError):
    """A corpus that can't be used as it is."""


class Ingested(NamedTuple):
    """What a corpus yields; `metrics` counts every row, used or not."""

    moments: pd.DataFrame
    videos: pd.DataFrame
    rejected: pd.DataFrame
    metrics: dict[str, Any]


def ingest(rows: Iterable[Row], params: Ingest) -> Ingested:
    """Sort the rows of a corpus into moments, videos and rejected rows.

    Every row is in `moments`, in `rejected`, or of a modality that neither queries nor
    pool want (counted as `other_modality`).
    """
    raw = pd.DataFrame(rows, columns=list(Row._fields), dtype=object)
    typed = _typed(raw)
    reason = _reasons(typed, params.end_slack)
    good = typed[reason == ""]
    wanted = good["modality"].isin(params.query_modalities + params.pool_modalities)
    clipped = good["end"] > good["duration"]
    good = good.assign(end=np.minimum(good["end"], good["duration"]))
    videos = _videos(good, params.videos)
    rejected = _shown(raw[reason != ""]).assign(reason=reason[reason != ""])
    return Ingested(
        moments=tables.MOMENTS.check(good[wanted][tables.MOMENTS.columns]),
        videos=tables.VIDEOS.check(videos[tables.VIDEOS.columns]),
        rejected=rejected[REJECTED_COLUMNS],
        metrics={
            "rows": len(raw),
            "moments": int(wanted.sum()),
            "videos": len(videos),
            "videos_without_path": int(videos["path"].isna().sum()),
            "videos_with_several_durations": int(videos["several"].sum()),
            "by_modality": _counts(good[wanted]["modality"]),
            "other_modality": int((~wanted).sum()),
            "ends_clipped": int((clipped & wanted).sum()),
            "rejected": len(rejected),
            "rejected_by_reason": _counts(rejected["reason"]),
        },
    )


def _typed(raw: pd.DataFrame) -> pd.DataFrame:
    """Give the fields their types; what has none becomes null and is rejected later."""
    numbers = {name: _numbers(raw[name]) for name in ("start", "end", "duration")}
    kinds = {"moment_id": _as_id, "video_id": _as_id, "description": _as_text}
    texts = {name: _objects(map(kind, raw[name])) for name, kind in kinds.items()}
    frame = _without_broken_text(raw.assign(**numbers, **texts))
    usual = frame["video_id"].map(_usual_durations(frame))
    several = frame["duration"].notna() & (frame["duration"] != usual)
    return frame.assign(duration=usual, several=several)


def _usual_durations(frame: pd.DataFrame) -> pd.Series:
    """Return each video's duration: what most of its rows say, of ties the longest."""
    said = frame[frame["duration"] > 0].groupby(["video_id", "duration"]).size()
    counts = said.rename("rows").reset_index().sort_values(["rows", "duration"])
    return counts.drop_duplicates("video_id", keep="last").set_index("video_id")["duration"]


def _without_broken_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Note the rows whose text is not UTF-8, and empty it: pandas can't hold it."""
    names = ["moment_id", "video_id", "description"]
    texts = zip(*(frame[name] for name in names), strict=True)
    broken = np.array([not is_utf8(f"{one}{two}{three}") for one, two, three in texts], bool)
    frame.loc[broken, names] = None
    return frame.assign(
        problem=frame["problem"].mask(broken & (frame["problem"] == ""), "not-utf8")
    )


def _objects(values: Iterable[object]) -> pd.Series:
    return pd.Series(list(values), dtype=object)


def _numbers(values: pd.Series) -> pd.Series:
    readable = _objects(value if _may_be_number(value) else None for value in values)
    numbers = pd.to_numeric(readable, errors="coerce").astype("float64")
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
    said = any(character.isalnum() for character in value) or not is_utf8(value)
    return " ".join(value.split()) if said else None


def _reasons(frame: pd.DataFrame, end_slack: float) -> pd.Series:
    """Return the first reason not to use each row, or an empty string."""
    start, end, duration = frame["start"], frame["end"], frame["duration"]
    reasons = {
        "no-id": frame["moment_id"].isna(),
        "no-video": frame["video_id"].isna(),
        "empty-text": frame["description"].isna(),
        "unknown-modality": ~frame["modality"].isin(tables.MODALITIES),
        "not-a-number": start.isna() | end.isna(),
        "no-duration": ~(duration > 0),
        "negative-time": (start < 0) | (end < 0),
        "too-late": (start > LATEST) | (end > LATEST) | (duration > LATEST),
        "end-not-after-start": end <= start,
        "starts-after-video": start >= duration,
        "ends-after-video": (end > duration) & ~(end - duration < end_slack),
    }
    first = np.select(list(reasons.values()), list(reasons), default="")
    reason = frame["problem"].where(frame["problem"] != "", pd.Series(first, frame.index))
    repeated = frame["moment_id"].where(reason == "").duplicated() & (reason == "")
    return reason.mask(repeated, "duplicate-id").astype("str")


def _shown(raw: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as a CSV file can hold them: whatever a field is, as text."""
    return raw.map(_as_shown).assign(line=raw["line"].astype("Int64"))


def _as_shown(value: object) -> object:
    if value is None or isinstance(value, float):
        return value
    text = value if isinstance(value, str) else reprlib.repr(value)
    return text.encode("utf-8", errors="backslashreplace").decode("utf-8")


def _videos(good: pd.DataFrame, template: str | None) -> pd.DataFrame:
    by_video = good.groupby("video_id", sort=True)
    videos = by_video.agg(duration=("duration", "first"), several=("several", "any")).reset_index()
    paths = [video_path(template, name) for name in videos["video_id"]]
    return videos.assign(path=pd.Series(paths, dtype="str"))


def video_path(template: str | None, video_id: str) -> str | None:
    """Return where a video lies, or None if its name would lead out of the folder.

    `template` is `ingest.videos`, with `{video_id}` for the name. The name may hold any
    character; only one that stays below the template's own folder becomes a path. What
    lies there is not looked at: a video may well be a link to another disk.
    """
    if template is None or "\0" in video_id:
        return None
    folder = Path(template.partition("{video_id}")[0] + "x").parent
    path = Path(template.replace("{video_id}", video_id))
    below = path.parts[len(folder.parts) :]
    inside = path.is_relative_to(folder) and below and ".." not in below
    return str(path) if inside else None


def _counts(values: pd.Series) -> dict[str, int]:
    return {str(name): int(count) for name, count in values.value_counts().sort_index().items()}


def refuse_useless(metrics: Mapping[str, Any], params: Ingest) -> None:
    """Stop where a corpus is not what the params say it is.

    Raises:
        CorpusError: no row can be used, none is of a modality that is asked for, or the
            share of rejected rows passes `max_rejected`.
    """
    rows, rejected, limit = metrics["rows"], metrics["rejected"], params.max_rejected
    advice = f"; see {REJECTED} for the place and reason of each"
    if not rows:
        raise CorpusError(f"{params.source}: holds no {params.corpus} rows")
    if rejected == rows:
        raise CorpusError(f"{params.source}: not one of {rows} rows can be used{advice}")
    if rejected / rows > limit:
        raise CorpusError(
            f"{params.source}: {rejected} of {rows} rows can't be used, more than"
            f" ingest.max_rejected ({limit:.2%}){advice}, then mend the corpus or raise the limit"
        )
    if not metrics["moments"]:
        raise CorpusError(
            f"{params.source}: no row is of ingest.query_modalities {params.query_modalities}"
            f" or ingest.pool_modalities {params.pool_modalities}"
        )


def language_figures(spoken: detection.Language) -> dict[str, Any]:
    """Return the metrics of a corpus's language."""
    shares = {code: round(share, 4) for code, share in spoken.shares.items()}
    return {"language": spoken.code, "language_shares": shares, "texts_recognized": spoken.texts}


def main() -> None:
    """Read the corpus, write the tables; stop where too much is wrong."""
    params = load().ingest
    rows = corpora.read(params.corpus, Path(params.source), params.columns)
    result = ingest(tqdm(rows, desc="ingest", unit=" rows", disable=None), params)
    csv_files.write_csv(REJECTED, result.rejected)
    spoken = detection.of_corpus(result.moments["description"], params.language)
    stage.write_metrics("ingest", result.metrics | language_figures(spoken))
    refuse_useless(result.metrics, params)
    tables.MOMENTS.write(result.moments)
    tables.VIDEOS.write(result.videos)
    for remark in support.remarks(spoken):
        stage.say(f"ingest: {remark}")


if __name__ == "__main__":
    stage.run(main)
