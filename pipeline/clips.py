"""Cut every candidate moment out of its video, once, for the annotators to see.

reads   datasets/work/{neighbours,moments,videos}.parquet, and the videos that they name;
        datasets/campaign/{pool,audit,topup}.csv
writes  datasets/work/clips/ (H.264 or GIF; with the sound of moments that are described by what is
        said, if `clips.audio`), clips.csv, failed_clips.csv

A clip shows what a player shows in [start - clips.padding, end + clips.padding), within the video:
each frame until the next. Its name is a hash of what it shows (the video's content, the interval,
format and height), so only missing or changed clips are cut, and a killed run continues where it
stopped. A moment whose video is missing, unreadable or ends more than ingest.end_slack before the
moment does, or whose clip would be shorter or longer, is listed in failed_clips.csv with the
reason. A clip cut under a larger end_slack is kept, and so is every clip
of the exam (datasets/campaign/exam.csv): everyone takes the exam with the same clips. DVC does not
track the videos: after you fix or change one, run `dvc repro -sf clips`, then `dvc repro`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from pipeline.core import cli, files, tables
from pipeline.core.machine_pool import read_machine_pool
from pipeline.core.parallel import cores, map_in_threads
from pipeline.core.params import Params, load
from pipeline.core.sections import Clips, Engine
from pipeline.video.corpus_videos import ANY_SUFFIX, find, missing_remark
from pipeline.video.cutter import Reason
from pipeline.video.cutting import cut_all
from pipeline.video.file_cache import FileCache
from pipeline.video.plan import Job, has_clip, plan_clips, remove_others, select_moments
from pipeline.video.store import open_store

FOLDER = tables.WORK / "clips"
HASHES = Path(".cache/clips/hashes.json")


class Outcome(NamedTuple):
    """Each moment's clip, or the reason why it has none; and the clips that this run cut."""

    clips: dict[str, str]
    failed: dict[str, Reason]
    cut: set[str]


def clips(
    moments: pd.DataFrame, params: Params, hashes: FileCache[str], protected: Collection[str] = ()
) -> Outcome:
    """Cut the moments' missing clips; remove the other files in the folder.

    The files in `protected` stay even if no moment uses them any more. Clips of a video that is
    missing now also stay, unused: its disk may come back.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    moments = _locate(moments, hashes.paths())
    if params.ingest.videos is None:
        return Outcome({}, dict.fromkeys(moments["moment_id"], "no-videos"), set())
    contents, absent = _videos(moments, hashes, params.clips.workers or cores())
    hashes.save()
    jobs = plan_clips(moments, contents, params.clips, params.ingest.slack)
    possible = {moment: job for moment, job in jobs.items() if moment not in absent}
    outcome = _cut_missing(possible, params.clips, params.engine)
    remove_others(FOLDER, {job.clip for job in jobs.values()} | {*protected})
    return outcome._replace(failed=absent | outcome.failed)


def _locate(moments: pd.DataFrame, before: Iterable[str]) -> pd.DataFrame:
    """Return the moments with the path of each video's file: where it is, else where it was."""
    was = {str(Path(name).with_suffix(ANY_SUFFIX)): name for name in before}
    paths = moments["path"].dropna().unique()
    files_by_path = {path: str(find(path) or was.get(path, path)) for path in paths}
    return moments.assign(path=moments["path"].map(files_by_path))


def _videos(
    moments: pd.DataFrame, hashes: FileCache[str], workers: int
) -> tuple[dict[str, str], dict[str, Reason]]:
    """Return the content hashes of videos by path, and why moments have no readable video."""
    paths = list(map(str, moments["path"].dropna().unique()))
    seen = map_in_threads(partial(_look, hashes), paths, workers, "videos")
    contents = {path: sha for path, (sha, _) in seen.items() if sha}
    # A moment has no path if the name of its video leads out of the folder.
    reasons = {path: reason for path, (_, reason) in seen.items()}
    pairs = zip(moments["moment_id"].tolist(), moments["path"].tolist(), strict=True)
    by_moment = {moment: reasons.get(path, "missing") for moment, path in pairs}
    return contents, {moment: reason for moment, reason in by_moment.items() if reason}


