"""Read a corpus of described moments in its own format: moments, videos, and what is wrong.

reads   the corpus at ingest.source (a file or a folder), in the format ingest.corpus
writes  datasets/work/moments.parquet, videos.parquet, rejected_moments.csv

A row that can't be used goes to rejected_moments.csv with its place and reason. More of
them than the share ingest.max_rejected stop the run. Nothing is dropped silently.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from momentrank.errors import MomentRankError
from momentrank.ids import is_utf8
from momentrank.segments import LATEST
from pipeline import corpora
from pipeline.core import cli, csv_files, tables
from pipeline.core.parallel import cores
from pipeline.core.params import load
from pipeline.core.progress import progress
from pipeline.core.sections import Ingest
from pipeline.corpora import rejected
from pipeline.corpora.rows import Row
from pipeline.corpora.sources import list_unread
from pipeline.language import detection, support
from pipeline.names.evidence import advice
from pipeline.video.files import durations, missing_remark, video_path

REJECTED = tables.WORK / "rejected_moments.csv"
MAX_ID = 500
"""Characters: files and servers refuse longer names."""
Probe = Callable[[Collection[str]], Mapping[str, float]]
"""Returns the seconds of videos by their paths, without videos that do not exist."""
DURATIONS = Path(".cache/ingest/durations.json")
SAME_LENGTH = 0.5
"""Seconds, within which a duration is the length of its moment, which a table may have rounded."""
LARGEST_INTEGER = 2**63
"""A larger integer is not a time, and pandas can't convert it."""


class CorpusError(MomentRankError):
    """The corpus can't be used."""


class Ingested(NamedTuple):
    """What a corpus yields; `metrics` counts every row, used or not."""

    moments: pd.DataFrame
    videos: pd.DataFrame
    rejected: pd.DataFrame
    metrics: dict[str, Any]


def ingest(rows: Iterable[Row], params: Ingest, probe: Probe | None = None) -> Ingested:
    """Sort the rows of a corpus into moments, videos and rejected rows.

    Every row is in `moments`, in `rejected`, or of a modality that neither queries nor
    pool want (counted as `other_modality`). `probe` reads the durations of videos for which
    no row gives one.
    """
    raw = pd.DataFrame(rows, columns=list(Row._fields), dtype=object)
    typed = _add_durations(_convert(raw), params.videos, probe)
    reason = _reasons(typed, params)
    good = typed[reason == ""]
    wanted = good["modality"].isin(params.query_modalities + params.pool_modalities)
    clipped = good["end"] > good["duration"]
    good = good.assign(end=np.minimum(good["end"], good["duration"]))
    videos = _videos(good, params.videos)
    refused = rejected.as_text(raw[reason != ""]).assign(reason=reason[reason != ""])
    return Ingested(
        moments=tables.MOMENTS.check(good[wanted][tables.MOMENTS.columns]),
        videos=tables.VIDEOS.check(videos[tables.VIDEOS.columns]),
        rejected=refused[rejected.COLUMNS],
        metrics={
            "rows": len(raw),
            "moments": int(wanted.sum()),
            "videos": len(videos),
            "videos_without_path": int(videos["path"].isna().sum()),
            "videos_with_several_durations": int(videos["several"].sum()),
            "by_modality": _counts(good[wanted]["modality"]),
            "other_modality": int((~wanted).sum()),
            "ends_clipped": int((clipped & wanted).sum()),
            "durations_of_moments": int(typed["of_moment"].sum()),
            "rejected": len(refused),
            "rejected_by_reason": _counts(refused["reason"]),
        },
    )


def _convert(raw: pd.DataFrame) -> pd.DataFrame:
    """Convert the fields to their types; what can't be converted becomes null, to be rejected."""
    numbers = {name: _numbers(raw[name]) for name in ("start", "end", "duration")}
    kinds = {"moment_id": _as_id, "video_id": _as_id, "description": _as_text}
    texts = {name: _objects(map(kind, raw[name])) for name, kind in kinds.items()}
    frame = _mark_broken_text(raw.assign(**numbers, **texts))
    usual = frame["video_id"].map(_usual_durations(frame))
    several = frame["duration"].notna() & (frame["duration"] != usual)
    return frame.assign(duration=usual, several=several, of_moment=_is_of_moment(frame))


def _is_of_moment(frame: pd.DataFrame) -> pd.Series:
    """Tell whether a row's duration is that of its moment: a video would end before that does."""
    length = frame["end"] - frame["start"]
    past = frame["end"] > frame["duration"] + SAME_LENGTH
    return past & (length > 0) & ((frame["duration"] - length).abs() <= SAME_LENGTH)


def _add_durations(frame: pd.DataFrame, template: str | None, probe: Probe | None) -> pd.DataFrame:
    """Read the durations that no row gives from the videos themselves."""
    lacking = frame.loc[frame["duration"].isna(), "video_id"].dropna().unique()
    paths = {name: path for name in lacking if (path := video_path(template, name))}
    if probe is None or not paths:
        return frame
    durations_by_path = probe(list(paths.values()))
    seconds = {name: durations_by_path.get(path, np.nan) for name, path in paths.items()}
    return frame.assign(duration=frame["duration"].fillna(frame["video_id"].map(seconds)))


def _usual_durations(frame: pd.DataFrame) -> pd.Series:
    """Return each video's duration: that of most of its rows, the longest in a tie."""
    rows = frame[frame["duration"] > 0].groupby(["video_id", "duration"]).size()
    counts = rows.rename("rows").reset_index().sort_values(["rows", "duration"])
    return counts.drop_duplicates("video_id", keep="last").set_index("video_id")["duration"]


