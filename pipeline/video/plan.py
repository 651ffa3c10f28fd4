"""Which clips are needed, their names, and which are in the folder."""

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core import tables
from pipeline.core.sections import Clips
from pipeline.video.cutter import VERSION, ClipFormat, Interval


class ClipsError(MomentRankError):
    """The tables do not match."""


class Job(NamedTuple):
    """A clip to cut."""

    clip: str
    video: Path
    interval: Interval
    needed: float
    """Seconds that the video must reach, or it is too short."""
    sha256: str
    """The video's."""
    clip_format: ClipFormat


def select_moments(
    candidates: pd.DataFrame, moments: pd.DataFrame, videos: pd.DataFrame, padding: float
) -> pd.DataFrame:
    """Return `moment_id, video_id, path, end, first, last, modality` of every candidate, once.

    Its clip shows [first, last), within the video. Sorted by moment_id.

    Raises:
        ClipsError: a candidate is not among the moments, or its video not among the videos.
    """
    ids = candidates["moment_id"].drop_duplicates()
    rows = moments[moments["moment_id"].isin(ids)].merge(videos, on="video_id")
    if unknown := sorted({*ids} - {*rows["moment_id"]}):
        raise ClipsError(
            f"{tables.POOL.path}: the moment {unknown[0]!r} or its video is not in"
            f" {tables.MOMENTS.path} and {tables.VIDEOS.path}; `dvc repro` makes all three"
        )
    first = (rows["start"] - padding).clip(lower=0)
    last = np.minimum(rows["end"] + padding, rows[["end", "duration"]].max(axis=1))
    columns = ["moment_id", "video_id", "path", "end", "first", "last", "modality"]
    rows = rows.assign(first=first, last=last)[columns]
    return rows.sort_values("moment_id", ignore_index=True)


def plan_clips(
    moments: pd.DataFrame, contents: Mapping[str, str], params: Clips, slack: float
) -> dict[str, Job]:
    """Return the clip of each moment, by moment_id; moments that show the same share it.

    `contents` are the hashes of videos by their paths: moments of other videos have no clip.
    With `clips.audio`, those of what is said (modality `t`, `vt`) keep their sound.
    `slack`: the seconds by which a video may end before the last moment of a clip does.
    """
    have = moments[moments["path"].isin(list(contents))]
    formats = [
        ClipFormat(params.format, params.height, params.audio and "t" in modality)
        for modality in have["modality"]
    ]
    bounds = zip(have["first"].tolist(), have["last"].tolist(), strict=True)
    intervals = list(map(Interval._make, bounds))
    shas = have["path"].map(contents)
    names = list(map(clip_name, shas, intervals, formats))
    ends = have.assign(clip=names).groupby("clip")["end"].transform("max")
    columns = (names, map(Path, have["path"]), intervals, (ends - slack).tolist(), shas, formats)
    return dict(zip(have["moment_id"], map(Job, *columns), strict=True))


def clip_name(video_sha: str, interval: Interval, clip_format: ClipFormat) -> str:
    """Return a clip's file name: a hash of what it shows, and of nothing else.

    It does not depend on which moment needs the clip or which ffmpeg cuts it, and shows no video's
    name; a clip that exists need not be cut again.
    """
    facts = [VERSION, video_sha, *interval, clip_format.format, clip_format.height]
    digest = hashlib.sha256(json.dumps(facts).encode())
    return f"{digest.hexdigest()[:32]}{clip_format.suffix}"


def has_clip(folder: Path, clip: str) -> bool:
    """Tell whether a clip exists and is not empty (a disk crash can leave it so)."""
    path = folder / clip
    return path.is_file() and path.stat().st_size > 0


def remove_others(folder: Path, clips: Collection[str]) -> None:
    """Remove every file but these clips: old ones, and what a killed run left unfinished."""
    for path in folder.iterdir():
        if path.name not in clips and not path.is_dir():
            path.unlink()
