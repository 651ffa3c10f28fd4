"""Where the videos of a corpus lie (`ingest.videos`), which are there, and how long they last."""

from collections.abc import Collection, Mapping
from functools import cache, partial
from pathlib import Path

from pipeline.core.file_cache import FileCache
from pipeline.core.parallel import map_in_threads
from pipeline.video.probe import VideoError, seconds_of

ANY_SUFFIX = ".*"
SUFFIXES = frozenset(
    {".3gp", ".asf", ".avi", ".flv", ".gif", ".m2ts", ".m4v", ".mkv", ".mov", ".mp4"}
    | {".mpeg", ".mpg", ".mts", ".mxf", ".ogv", ".ts", ".webm", ".wmv"}
)
"""What `.*` stands for, in capitals too: a subtitle or a picture beside a video is no video."""
MANY = 0.5
"""Where a larger share of the videos is not there, the setting is probably wrong."""


def video_path(template: str | None, video_id: str) -> str | None:
    """Return where a video lies, or None if its name would lead out of the folder.

    `template` is `ingest.videos`, with `{video_id}` for the name. The name may hold any
    character; only one that stays below the template's own folder becomes a path. What
    lies there is not looked at: a video may well be a link to another disk. A template that
    ends in `.*` gives a path that does, too: `find` looks which file that is.
    """
    if template is None or "\0" in video_id:
        return None
    folder = Path(template.partition("{video_id}")[0] + "x").parent
    path = Path(template.replace("{video_id}", video_id))
    below = path.parts[len(folder.parts) :]
    inside = path.is_relative_to(folder) and below and ".." not in below
    return str(path) if inside else None


def find(path: str) -> Path | None:
    """Return the file that a path of `video_path` means, or None if it is not there.

    Raises:
        VideoError: the path ends in `.*`, and several videos fit.
    """
    if Path(path).is_file():
        return Path(path)
    if not path.endswith(ANY_SUFFIX):
        return None
    wanted = Path(path.removesuffix(ANY_SUFFIX))
    fitting = _videos_in(wanted.parent).get(wanted.name, [])
    if len(fitting) > 1:
        raise VideoError(
            f"{path}: {fitting[0]} and {fitting[1].name} are both there, for one video; remove"
            " one of them, or name the suffix in ingest.videos"
        )
    return fitting[0] if fitting else None


@cache
def _videos_in(folder: Path) -> Mapping[str, list[Path]]:
    """Return the videos of a folder by their names without suffix; read once in a run."""
    try:
        names = sorted(folder.iterdir())
    except OSError:
        return {}
    found: dict[str, list[Path]] = {}
    for path in names:
        if path.suffix.lower() in SUFFIXES and path.is_file():
            found.setdefault(path.stem, []).append(path)
    return found


def missing_remark(paths: Collection[str]) -> str:
    """Return what to say where none or few of the videos are there, else an empty string."""
    missing = [path for path in paths if find(path) is None]
    if not missing or len(missing) <= MANY * len(paths):
        return ""
    there = len(paths) - len(missing)
    some = f"only {there}" if there else "not one"
    verb = "are" if there > 1 else "is"
    return f"{some} of {len(paths)} videos {verb} there: is ingest.videos right? (no {missing[0]})"


def durations(paths: Collection[str], memory: Path, workers: int) -> dict[str, float]:
    """Return the seconds of each video that is there and readable, by its path.

    They are kept in `memory` until a video changes.

    Raises:
        VideoError: ffmpeg is missing, or several videos fit one path.
    """
    found = {path: video for path in paths if (video := find(path))}
    cache = FileCache(memory, seconds_of, float)
    lengths = map_in_threads(partial(_length, cache), found.values(), workers, "durations")
    cache.save()
    return {path: lengths[video] for path, video in found.items() if lengths[video] > 0}


def _length(cache: FileCache[float], path: Path) -> float:
    try:
        return cache.get(path)
    except OSError:
        return 0.0