def _mark_broken_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Mark and clear text that is not UTF-8, which pandas can't store."""
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
    has_words = any(map(str.isalnum, value)) or not is_utf8(value)
    return " ".join(value.split()) if has_words else None


def _reasons(frame: pd.DataFrame, params: Ingest) -> pd.Series:
    """Return the first reason not to use each row, or an empty string."""
    start, end, duration = frame["start"], frame["end"], frame["duration"]
    reasons = {
        "no-id": frame["moment_id"].isna(),
        "no-video": frame["video_id"].isna(),
        "id-too-long": _exceeds(frame["moment_id"], MAX_ID) | _exceeds(frame["video_id"], MAX_ID),
        "empty-text": frame["description"].isna(),
        "too-long": _exceeds(frame["description"], params.max_characters),
        "unknown-modality": ~frame["modality"].isin(tables.MODALITIES),
        "not-a-number": start.isna() | end.isna(),
        "no-duration": ~(duration > 0),
        "negative-time": (start < 0) | (end < 0),
        "too-late": (start > LATEST) | (end > LATEST) | (duration > LATEST),
        "end-not-after-start": end <= start,
        "starts-after-video": start >= duration,
        "ends-after-video": (end > duration) & ~(end - duration < params.end_slack),
    }
    first = np.select(list(reasons.values()), list(reasons), default="")
    reason = frame["problem"].where(frame["problem"] != "", pd.Series(first, frame.index))
    repeated = frame["moment_id"].where(reason == "").duplicated() & (reason == "")
    return reason.mask(repeated, "duplicate-id").astype("str")


def _exceeds(texts: pd.Series, limit: int) -> pd.Series:
    return texts.astype("str").str.len().gt(limit) & texts.notna()


def _videos(good: pd.DataFrame, template: str | None) -> pd.DataFrame:
    by_video = good.groupby("video_id", sort=True)
    videos = by_video.agg(duration=("duration", "first"), several=("several", "any")).reset_index()
    paths = [video_path(template, name) for name in videos["video_id"]]
    return videos.assign(path=pd.Series(paths, dtype="str"))


def _counts(values: pd.Series) -> dict[str, int]:
    return {str(name): int(count) for name, count in values.value_counts().sort_index().items()}


def refuse_useless(result: Ingested, params: Ingest) -> None:
    """Stop if a corpus is not what the parameters say.

    Raises:
        CorpusError: no row can be used, none is of a modality that is asked for, the durations
            are not those of videos, or the share of rejected rows passes `max_rejected`.
    """
    rows, unusable, limit = result.metrics["rows"], len(result.rejected), params.max_rejected
    if not rows:
        raise CorpusError(f"{params.source}: contains no {params.corpus} rows")
    if result.metrics["durations_of_moments"] > rows / 2:
        raise CorpusError(
            f"{params.source}: the durations are those of the moments, not of their videos. Say"
            " which column has the videos' (ingest.columns: {duration: ITS COLUMN}), or that none"
            " has (ingest.columns: {duration: null}); then they are read from ingest.videos"
        )
    if unusable / rows > limit or unusable == rows:
        problem, remedy = f"none of the {rows} rows can be used", "check ingest.corpus"
        if unusable < rows:
            problem = f"{unusable} of {rows} rows can't be used, more than ingest.max_rejected"
            problem, remedy = f"{problem} ({limit:.2%})", "fix the corpus, or raise the limit"
        raise CorpusError(
            f"{params.source}: {problem}:\n{rejected.summary(result.rejected)}\n"
            f"Each row is in {REJECTED}, with its place and reason; {remedy}"
        )
    if not result.metrics["moments"]:
        raise CorpusError(
            f"{params.source}: no row is of ingest.query_modalities {params.query_modalities}"
            f" or ingest.pool_modalities {params.pool_modalities}"
        )


def remarks(result: Ingested) -> list[str]:
    """Return how much was read, and how much was rejected for which reasons."""
    lines = [f"{len(result.moments):,} moments of {len(result.videos):,} videos"]
    if len(result.rejected):
        listed = rejected.summary(result.rejected)
        lines.append(f"{len(result.rejected):,} rows are rejected, listed in {REJECTED}:\n{listed}")
    return [*lines, *filter(None, [missing_remark(list(result.videos["path"].dropna()))])]


def main() -> None:
    """Read the corpus, write the tables; stop if too many rows are rejected."""
    settings = load()
    params = settings.ingest
    rows = corpora.read(params.corpus, Path(params.source), params.columns)
    probe = partial(durations, memory=DURATIONS, workers=cores())
    result = ingest(progress("ingest", rows, unit="rows"), params, probe)
    csv_files.write_csv(REJECTED, result.rejected)
    spoken = detection.determine_language(result.moments["description"], params.language)
    shares = {code: round(share, 4) for code, share in spoken.shares.items()}
    language = {"language": spoken.code, "language_shares": shares}
    cli.write_metrics("ingest", result.metrics | language | {"texts_recognized": spoken.texts})
    refuse_useless(result, params)
    tables.MOMENTS.write(result.moments)
    tables.VIDEOS.write(result.videos)
    texts = list(result.moments["description"].drop_duplicates())
    fitting = advice.advise(texts, settings.rewrite.backend)
    lines = [*remarks(result), *support.list_remarks(spoken), fitting]
    if left := list_unread(Path(params.source)):
        lines.append(f"not read: {', '.join(left)}; unpack them; save spreadsheets as CSV")
    for line in filter(None, lines):
        cli.log(f"ingest: {line}")


if __name__ == "__main__":
    cli.run_stage(main)
