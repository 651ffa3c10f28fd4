"""When a video shows what, and whether it is damaged: parsed from ffmpeg's log, exactly."""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

HALF_A_MICROSECOND = Fraction(1, 2_000_000)
"""A frame this little before a time counts as at that time: 13/12 s is 1.083333 s."""

_CLOCK = re.compile(r"config in time_base: (\d+)/(\d+)")
_FRAME = re.compile(r" n: *\d+ pts: *(-?\d+) (?:.*? duration: *(\d+) )?")


# ffmpeg continues after an error: it patches a broken frame from its neighbours, and the following
# ones smear until the next keyframe.
_PATCHED = re.compile(
    "corrupt decoded frame|Error submitting packet to decoder|Error while decoding stream"
)
# A container that could not find its next packet, or found a broken one; newer versions of ffmpeg
# call it `in#0`. Similar messages are harmless: a decoder misses references before a seek point.
_CONTAINER = (
    r"^\[(?:in#\d|(?:mov|matroska|avi|mpegts|mpeg|flv|ogg|asf)[, ])[^]]*\] \[(?:error|fatal)\]"
    r"(?! File ended prematurely)"
)
# Two threads write the log: while showinfo writes a line, this one loses its prefix.
_RESYNC = "invalid as first byte of an EBML number"
_LOST = re.compile(f"{_CONTAINER}|{_RESYNC}|corrupt input packet in stream", re.MULTILINE)
_LOST_END = re.compile(rf"{_CONTAINER}(?!.*: partial file)|{_RESYNC}", re.MULTILINE)


class Frame(NamedTuple):
    """One picture: when it appears, and for how long it lasts (0: not known); seconds."""

    time: Fraction
    duration: Fraction


class Timeline:
    """The frames of a stretch of video, from before a moment until after it."""

    def __init__(self, log: str) -> None:
        """Parse what ffmpeg wrote with `-loglevel level+info` and the filter `showinfo`."""
        self.frames, self._log = sorted(_parse_frames(log)), log

    @property
    def is_damaged(self) -> bool:
        """Whether decoded frames were patched, or lost by the container.

        A separate thread reads the container ahead, so its complaint may appear anywhere in the
        log, and counts only if frames are missing.
        """
        return bool(_PATCHED.search(self._log) or (_LOST.search(self._log) and self.has_gap()))

    @property
    def lost_its_end(self) -> bool:
        """Whether the container became unreadable, though the file is not merely cut off."""
        return bool(_LOST_END.search(self._log))

    def begins_by(self, start: float) -> bool:
        """Tell whether nothing at or after `start` can be missing."""
        return bool(self.frames) and self.frames[0].time <= Fraction(start)

    def shows(self, start: float, end: float) -> bool:
        """Tell whether a frame appears in [start, end)."""
        times = (frame.time + HALF_A_MICROSECOND for frame in self.frames)
        return any(Fraction(start) <= time < Fraction(end) for time in times)

    def reaches(self, time: float) -> bool:
        """Tell whether the video lasts until `time`."""
        return bool(self.frames) and self._end() + HALF_A_MICROSECOND >= Fraction(time)

    def has_gap(self) -> bool:
        """Tell whether a frame is missing between two others, by the usual time between them."""
        steps = sorted(b.time - a.time for a, b in pairwise(self.frames))
        return not steps or 2 * steps[-1] > 3 * steps[len(steps) // 2]

    def _end(self) -> Fraction:
        last = self.frames[-1]
        usual = min((b.time - a.time for a, b in pairwise(self.frames)), default=Fraction(0))
        return last.time + (last.duration or usual)


def _parse_frames(log: str) -> Iterator[Frame]:
    tick = Fraction(0)
    for line in log.splitlines():
        if clock := _CLOCK.search(line):
            tick = Fraction(int(clock[1]), int(clock[2]))
        elif frame := _FRAME.search(line):
            yield Frame(int(frame[1]) * tick, int(frame[2] or 0) * tick)
