"""Clips: their format, and cutting an interval out of a video, accurate to the frame.

A frame lasts until the next one, as in a player. Where six frames a second or more come at a steady
rate, the first frame of a clip is the first one at or after the start, and its last frame the last
one before the end. Elsewhere (a frame stands still, the picture starts late or changes its size)
the clip is cut again: it begins with the frame shown at the start, and its last frame lasts to the
end. Frames are selected by their own time, because a seek lands where the container's index points;
if that is too late, the video is read from the beginning.
"""

import math
import subprocess
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Literal, NamedTuple

from pipeline.core import files
from pipeline.video.ffmpeg import ONLY_FILES, VideoError, ffmpeg, read_sound_end, system_ffmpeg
from pipeline.video.length import read_length
from pipeline.video.pictures import thin
from pipeline.video.timeline import HALF_A_MICROSECOND, Frame, Shape, Showing, Timeline

Reason = Literal["no-videos", "missing", "unreadable", "too-short", "no-frame", "wrong-length"]
"""Why a moment has no clip: there are no videos at all; the video is missing; ffmpeg can't read
it, or it is damaged there; it ends before the moment does; its picture begins after the moment; the
clip is longer or shorter than the moment by more than a frame."""

LEAD = 0.5
"""Seconds decoded before the start, for frames that depend on earlier ones."""
TIMEOUT = 1800
"""Seconds after which ffmpeg counts as hanging."""
VERSION = 2
"""Increase it if clips must be cut again because a format below has changed."""
GIF_FPS = 3
ROUNDING = 0.011
"""Seconds by which a file may round its length."""
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
BESIDE = ("-map", "0:a:0", "-c", "copy", "-frames:a", "1", "-f", "null", "-")
"""Reads the sound, so that times count from its start."""
PALETTES = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"
"""One palette for each frame: one for all would keep the whole clip in memory."""


class _NoClip(Exception):  # noqa: N818  (not an error: the unfinished file is removed)
    """The video does not provide the clip."""


