"""Cut many clips, in one process or in shards by video: the same files.

A clip is in its folder once it is cut, so a killed run continues with the missing ones. A shard's
part records only which clips the videos do not provide.
"""

import socket
from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pipeline.core import files
from pipeline.core.engine import parts
from pipeline.core.engine.shards import assign_shards, clear_parts, map_shards
from pipeline.core.parallel import cores, map_in_threads
from pipeline.core.sections import Engine
from pipeline.video.cutter import Reason, cut, describe_ffmpeg
from pipeline.video.plan import Job

STAGE = "clips"


class Shard(NamedTuple):
    """The clips of one shard's videos, how many are cut in parallel, and by which `ffmpeg`."""

    jobs: list[Job]
    folder: Path
    workers: int
    ffmpeg: str


def cut_all(jobs: Collection[Job], folder: Path, workers: int, engine: Engine) -> dict[str, Reason]:
    """Cut each clip into the folder; return why a video does not provide it, by clip name.

    `workers` are cut in parallel in each shard. 0: one per core, or one if there are several
    shards, which share the cores.
    """
    workers = workers or (cores() if engine.shards == 1 else 1)
    ffmpeg = describe_ffmpeg() if jobs else ""
    shards = [Shard(some, folder, workers, ffmpeg) for some in _divide(jobs, engine.shards)]
    given = {parts.part_key(*(job.clip for job in shard.jobs)): shard for shard in shards}
    clear = partial(clear_parts, STAGE, engine)
    clear()  # a video may have come back since, and a clip may have gone
    verdicts: dict[str, Reason] = {}
    for path in map_shards(STAGE, cut_shard, given, engine).values():
        verdicts |= files.read_json(path)
    clear()
    return verdicts


def cut_shard(shard: Shard, path: Path) -> None:
    """Cut a shard's clips; write why some could not be cut, by name.

    Raises:
        EngineError: this machine sees another video than the one that a clip is named by, or has
            another ffmpeg.
    """
    if (own := describe_ffmpeg()) != shard.ffmpeg:
        raise parts.EngineError(
            f"{socket.gethostname()} would cut other clips: it has {own!r}, and the stage's own"
            f" process {shard.ffmpeg!r}. Give every machine the same ffmpeg, or set"
            " IMAGEIO_FFMPEG_EXE to one that all see, then run it again"
        )
    for video, sha256 in {job.video: job.sha256 for job in shard.jobs}.items():
        if video.is_file():  # else `cut` says so
            parts.Input(video, sha256).locate()

    def cut_one(job: Job) -> Reason | None:
        target = shard.folder / job.clip
        return cut(job.video, job.interval, job.needed, job.clip_format, target)

    verdicts = map_in_threads(cut_one, shard.jobs, shard.workers, "clips")
    files.write_json(path, {job.clip: reason for job, reason in verdicts.items() if reason})


def _divide(jobs: Collection[Job], shards: int) -> Iterable[list[Job]]:
    numbers = assign_shards([str(job.video) for job in jobs], shards).tolist()
    by_shard: dict[int, list[Job]] = {number: [] for number in sorted(set(numbers))}
    for job, number in zip(jobs, numbers, strict=True):
        by_shard[number].append(job)
    return by_shard.values()
