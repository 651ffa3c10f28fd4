"""How long a clip lasts, as its own file says."""

import re
from pathlib import Path

_GIF_DELAY = re.compile(rb"!\xf9\x04.(..).\0,", re.DOTALL)


def read_length(clip: Path) -> float:
    """Return the seconds that a GIF lasts, or the first track of an MP4; 0.0 if it has none."""
    content = clip.read_bytes()
    if content.startswith(b"GIF"):
        return sum(int.from_bytes(two, "little") for two in _GIF_DELAY.findall(content)) / 100
    header = content.partition(b"mdhd")[2]
    ticks, duration = (int.from_bytes(header[at : at + 4]) for at in (12, 16))
    return duration / ticks if ticks else 0.0
