"""Clips: their format, and cutting an interval out of a video, accurate to the frame.

The first frame of a clip is the first one at or after the start, its last frame is the last one
before the end. Frames are selected by their own time, because a seek lands where the container's
index points; if that is too late, the video is read from the beginning.
"""

import math
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Literal, NamedTuple

from pipeline.core import files
from pipeline.video.ffmpeg import ONLY_FILES, VideoError, ffmpeg, system_ffmpeg
from pipeline.video.timeline import HALF_A_MICROSECOND, Timeline

Reason = Literal["no-videos", "missing", "unreadable", "too-short", "no-frame"]
"""Why a moment has no clip: there are no videos at all; the video is missing; ffmpeg can't read
it, or it is damaged there; it ends before the moment does; the moment is too short for a frame."""

LEAD = 0.5
"""Seconds decoded before the start, for frames that depend on earlier ones."""
TIMEOUT = 1800
"""Seconds after which ffmpeg counts as hanging."""
VERSION = 1
"""Increase it if clips must be cut again because a format below has changed."""
GIF_FPS = 3
MP4 = (
    *("-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p"),
    *("-a53cc", "0", "-fps_mode", "passthrough", "-enc_time_base", "1/90000"),
    *("-movflags", "+faststart", "-write_tmcd", "0"),
)
"""What every browser plays, each frame at its own time; without subtitles in the frames."""
AAC = ("-c:a", "aac", "-b:a", "96k", "-ac", "2", "-map_metadata:s:a", "-1", "-flags:a", "+bitexact")
SOUND = ".sound"
PLAIN = (
    *("-map_chapters", "-1", "-map_metadata", "-1", "-map_metadata:s:v", "-1"),
    *("-fflags", "+bitexact", "-flags:v", "+bitexact"),
)
PALETTES = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"
"""One palette for each frame: one for all would keep the whole clip in memory."""


class _NoClip(Exception):  # noqa: N818  (not an error: the unfinished file is removed)
    """The video does not provide the clip."""


class Interval(NamedTuple):
    """The half-open interval [start, end) of a video, in seconds."""

    start: float
    end: float


@dataclass(frozen=True)
class ClipFormat:
    """The format of clips: `height` pixels at most, with sound or without."""

    format: Literal["mp4", "gif"]
    height: int
    audio: bool = False

    @property
    def suffix(self) -> str:
        """How the names of such clips end: the annotators' page plays `.sound.mp4` aloud."""
        return f"{SOUND if self.audio else ''}.{self.format}"

    def filters(self, interval: Interval) -> str:
        """Return ffmpeg's filters that turn the frames of an interval into a clip."""
        height = f"max(2\\,2*trunc(min({self.height}\\,ih)/2))"
        scaled = f"scale=w=max(2\\,2*round(oh*dar/2)):h={height},setsar=1"
        if self.format == "mp4":
            return f"setpts=PTS-STARTPTS,{scaled}"
        return f"{_thin(interval)},{scaled},{PALETTES}"

    def sound(self, interval: Interval) -> tuple[str, ...]:
        """Return ffmpeg's options for the first sound track, if the video has one."""
        if not self.audio:
            return ()
        trim = f"atrim={interval.start!r}:{interval.end!r},asetpts=PTS-{interval.start!r}/TB"
        return ("-map", "0:a:0?", "-af", trim)

    def options(self) -> tuple[str, ...]:
        """Return ffmpeg's options for the output file."""
        sound = AAC if self.audio else ()
        return (*(MP4 if self.format == "mp4" else ()), *sound, *PLAIN)


def _thin(interval: Interval) -> str:
    """Return the filters after which k/3 s shows the last frame up to then."""
    zero = f"settb=1/1000000,setpts=PTS-{round(interval.start * 1e6) + 1}"
    frames = math.ceil(GIF_FPS * (interval.end - interval.start) - 1e-6)
    return f"{zero},fps={GIF_FPS}:round=up:start_time=0,trim=end_frame={max(frames, 1)}"


@cache
def find_ffmpeg() -> str:
    """Return the ffmpeg that cuts: the system's if it can do the work, else the packaged one.

    IMAGEIO_FFMPEG_EXE, if it is set, names another.

    Raises:
        VideoError: there is none.
    """
    system = system_ffmpeg()
    return system if system and _can_cut(system) else ffmpeg()