def _look(hashes: FileCache[str], name: str) -> tuple[str | None, Reason | None]:
    """Return a video's hash (the last known one if it can't be read), and why it can't be read."""
    path = Path(name)
    if not path.is_file():
        return hashes.last(path), "missing"
    try:
        return hashes.get(path), None
    except OSError:
        return hashes.last(path), "unreadable"


def _cut_missing(jobs: Mapping[str, Job], params: Clips, engine: Engine) -> Outcome:
    missing = {job.clip: job for job in jobs.values() if not has_clip(FOLDER, job.clip)}
    lacking = cut_all(missing.values(), FOLDER, params.workers, engine)
    return Outcome(
        {moment: job.clip for moment, job in jobs.items() if job.clip not in lacking},
        {moment: lacking[job.clip] for moment, job in jobs.items() if job.clip in lacking},
        missing.keys() - lacking.keys(),
    )


def clips_of_exam() -> set[str]:
    """Return the clips that the exam still shows newcomers, whatever their moments show now."""
    return set(tables.EXAM.read()["clip"]) if tables.EXAM.path.is_file() else set()


def clip_table(moments: pd.DataFrame, outcome: Outcome) -> pd.DataFrame:
    """Return the table of clips; `clip_sha` is the clip's name, and so what it shows."""
    have = moments[moments["moment_id"].isin(list(outcome.clips))]
    names = have["moment_id"].map(outcome.clips)
    stems = names.map(lambda name: Path(name).stem)
    seconds = (have["last"] - have["first"]).round(3)
    return have[["moment_id"]].assign(clip=names, clip_sha=stems, seconds=seconds)


def table_of_failures(moments: pd.DataFrame, outcome: Outcome) -> pd.DataFrame:
    """Return the table of moments without a clip."""
    lack = moments[moments["moment_id"].isin(list(outcome.failed))]
    return lack[["moment_id", "video_id"]].assign(reason=lack["moment_id"].map(outcome.failed))


def collect_metrics(outcome: Outcome) -> dict[str, object]:
    """Return the metrics: clips are files, which several moments may share."""
    names = {*outcome.clips.values()}
    return {
        "moments": len(outcome.clips) + len(outcome.failed),
        "clips": len(names),
        "cut": len(outcome.cut),
        "reused": len(names - outcome.cut),
        "failed": len(outcome.failed),
        "failed_by_reason": dict(sorted(Counter(outcome.failed.values()).items())),
        "bytes": sum((FOLDER / name).stat().st_size for name in names),
    }


def remark(outcome: Outcome) -> str:
    """Return what was done, what failed, and the next command."""
    failed = Counter(outcome.failed.values())
    if "no-videos" in failed:
        return "clips: ingest.videos is null, so there are no clips, and nobody can judge a pair"
    names = {*outcome.clips.values()}
    summary = f"clips: {len(outcome.cut)} of {len(names)} clips cut, the others already existed"
    if not failed:
        return summary
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(failed.items()))
    return (
        f"{summary}; no clip for {failed.total()} moments ({reasons}): see"
        f" {tables.FAILED_CLIPS.path}, fix the videos, then run: dvc repro -sf clips && dvc repro"
    )


def main() -> None:
    """Cut the missing clips, upload them to where browsers get them, and report what failed."""
    params = load()
    store = open_store(params.clips.url)
    by_people = (tables.POOL, tables.AUDIT, tables.TOPUP)
    judged = pd.concat([*(table.read() for table in by_people), read_machine_pool(params)])
    moments = select_moments(
        judged, tables.MOMENTS.read(), tables.VIDEOS.read(), params.clips.padding
    )
    outcome = clips(moments, params, FileCache(HASHES, files.file_sha256, str), clips_of_exam())
    if store:
        store.upload([FOLDER / name for name in sorted({*outcome.clips.values()})])
    tables.CLIPS.write(clip_table(moments, outcome))
    tables.FAILED_CLIPS.write(table_of_failures(moments, outcome))
    cli.write_metrics("clips", collect_metrics(outcome))
    cli.log(remark(outcome))
    if missing := missing_remark(list(moments["path"].dropna().unique())):
        cli.log(f"clips: {missing}")


if __name__ == "__main__":
    cli.run_stage(main)
