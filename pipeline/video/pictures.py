"""Pictures of a clip: as JPEG, at the middles of equal parts, as a viewer sees them."""

import math
import re
import subprocess
from pathlib import Path

from pipeline.video.ffmpeg import ONLY_FILES, VideoError, ffmpeg

VERSION = 1
"""Increase it if the same clip now gives other pictures: earlier answers about them are void."""
PER_SECOND = 2
_QUALITY = 4
"""ffmpeg's, from 2 to 31: about 85 of 100 in other scales."""
_TIMEOUT = 120
_BETWEEN = re.compile(rb"(?<=\xff\xd9)(?=\xff\xd8\xff)")
_TICKS = 1_000_000


class BrokenClipError(VideoError):
    """A clip that can't be read from its beginning to its end."""


def picture_times(seconds: float, most: int) -> list[float]:
    """Return the middles of equal parts of a clip, in seconds: two a second, at most `most`."""
    number = max(1, min(most, math.ceil(PER_SECOND * seconds)))
    return [(index + 0.5) * seconds / number for index in range(number)]


def take_pictures(clip: Path, seconds: float, number: int, height: int) -> list[bytes]:
    """Return what is seen at the middles of `number` equal parts of a clip of `seconds`: JPEGs.

    At most `height` pixels high; the last picture stays until the end.

    Raises:
        BrokenClipError: ffmpeg complains about the clip, or it shows nothing.
        VideoError: ffmpeg is missing.
    """
    command = [ffmpeg(), "-nostdin", "-hide_banner", "-loglevel", "error", "-threads", "1"]
    source = [*ONLY_FILES, "-i", f"file:{clip}", "-map", "0:V:0"]
    output = ["-f", "image2pipe", "-c:v", "mjpeg", "-q:v", str(_QUALITY), "-pix_fmt", "yuvj420p"]
    exact = ["-fps_mode", "passthrough", "-threads", "1", "-flags:v", "+bitexact", "-"]
    filters = ["-filter_threads", "1", "-vf", _filters(seconds, number, height)]
    try:
        done = subprocess.run(  # noqa: S603  (ours)
            [*command, *source, *filters, *output, *exact],
            capture_output=True,
            check=False,
            timeout=_TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        raise BrokenClipError(f"{clip}: ffmpeg did not finish within {_TIMEOUT} s") from None
    pictures = _BETWEEN.split(done.stdout) if done.stdout else []
    if done.returncode or done.stderr or len(pictures) != number:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"{len(pictures)} pictures instead of {number}"
        raise BrokenClipError(f"{clip}: {reason}")
    return pictures


def _filters(seconds: float, number: int, height: int) -> str:
    """Return the filters after which picture k is the last one up to middle k."""
    ticks = round(seconds * _TICKS)
    first = round(ticks / (2 * number))
    clock = f"settb=1/{_TICKS},setpts=PTS-STARTPTS-{first + 1}"
    stays = "tpad=stop=-1:stop_mode=clone"
    scale = rf"scale=-2:min({height}\,ih),setsar=1"
    return f"{stays},{clock},{thin(f'{number * _TICKS}/{ticks}', number)},{scale}"


def thin(rate: str | int, number: int) -> str:
    """Return ffmpeg's filters after which picture k of `number` is the last one up to k/rate s."""
    return f"fps={rate}:round=up:start_time=0,trim=end_frame={number}"
