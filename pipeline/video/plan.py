"""Which clips there should be: pure, from tables and the content of videos to names."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.core import tables
from pipeline.core.params import Clips
from pipeline.video.recipe import Stretch, Style
from pipeline.video.shelf import name_of


class ClipsError(MomentRankError):
    """Tables that do not belong together."""


class Job(NamedTuple):
    """A clip, and what it is cut out of."""

    clip: str
    video: Path
    stretch: Stretch
    needed: float
    """Seconds that the video must reach, or it is too short."""


def wanted(
    candidates: pd.DataFrame, moments: pd.DataFrame, videos: pd.DataFrame, padding: float
) -> pd.DataFrame:
    """Return `moment_id, video_id, path, end, first, last` of every candidate moment, once.

    Its clip shows [first, last), within the video. Sorted by moment_id.

    Raises:
        ClipsError: a candidate is not among the moments, or its video not among the videos.
    """
    ids = candidates["moment_id"].drop_duplicates()
    found = moments[moments["moment_id"].isin(ids)].merge(videos, on="video_id")
    if unknown := sorted({*ids} - {*found["moment_id"]}):
        raise ClipsError(
            f"{tables.CANDIDATES.path}: the moment {unknown[0]!r} or its video is not in"
            f" {tables.MOMENTS.path} and {tables.VIDEOS.path}; `dvc repro` makes all three"
        )
    first = (found["start"] - padding).clip(lower=0)
    last = np.minimum(found["end"] + padding, found[["end", "duration"]].max(axis=1))
    columns = ["moment_id", "video_id", "path", "end", "first", "last"]
    found = found.assign(first=first, last=last)[columns]
    return found.sort_values("moment_id", ignore_index=True)


def planned(
    moments: pd.DataFrame, contents: Mapping[str, str], params: Clips, slack: float
) -> dict[str, Job]:
    """Return the clip of each moment, by moment_id; moments that show the same share it.

    `contents` are the hashes of videos by their paths: a moment of any other has no clip.
    `slack`: the seconds by which a video may end before the last moment of a clip does.
    """
    have = moments[moments["path"].isin(list(contents))]
    style = Style(params.format, params.height)
    bounds = zip(have["first"].tolist(), have["last"].tolist(), strict=True)
    stretches = list(map(Stretch._make, bounds))
    shas = have["path"].map(contents)
    names = [name_of(sha, shown, style) for sha, shown in zip(shas, stretches, strict=True)]
    ends = have.assign(clip=names).groupby("clip")["end"].transform("max")
    parts = (names, map(Path, have["path"]), stretches, (ends - slack).tolist())
    return dict(zip(have["moment_id"], map(Job, *parts), strict=True))
