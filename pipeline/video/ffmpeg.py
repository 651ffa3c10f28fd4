"""ffmpeg: where it is, how long a video lasts, and writing whole videos."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

import imageio_ffmpeg
import numpy as np
from numpy.typing import NDArray

from momentrank.errors import MomentRankError
from pipeline.core import files

Frame = NDArray[np.uint8]
"""One picture: (height, width, 3), RGB."""

H264 = (
    *("-an", "-c:v", "libx264", "-preset", "veryfast", "-crf", "27"),
    *("-g", "48", "-pix_fmt", "yuv420p", "-movflags", "+faststart"),
    *("-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"),
)
"""What every browser plays; the file has no trace of the time or the machine."""
CONTAINERS = "mov,matroska,avi,mpegts,mpeg,mpegvideo,h264,hevc,flv,ogg,asf,mxf,gif,rm,dv,wtv,nut"
ONLY_FILES = ("-protocol_whitelist", "file", "-format_whitelist", CONTAINERS)
"""Formats that ffmpeg may read, whatever a file is called: no playlist, which would lead to other
files."""
_DURATION = re.compile(rb"Duration: (\d+):(\d+):(\d+\.\d+)")
_REACHED = re.compile(rb"out_time_us=(\d+)")
_TICK = re.compile(rb"#tb 0: (\d+)/(\d+)")
_PACKET = re.compile(rb"^0, *-?\d+, *(-?\d+), *(\d+),", re.MULTILINE)
_TIMEOUT = 600


class VideoError(MomentRankError):
    """ffmpeg is missing, or could not read or write a video."""


def ffmpeg() -> str:
    """Return the path of ffmpeg: IMAGEIO_FFMPEG_EXE if it is set, else the packaged one.

    Raises:
        VideoError: there is none.
    """
    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as exc:
        raise VideoError("no ffmpeg found; type: pip install imageio-ffmpeg") from exc


def system_ffmpeg() -> str | None:
    """Return the system's ffmpeg; None if there is none or IMAGEIO_FFMPEG_EXE is set."""
    return None if os.environ.get("IMAGEIO_FFMPEG_EXE") else shutil.which("ffmpeg")


def read_duration(path: Path) -> float:
    """Return how long a video lasts, in seconds to a hundredth; 0.0 if it can't be read.

    Read from the file's header; if that has none, the frames are counted.

    Raises:
        VideoError: ffmpeg is missing.
    """
    source = [*ONLY_FILES, "-i", f"file:{path}"]
    if header := _DURATION.search(_run(source).stderr):
        hours, minutes, seconds = map(float, header.groups())
        return (hours * 60 + minutes) * 60 + seconds
    count = ["-map", "0:V:0", "-c", "copy", "-f", "null", "-progress", "pipe:1", "-"]
    reached = _REACHED.findall(_run([*source, *count]).stdout)
    return round(int(reached[-1]) / 1e6, 2) if reached else 0.0


def read_sound_end(path: Path, after: float) -> float:
    """Return when the sound of a video ends, in seconds; 0.0 if it has none.

    A file that is cut off ends where its data does, whatever its header says.
    """
    seek = ["-copyts", "-start_at_zero", "-ss", f"{max(after - 1, 0):.6f}"]
    # With the picture, or the times of an MPEG stream would count from the start of its sound.
    packets = ["-map", "0:a:0", "-map", "0:V:0?", "-c", "copy", "-f", "framecrc", "-"]
    table = _run([*seek, *ONLY_FILES, "-i", f"file:{path}", *packets]).stdout
    tick = _TICK.search(table)
    ends = [int(pts) + int(duration) for pts, duration in _PACKET.findall(table)]
    return max(ends) * int(tick[1]) / int(tick[2]) if tick and ends else 0.0


def _run(arguments: list[str]) -> subprocess.CompletedProcess[bytes]:
    command = [ffmpeg(), "-nostdin", "-hide_banner", *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=_TIMEOUT)  # noqa: S603  (ours)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, b"", b"")


def write_video(path: Path, frames: Iterable[Frame], size: tuple[int, int], fps: int) -> None:
    """Write frames of `size` (width, height; both even) as H.264, whole or not at all.

    Raises:
        VideoError: ffmpeg could not write it.
        FileError: the disk is full or not writable.
    """
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(fps)]
    command = [ffmpeg(), "-nostdin", "-hide_banner", "-loglevel", "error", *source, "-i", "pipe:0"]
    with files.unfinished(path, "wb") as stream:
        output = ["-threads", "1", *H264, "-f", "mp4", "-y", f"file:{stream.name}"]
        _feed([*command, *output], frames, path)


def _feed(command: list[str], frames: Iterable[Frame], path: Path) -> None:
    with subprocess.Popen(  # noqa: S603  (our own command line)
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        with suppress(BrokenPipeError):
            for frame in frames:
                cast("IO[bytes]", process.stdin).write(frame.tobytes())
        _, message = process.communicate()
    if process.returncode:
        if refused := files.refusal(path.parent):
            raise refused
        lines = message.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
        raise VideoError(f"{path}: ffmpeg could not write it: {lines[-1]}")
