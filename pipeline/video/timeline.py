"""When a video shows what, and whether it is damaged: parsed from ffmpeg's log, exactly."""

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

HALF_A_MICROSECOND = Fraction(1, 2_000_000)
"""A frame this little before a time counts as at that time: 13/12 s is 1.083333 s."""
_MILLISECOND = Fraction(1, 1000)
_LONGEST_STEP = Fraction(1, 8)
"""Seconds: a frame that lasts more than half as long again stands still, even if all do."""
_REPEAT = Fraction(1, 25)
"""Seconds before the end at which a frame that stands until then is repeated: not every program
knows how long the last frame of a file lasts."""

_CLOCK = r"config in time_base: (\d+)/(\d+)"
_FRAME = r"n: *\d+ pts: *(-?\d+) (?:.*? duration: *(\d+) )?"
_CLOCK_OR_FRAME = re.compile(f"{_CLOCK}|{_FRAME}")
_FILE_START = re.compile(r"Duration: .*, start: ([\d.]+)")
_PICTURE_START = re.compile(r": Video: .*, start ([\d.]+)")
_SHAPE = re.compile(r" sar:(\d+)/(\d+) s:(\d+)x(\d+) ")


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


class Shape(NamedTuple):
    """The size of a picture in pixels, and how much wider than high a pixel is."""

    width: int
    height: int
    pixel: Fraction = Fraction(1)

    @property
    def aspect(self) -> Fraction:
        """How much wider than high the picture is shown."""
        return self.width * self.pixel / self.height


class Frame(NamedTuple):
    """One picture: when it appears, and for how long it lasts (0: not known); seconds."""

    time: Fraction
    duration: Fraction
    shape: Shape = Shape(0, 0)


class Showing(NamedTuple):
    """What a player shows of [start, end): each frame until the next, the last until the end.

    `step` is the usual time between two frames. The first frame appears at `start` or before it;
    where there is none before, it is shown early.
    """

    start: Fraction
    end: Fraction
    frames: list[Frame]
    step: Fraction

    @property
    def shapes(self) -> set[Shape]:
        """The sizes that the pictures have."""
        return {frame.shape for frame in self.frames}

    @property
    def rest(self) -> Fraction:
        """How long the last frame is shown."""
        shown_from = self.frames[-1].time if len(self.frames) > 1 else self.start
        return self.end - shown_from

    @property
    def repeat(self) -> Fraction | None:
        """How long before the end the last frame is repeated, if it stands until then."""
        rest = self.rest
        stands = 2 * rest > 3 * self.step
        return min(_REPEAT, rest / 2) if stands else None

    @property
    def is_steady(self) -> bool:
        """Whether the frames that appear in the interval stand for it, but for a usual step."""
        first, *others = self.frames
        early = first.time + HALF_A_MICROSECOND < self.start
        if len(self.shapes) > 1 or (early and not others):
            return False
        wait = others[0].time - first.time if early else first.time - self.start
        return 2 * max(wait, self.end - self.frames[-1].time) <= 3 * self.step


class Timeline:
    """The frames of a stretch of video, from before a moment until after it."""

    def __init__(self, log: str) -> None:
        """Parse what ffmpeg wrote with `-loglevel level+info` and the filter `showinfo`."""
        frames = list(_parse_frames(log))
        self.frames, self._log = sorted(frames), log
        self._forward = list(_drop_late(frames))

    @property
    def is_damaged(self) -> bool:
        """Whether decoded frames were patched, or lost by the container.

        A separate thread reads the container ahead, so its complaint may appear anywhere in the
        log, and counts only if frames are missing.
        """
        return bool(_PATCHED.search(self._log) or (_LOST.search(self._log) and self.has_gap()))

    @property
    def ignores_sound(self) -> bool:
        """Whether times count from the picture's start, though the sound starts a frame before.

        So it is in MPEG streams whose sound is not read.
        """
        head = self._log.partition("Stream mapping")[0]
        if "Input #0, mpeg" not in head or ": Audio: " not in head:
            return False
        file, picture = _FILE_START.search(head), _PICTURE_START.search(head)
        late = Fraction(picture[1]) - Fraction(file[1]) if file and picture else 0
        return late > self.usual_step()

    @property
    def lost_its_end(self) -> bool:
        """Whether the container became unreadable, though the file is not merely cut off."""
        return bool(_LOST_END.search(self._log))

    def begins_by(self, start: float) -> bool:
        """Tell whether nothing at or after `start` can be missing."""
        return bool(self.frames) and self.frames[0].time <= Fraction(start)

    def watch(self, start: float, end: float) -> Showing | None:
        """Return what is shown in [start, end); None if no frame has appeared before the end."""
        low, high = Fraction(start), Fraction(end)
        seen = [frame for frame in self._forward if frame.time + HALF_A_MICROSECOND < high]
        appeared = sum(frame.time <= low + _MILLISECOND for frame in seen)
        shown = seen[max(appeared - 1, 0) :]
        return Showing(low, high, shown, self.usual_step()) if shown else None

    def usual_step(self) -> Fraction:
        """Return the usual time between two frames that follow soon, at most `_LONGEST_STEP`."""
        steps = sorted(b.time - a.time for a, b in pairwise(self._forward))
        steps = steps or [frame.duration for frame in self.frames if frame.duration]
        return min([*steps[len(steps) // 4 :], _LONGEST_STEP])

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


def _drop_late(frames: Iterable[Frame]) -> Iterator[Frame]:
    """Yield the frames that a player shows: none whose time is not after the last one's."""
    latest: Fraction | None = None
    for frame in frames:
        if latest is None or frame.time > latest:
            latest = frame.time
            yield frame


def _parse_frames(log: str) -> Iterator[Frame]:
    """Yield the frames, in the order of the log.

    showinfo writes a frame in two parts, and other threads write before, between and after them: a
    frame may follow another's unfinished line, and its size may stand on a later line.
    """
    tick = Fraction(0)
    found = list(_CLOCK_OR_FRAME.finditer(log))
    ends = [later.start() for later in found[1:]] + [len(log)]
    for match, end in zip(found, ends, strict=False):  # without any there is an end too many
        ticks, second, time, duration = match.groups()
        if time is None:
            tick = Fraction(int(ticks), int(second))
        else:
            shape = _parse_shape(log[match.end() : end])
            yield Frame(int(time) * tick, int(duration or 0) * tick, shape)


def _parse_shape(part: str) -> Shape:
    if not (found := _SHAPE.search(part)):
        return Shape(0, 0)
    wide, high, width, height = map(int, found.groups())
    return Shape(width, height, Fraction(wide, high) if wide and high else Fraction(1))