def _can_cut(program: str) -> bool:
    """Try it: some have no H.264, and versions before 5.1 lack some of the options."""
    clip = ClipFormat("mp4", 16)
    source = ("-nostdin", "-f", "lavfi", "-i", "color=s=16x16:d=0.1")
    output = ("-vf", clip.filters(Interval(0, 1)), *clip.options(), "-f", "null", "-")
    command = [program, *source, *output]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603  (ours)


def cut(
    video: Path, interval: Interval, needed: float, clip_format: ClipFormat, target: Path
) -> Reason | None:
    """Write a clip, whole or not at all; return None, or why the video does not provide it.

    The video must reach `needed` (seconds), or it is too short.

    Raises:
        VideoError: the clip could not be written, and the video is not to blame.
        FileError: the folder can't be written to.
    """
    reason: Reason | None = None
    with suppress(_NoClip), files.unfinished(target, "wb") as stream:
        output = ("-f", clip_format.format, "-y", f"file:{stream.name}")
        command = partial(_command, video, interval, clip_format)
        attempt = _attempt(command, interval.start, (*clip_format.options(), *output))
        if attempt.failed:
            decoded = _attempt(command, interval.start, ("-f", "null", "-"))
            reason = _missing(decoded.timeline, interval, needed)
            if not (reason or decoded.failed):
                raise VideoError(f"{target}: ffmpeg could not write it: {attempt.complaint}")
            reason = reason or "unreadable"
        else:
            reason = _missing(attempt.timeline, interval, needed)
            if attempt.timeline.is_damaged and reason != "too-short":  # as in a broken-off download
                reason = "unreadable"
        if reason:
            raise _NoClip
    return reason


def _missing(timeline: Timeline, interval: Interval, needed: float) -> Reason | None:
    if not timeline.frames:
        return "unreadable"
    if not timeline.reaches(needed):
        return "unreadable" if timeline.lost_its_end else "too-short"
    return None if timeline.shows(interval.start, interval.end) else "no-frame"


class _Attempt(NamedTuple):
    failed: bool
    timeline: Timeline
    complaint: str


def _attempt(
    command: Callable[[Sequence[str]], list[str]], start: float, output: Sequence[str]
) -> _Attempt:
    """Run ffmpeg from shortly before the start; if that fails, from the beginning."""
    seek = start - LEAD
    if seek > 0:
        attempt = _run(command(("-noaccurate_seek", "-ss", f"{seek:.6f}")), output)
        if attempt.timeline.begins_by(start) and not attempt.timeline.is_damaged:
            return attempt
    return _run(command(()), output)


def _command(
    video: Path, interval: Interval, clip_format: ClipFormat, seek: Sequence[str]
) -> list[str]:
    source = (*ONLY_FILES, "-i", f"file:{video}", "-map", "0:V:0")
    time = f"t+{float(HALF_A_MICROSECOND):.7f}"
    select = f"select=gte({time}\\,{interval.start!r})*lt({time}\\,{interval.end!r})"
    # showinfo comes before trim, so that the first frame after the end is seen as well.
    filters = f"showinfo=checksum=0,trim=end={interval.end + LEAD!r},{select}"
    log = ("-nostdin", "-hide_banner", "-nostats", "-loglevel", "level+info")
    times = ("-copyts", "-start_at_zero", "-threads", "1", "-filter_threads", "1")
    graph = f"{filters},{clip_format.filters(interval)}"
    sound = clip_format.sound(interval)
    return [find_ffmpeg(), *log, *times, *seek, *source, "-vf", graph, *sound]


def _run(command: list[str], output: Sequence[str]) -> _Attempt:
    command = [*command, "-threads", "1", *output]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=TIMEOUT)  # noqa: S603  (ours)
    except subprocess.TimeoutExpired:
        return _Attempt(True, Timeline(""), f"ffmpeg did not finish within {TIMEOUT} s")
    log = done.stderr.decode(errors="replace")
    errors = [line for line in log.splitlines() if "[error]" in line or "[fatal]" in line]
    complaint = (errors or ["it gave no reason"])[-1]
    return _Attempt(done.returncode != 0, Timeline(log), complaint)