class _NotWrittenError(Exception):
    """The clip could not be written, and the video is not to blame; what ffmpeg says."""


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

    def filters(self, interval: Interval, showing: Showing | None = None) -> str:
        """Return ffmpeg's filters that turn the frames of an interval into a clip.

        `showing` says what the clip shows; without it, the frames come at a steady rate.
        """
        scaled = self._scale(showing.shapes if showing else set())
        if self.format == "gif":
            return f"{_thin(interval, showing)},{scaled},{PALETTES}"
        if showing or self.audio:
            return f"{_time(interval, showing, showing.repeat if showing else None)},{scaled}"
        return f"setpts=PTS-STARTPTS,{scaled}"

    def _scale(self, shapes: Collection[Shape]) -> str:
        """Return the filters that scale pictures; those of several shapes are made one size."""
        if len(shapes) <= 1:
            even = f"max(2\\,2*trunc(min({self.height}\\,ih)/2))"
            return f"scale=w=max(2\\,2*round(oh*dar/2)):h={even},setsar=1"
        height = max(2, min(self.height, max(shape.height for shape in shapes)) // 2 * 2)
        width = max(2, 2 * round(height * max(shape.aspect for shape in shapes) / 2))
        fitted = f"w=max(2\\,2*trunc(oh*dar/2)):h=max(2\\,2*trunc(min({height}\\,{width}/dar)/2))"
        return f"scale={fitted}:eval=frame,pad={width}:{height}:-1:-1:eval=frame,setsar=1"

    def sound(self, interval: Interval) -> tuple[str, ...]:
        """Return ffmpeg's options for the first sound track, if the video has one."""
        if not self.audio:
            return ()
        trim = f"atrim={interval.start!r}:{interval.end!r},asetpts=PTS-{interval.start!r}/TB"
        return ("-map", "0:a:0?", "-af", trim)

    def options(self, showing: Showing | None = None) -> tuple[str, ...]:
        """Return ffmpeg's options for the output file."""
        sound = AAC if self.audio else ()
        return (*((*MP4, *_last(showing)) if self.format == "mp4" else ()), *sound, *PLAIN)


def _time(interval: Interval, showing: Showing | None, repeat: Fraction | None) -> str:
    """Return the filters after which times are relative to the start, where the first frame is.

    The last frame is repeated `repeat` seconds before the end.
    """
    times, padding = f"round(PTS-{interval.start!r}/TB)", ""
    if showing and repeat is not None:
        padding = "tpad=stop=1:stop_mode=clone,"
        last = f"round({float(showing.end - showing.start - repeat)!r}/TB)"
        times = f"if(eq(N\\,{len(showing.frames)})\\,{last}\\,{times})"
    return f"{padding}setpts=if(eq(N\\,0)\\,0\\,{times})"


def _last(showing: Showing | None) -> tuple[str, ...]:
    """Return the options after which the last frame lasts to the end."""
    if not showing:
        return ()
    duration = f"round({float(showing.repeat or showing.rest)!r}/TB)"
    return ("-bf", "0", "-bsf:v", f"setts=pts=PTS:dts=DTS:duration={duration}")


def _thin(interval: Interval, showing: Showing | None) -> str:
    """Return the filters after which k/3 s shows the last frame up to then."""
    frames = math.ceil(GIF_FPS * (interval.end - interval.start) - 1e-6)
    times = f"settb=1/1000000,{_time(interval, showing, Fraction(0))},setpts=PTS-1"
    return f"{times},{thin(GIF_FPS, max(frames, 1))}"


@cache
def find_ffmpeg() -> str:
    """Return the ffmpeg that cuts: the system's if it can do the work, else the packaged one.

    IMAGEIO_FFMPEG_EXE, if it is set, names another.

    Raises:
        VideoError: there is none.
    """
    system = system_ffmpeg()
    return system if system and _can_cut(system) else ffmpeg()


@cache
def describe_ffmpeg() -> str:
    """Return what the ffmpeg that cuts calls itself: another version writes other bytes."""
    command = [find_ffmpeg(), "-version"]
    said = subprocess.run(command, capture_output=True, check=True, text=True).stdout  # noqa: S603  (ours)
    return said.partition(" Copyright")[0]


def _can_cut(program: str) -> bool:
    """Try it: some have no H.264, and versions before 5.1 lack some of the options."""
    clip, picture = ClipFormat("mp4", 16), Frame(Fraction(0), Fraction(0))
    still = Showing(Fraction(0), Fraction(1), [picture], Fraction(1, 10))
    source = ("-nostdin", "-f", "lavfi", "-i", "color=s=16x16:d=0.1")
    output = ("-vf", clip.filters(Interval(0, 1), still), *clip.options(still))
    command = [program, *source, *output, "-f", "null", "-"]
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
    with suppress(_NoClip), files.unfinished(target, "wb") as stream:
        try:
            reason = _cut(video, interval, needed, clip_format, Path(stream.name))
        except _NotWrittenError as exc:
            if refused := files.refusal(Path(stream.name)):
                raise refused from exc
            raise VideoError(f"{target}: ffmpeg could not write it: {exc}") from exc
        if reason:
            raise _NoClip
    return reason


def _cut(
    video: Path, interval: Interval, needed: float, clip_format: ClipFormat, clip: Path
) -> Reason | None:
    output: tuple[str, ...] = ("-f", clip_format.format, "-y", f"file:{clip}")
    nothing: tuple[str, ...] = ("-f", "null", "-")
    command = partial(_command, video, interval, clip_format)
    attempt = _attempt(command, interval.start, (*clip_format.options(), *output))
    if attempt.timeline.ignores_sound and not clip_format.audio:
        output, nothing = (*output, *BESIDE), (*nothing, *BESIDE)
        attempt = _attempt(command, interval.start, (*clip_format.options(), *output))
    timeline, unreadable = attempt.timeline, attempt.timeline.is_damaged
    if attempt.failed:
        decoded = _attempt(command, interval.start, nothing)
        timeline, unreadable = decoded.timeline, decoded.failed
    reason = _missing(timeline, interval, needed)
    if reason == "too-short" and read_sound_end(video, needed) >= needed:
        reason = None  # a player shows the last frame while the sound goes on
    if unreadable and reason != "too-short":  # as in a broken-off download
        return "unreadable"
    showing = timeline.watch(*interval)
    if reason or not showing:
        return reason
    if attempt.failed or not (showing.is_steady and _lasts(clip, showing, clip_format)):
        options = (*clip_format.options(showing), *output)
        attempt = _run(command(attempt.seek, showing), options)
    if attempt.failed:
        raise _NotWrittenError(attempt.complaint)
    return None if _lasts(clip, showing, clip_format) else "wrong-length"


def _missing(timeline: Timeline, interval: Interval, needed: float) -> Reason | None:
    if not timeline.frames:
        return "unreadable"
    if not timeline.reaches(needed):
        return "unreadable" if timeline.lost_its_end else "too-short"
    return None if timeline.watch(*interval) else "no-frame"


def _lasts(clip: Path, showing: Showing, clip_format: ClipFormat) -> bool:
    """Tell whether a clip lasts as long as what it shows, but for a frame."""
    frame = max(float(showing.step), 1 / GIF_FPS if clip_format.format == "gif" else 0)
    return abs(read_length(clip) - float(showing.end - showing.start)) <= frame + ROUNDING


class _Attempt(NamedTuple):
    failed: bool
    timeline: Timeline
    complaint: str
    seek: Sequence[str] = ()


def _attempt(
    command: Callable[[Sequence[str]], list[str]], start: float, output: Sequence[str]
) -> _Attempt:
    """Run ffmpeg from shortly before the start; if that fails, from the beginning."""
    if start > LEAD:
        seek = ("-noaccurate_seek", "-ss", f"{start - LEAD:.6f}")
        attempt = _run(command(seek), output)
        if attempt.timeline.begins_by(start) and not attempt.timeline.is_damaged:
            return attempt._replace(seek=seek)
    return _run(command(()), output)


def _command(
    video: Path,
    interval: Interval,
    clip_format: ClipFormat,
    seek: Sequence[str],
    showing: Showing | None = None,
) -> list[str]:
    # A new size or colour must not set up the filters again: they would start anew.
    source = ("-reinit_filter", "0", *ONLY_FILES, "-i", f"file:{video}", "-map", "0:V:0")
    time = f"t+{float(HALF_A_MICROSECOND):.7f}"
    first = float(showing.frames[0].time) if showing else interval.start
    after = "gt(t\\,if(isnan(prev_selected_t)\\,t-1\\,prev_selected_t))"
    select = f"select=gte({time}\\,{first!r})*lt({time}\\,{interval.end!r})*{after}"
    # showinfo comes before trim, so that the first frame after the end is seen as well.
    filters = f"showinfo=checksum=0,trim=end={interval.end + LEAD!r},{select}"
    log = ("-nostdin", "-hide_banner", "-nostats", "-loglevel", "level+info")
    times = ("-copyts", "-start_at_zero", "-threads", "1", "-filter_threads", "1")
    graph = f"{filters},{clip_format.filters(interval, showing)}"
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
