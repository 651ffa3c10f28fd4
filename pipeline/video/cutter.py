"""Cut a stretch out of a video with ffmpeg, accurate to the frame at both ends.

The first frame of a clip is the first one at or after the start, the last one the last
before the end. Where a seek lands is the container's business: frames are chosen by their
own time, and a seek that landed too late is seen by its first frame and done without.
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

from pipeline.video.damage import is_damaged
from pipeline.video.ffmpeg import program
from pipeline.video.probe import ONLY_FILES, VideoError
from pipeline.video.recipe import Stretch, Style
from pipeline.video.timeline import HALF_A_MICROSECOND, Timeline

Reason = Literal["no-videos", "missing", "unreadable", "too-short", "no-frame"]
"""Why a moment has no clip: there are no videos at all; the video is not there; ffmpeg can't
read it, or it is damaged there; it ends before the moment does; no frame appears in the moment,
so short is it."""

LEAD = 0.5
"""Seconds that are decoded before the start, for frames that lean on earlier ones."""
PATIENCE = 1800
"""Seconds after which ffmpeg is taken to hang."""


def cut(video: Path, stretch: Stretch, needed: float, style: Style, target: Path) -> Reason | None:
    """Write a clip, whole or not at all; return None, or why the video does not give it.

    The video must reach `needed` (seconds), or it is too short.

    Raises:
        VideoError: the clip could not be written, and the video is not to blame.
    """
    with _unfinished(target) as path:
        tried = _attempt(video, stretch, style, (*style.codec(), "-y", f"file:{path}"))
        if tried.failed:
            bare = _attempt(video, stretch, style, ("-f", "null", "-"))
            fault: Reason | None = "unreadable" if bare.failed else None
            if reason := _lack(bare.timeline, stretch, needed) or fault:
                return reason
            raise VideoError(f"{target}: ffmpeg could not write it: {tried.complaint}")
        reason = _lack(tried.timeline, stretch, needed)
        if tried.is_damaged and reason != "too-short":  # as a download is that broke off
            reason = "unreadable"
        if not reason:
            _publish(path, target)
        return reason


def _lack(timeline: Timeline, stretch: Stretch, needed: float) -> Reason | None:
    if not timeline.frames:
        return "unreadable"
    if not timeline.reaches(needed):
        return "too-short"
    return None if timeline.shows(stretch.start, stretch.end) else "no-frame"


class _Attempt(NamedTuple):
    failed: bool
    timeline: Timeline
    complaint: str
    is_damaged: bool = False


def _attempt(video: Path, stretch: Stretch, style: Style, output: tuple[str, ...]) -> _Attempt:
    """Run ffmpeg from shortly before the start; where that went wrong, from the beginning."""
    seek = stretch.start - LEAD
    if seek > 0:
        sought = ("-noaccurate_seek", "-ss", f"{seek:.6f}")
        tried = _run(_command(video, stretch, style, sought), output)
        if tried.timeline.begins_by(stretch.start) and not tried.is_damaged:
            return tried
    return _run(_command(video, stretch, style, ()), output)


def _command(video: Path, stretch: Stretch, style: Style, seek: tuple[str, ...]) -> list[str]:
    source = (*ONLY_FILES, "-i", f"file:{video}", "-map", "0:V:0")
    time = f"t+{float(HALF_A_MICROSECOND):.7f}"
    chosen = f"select=gte({time}\\,{stretch.start!r})*lt({time}\\,{stretch.end!r})"
    # showinfo stands before trim, so that the first frame after the end is seen as well.
    filters = f"showinfo=checksum=0,trim=end={stretch.end + LEAD!r},{chosen}"
    told = ("-nostdin", "-hide_banner", "-nostats", "-loglevel", "level+info")
    times = ("-copyts", "-start_at_zero", "-threads", "1", "-filter_threads", "1")
    return [program(), *told, *times, *seek, *source, "-vf", f"{filters},{style.filters(stretch)}"]


def _run(command: list[str], output: tuple[str, ...]) -> _Attempt:
    try:
        done = subprocess.run(  # noqa: S603  (our own command line)
            [*command, "-threads", "1", *output],
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return _Attempt(True, Timeline(""), f"no end after {PATIENCE} s")
    told = done.stderr.decode(errors="replace")
    errors = [line for line in told.splitlines() if "[error]" in line or "[fatal]" in line]
    timeline = Timeline(told)
    complaint = (errors or ["it said nothing"])[-1]
    return _Attempt(done.returncode != 0, timeline, complaint, is_damaged(told, timeline))


@contextmanager
def _unfinished(target: Path) -> Iterator[Path]:
    """Give a file beside `target` of a name of its own: one that lives on disturbs nobody."""
    handle, name = tempfile.mkstemp(
        prefix=f".{target.stem}.", suffix=target.suffix, dir=target.parent
    )
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _publish(path: Path, target: Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
    path.chmod(0o644)
    path.replace(target)
