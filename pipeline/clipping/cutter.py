"""Cut a stretch out of a video with ffmpeg, accurate to the frame at both ends.

The first frame of a clip is the first one at or after the start, the last one the last
before the end. Where a seek lands is the container's business: frames are chosen by their
own time, and a seek that landed too late is seen by its first frame and done without.
"""

import math
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from pipeline.clipping.timeline import HALF_A_MICROSECOND, Timeline
from pipeline.video import VideoError, ffmpeg, system_ffmpeg

Reason = Literal["no-videos", "missing", "unreadable", "too-short", "no-frame"]
"""Why a moment has no clip: there are no videos at all; the video is not there; ffmpeg can't
read it; it ends before the moment does; no frame appears in the moment, so short is it."""

RECIPE = 1
"""Raise it when clips must be cut anew because what follows here has changed."""
GIF_FPS = 3
LEAD = 0.5
"""Seconds that are decoded before the start, for frames that lean on earlier ones."""
PATIENCE = 1800
"""Seconds after which ffmpeg is taken to hang."""

MP4 = (
    *("-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p"),
    *("-a53cc", "0", "-fps_mode", "passthrough", "-enc_time_base", "1/90000"),
    *("-movflags", "+faststart", "-write_tmcd", "0"),
)
"""What every browser plays, each frame at its own time; subtitles in the pictures are left out."""
NOTHING_BUT_PICTURES = (
    *("-an", "-sn", "-dn", "-map_chapters", "-1", "-map_metadata", "-1"),
    *("-map_metadata:s:v", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"),
)


PALETTES = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"
"""One for each picture: one for all of them would hold the whole clip in memory."""


class Stretch(NamedTuple):
    """What is cut: the half-open interval [start, end) of a video, in seconds.

    The video must reach `needed`, or it is too short.
    """

    start: float
    end: float
    needed: float


@dataclass(frozen=True)
class Style:
    """What a clip is like: `height` pixels at most."""

    format: Literal["mp4", "gif"]
    height: int

    def filters(self, stretch: Stretch) -> str:
        """Return ffmpeg's filters that turn the frames of a stretch into those of a clip."""
        height = f"max(2\\,2*trunc(min({self.height}\\,ih)/2))"
        scaled = f"scale=w=max(2\\,2*round(oh*dar/2)):h={height},setsar=1"
        if self.format == "mp4":
            return f"setpts=PTS-STARTPTS,{scaled}"
        return f"{_thinned(stretch)},{scaled},{PALETTES}"

    def codec(self) -> tuple[str, ...]:
        """Return ffmpeg's options for the file."""
        return (*(MP4 if self.format == "mp4" else ()), *NOTHING_BUT_PICTURES)


def _thinned(stretch: Stretch) -> str:
    """Return the filters after which k/3 s shows the last frame that came until then."""
    zero = f"settb=1/1000000,setpts=PTS-{round(stretch.start * 1e6) + 1}"
    pictures = math.ceil(GIF_FPS * (stretch.end - stretch.start) - 1e-6)
    return f"{zero},fps={GIF_FPS}:round=up:start_time=0,trim=end_frame={max(pictures, 1)}"


def cut(video: Path, stretch: Stretch, style: Style, target: Path) -> Reason | None:
    """Write a clip, whole or not at all; return None, or why the video does not give it.

    Raises:
        VideoError: the clip could not be written, and the video is not to blame.
    """
    with _unfinished(target) as path:
        tried = _attempt(video, stretch, style, (*style.codec(), "-y", f"file:{path}"))
        if tried.failed:
            bare = _attempt(video, stretch, style, ("-f", "null", "-"))
            fault: Reason | None = "unreadable" if bare.failed else None
            if reason := _lack(bare.timeline, stretch) or fault:
                return reason
            raise VideoError(f"{target}: ffmpeg could not write it: {tried.complaint}")
        reason = _lack(tried.timeline, stretch)
        if not reason:
            _publish(path, target)
        return reason


def _lack(timeline: Timeline, stretch: Stretch) -> Reason | None:
    if not timeline.frames:
        return "unreadable"
    if not timeline.reaches(stretch.needed):
        return "too-short"
    return None if timeline.shows(stretch.start, stretch.end) else "no-frame"


class _Attempt(NamedTuple):
    failed: bool
    timeline: Timeline
    complaint: str


def _attempt(video: Path, stretch: Stretch, style: Style, output: tuple[str, ...]) -> _Attempt:
    """Run ffmpeg from shortly before the start; where that comes too late, from the beginning."""
    seek = stretch.start - LEAD
    if seek > 0:
        tried = _run(
            _command(video, stretch, style, ("-noaccurate_seek", "-ss", f"{seek:.6f}")), output
        )
        if tried.timeline.begins_by(stretch.start):
            return tried
    return _run(_command(video, stretch, style, ()), output)


def _command(video: Path, stretch: Stretch, style: Style, seek: tuple[str, ...]) -> list[str]:
    # Of a file of any name only the file is read: a playlist in it leads nowhere.
    source = ("-protocol_whitelist", "file", "-i", f"file:{video}", "-map", "0:V:0")
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
    return _Attempt(done.returncode != 0, Timeline(told), (errors or ["it said nothing"])[-1])


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


@cache
def program() -> str:
    """Return the ffmpeg that cuts: the system's, if it can do all that is asked, else the packaged.

    IMAGEIO_FFMPEG_EXE, where it is set, names another.

    Raises:
        VideoError: there is none.
    """
    system = system_ffmpeg()
    return system if system and _able(system) else ffmpeg()


def _able(program_: str) -> bool:
    """Try it: some have no H.264, and those before 5.1 do not know all of the options."""
    source = ("-f", "lavfi", "-i", "color=s=16x16:d=0.1")
    style = Style("mp4", 16)
    command = [
        program_,
        "-nostdin",
        *source,
        "-vf",
        style.filters(Stretch(0, 1, 1)),
        *style.codec(),
    ]
    trial = subprocess.run(  # noqa: S603  (our own command line)
        [*command, "-f", "null", "-"], capture_output=True, check=False
    )
    return trial.returncode == 0
