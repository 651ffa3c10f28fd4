"""The videos of a corpus (`ingest.videos`): their paths, which exist, and how long they last."""

from collections.abc import Collection, Mapping
from functools import cache, partial
from pathlib import Path

from pipeline.core.parallel import map_in_threads
from pipeline.video.ffmpeg import VideoError, read_duration
from pipeline.video.file_cache import FileCache

ANY_SUFFIX = ".*"
SUFFIXES = frozenset(
    {".3gp", ".asf", ".avi", ".flv", ".gif", ".m2ts", ".m4v", ".mkv", ".mov", ".mp4"}
    | {".mpeg", ".mpg", ".mts", ".mxf", ".ogv", ".ts", ".webm", ".wmv"}
)
"""What `.*` stands for, in capitals too: not a subtitle or a picture next to a video."""
MAX_MISSING = 0.5
"""If a larger share of the videos is missing, the setting is probably wrong."""


def video_path(template: str | None, video_id: str) -> str | None:
    """Return the path of a video, or None if its name would lead out of the folder.

    `template` is `ingest.videos`, with `{video_id}` for the name. The name may contain any
    character, but only one that stays below the template's own folder becomes a path. The
    disk is not read: a video may well be a link to another disk. If the template ends in
    `.*`, so does the path: `find` finds the file.
    """
    if template is None or "\0" in video_id:
        return None
    folder = Path(template.partition("{video_id}")[0] + "x").parent
    path = Path(template.replace("{video_id}", video_id))
    below = path.parts[len(folder.parts) :]
    inside = path.is_relative_to(folder) and below and ".." not in below
    return str(path) if inside else None


def find(path: str) -> Path | None:
    """Return the file that a path of `video_path` stands for, or None if it does not exist.

    Raises:
        VideoError: the path ends in `.*`, and several videos fit.
    """
    if Path(path).is_file():
        return Path(path)
    if not path.endswith(ANY_SUFFIX):
        return None
    name = Path(path.removesuffix(ANY_SUFFIX))
    fitting = _videos_in(name.parent).get(name.name, [])
    if len(fitting) > 1:
        raise VideoError(
            f"{path}: {fitting[0]} and {fitting[1].name} both exist, for one video; remove"
            " one of them, or name the suffix in ingest.videos"
        )
    return fitting[0] if fitting else None


@cache
def _videos_in(folder: Path) -> Mapping[str, list[Path]]:
    """Return the videos of a folder by their names without suffix; read once per run."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return {}
    videos: dict[str, list[Path]] = {}
    for path in paths:
        if path.suffix.lower() in SUFFIXES and path.is_file():
            videos.setdefault(path.stem, []).append(path)
    return videos


def missing_remark(paths: Collection[str]) -> str:
    """Return a warning if none or few of the videos exist, else an empty string."""
    missing = [path for path in paths if find(path) is None]
    if not missing or len(missing) <= MAX_MISSING * len(paths):
        return ""
    count = len(paths) - len(missing) or "none"
    return f"videos found: {count} of {len(paths)}; check ingest.videos (missing: {missing[0]})"


def durations(paths: Collection[str], memory: Path, workers: int) -> dict[str, float]:
    """Return the duration in seconds of each video that exists and is readable, by its path.

    They are cached in `memory` until a video changes.

    Raises:
        VideoError: ffmpeg is missing, or several videos fit one path.
    """
    existing = {path: video for path in paths if (video := find(path))}
    cache = FileCache(memory, read_duration, float)
    lengths = map_in_threads(partial(_length, cache), existing.values(), workers, "durations")
    cache.save()
    return {path: lengths[video] for path, video in existing.items() if lengths[video] > 0}


def _length(cache: FileCache[float], path: Path) -> float:
    try:
        return cache.get(path)
    except OSError:
        return 0.0
