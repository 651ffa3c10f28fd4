"""What a clip is like: the options and filters that ffmpeg gets."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

RECIPE = 1
"""Raise it when clips must be cut anew because what follows here has changed."""
GIF_FPS = 3
MP4 = (
    *("-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p"),
    *("-a53cc", "0", "-fps_mode", "passthrough", "-enc_time_base", "1/90000"),
    *("-movflags", "+faststart", "-write_tmcd", "0"),
)
"""What every browser plays, each frame at its own time; subtitles in the pictures are left out."""
NOTHING_BUT_PICTURES = (
    *("-map_chapters", "-1", "-map_metadata", "-1", "-map_metadata:s:v", "-1"),
    *("-fflags", "+bitexact", "-flags:v", "+bitexact"),
)
PALETTES = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"
"""One for each picture: one for all of them would hold the whole clip in memory."""


class Stretch(NamedTuple):
    """What is cut: the half-open interval [start, end) of a video, in seconds."""

    start: float
    end: float


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
