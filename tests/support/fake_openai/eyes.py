"""What the stand-in sees: the number painted on each picture, and hence which moment it is.

The frames of the sample corpus and of numbered videos show the frame's number as 16 blocks. If
several videos have the same numbers, the pictures are compared with the videos' own.
"""

import base64
import io
import math
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from support.fake_openai.script import Json

from pipeline.sitcom.drawing.brush import STAGE_HEIGHT
from pipeline.sitcom.drawing.strip import BITS, BLOCK, HEIGHT, block_box
from pipeline.sitcom.staging.world import WIDTH
from pipeline.video.ffmpeg import ffmpeg

Picture = NDArray[np.uint8]

DARK, LIGHT = 88, 168
"""A brightness between the two is not one of our blocks."""
SMALL = (32, 18)
"""Width and height of the pictures that are compared."""
MAX_DIFFERENCE = 12.0
"""The mean difference of grey levels up to which two small pictures count as the same."""
ROUNDED = 0.011
"""Seconds by which a time with two decimals may be off, and what is computed from it."""
_TIME = re.compile(r"t = (\d+\.\d+) s")
_PREFIX = "data:image/jpeg;base64,"


class UnseenError(Exception):
    """The pictures sent show no moment that could be judged; the message says why."""


class Moment(NamedTuple):
    """A moment as its clip shows it: a stretch of a video, in seconds."""

    moment_id: str
    video: str
    start: float
    end: float


class Shot(NamedTuple):
    """One picture that was sent: its stated time, and the picture (grey)."""

    time: float
    picture: Picture


def read_frame_number(picture: Picture) -> int:
    """Return the number that is painted on a frame: (height, width) or (height, width, 3).

    Raises:
        ValueError: a block is neither dark nor light.
    """
    down, right = picture.shape[0] / (STAGE_HEIGHT + HEIGHT), picture.shape[1] / WIDTH
    number = 0
    for bit in range(BITS):
        x, y, end, bottom = block_box(bit)
        inset = BLOCK / 4
        rows = slice(round((y + inset) * down), round((bottom - inset) * down))
        columns = slice(round((x + inset) * right), round((end - inset) * right))
        brightness = float(picture[rows, columns].mean())
        if DARK < brightness < LIGHT:
            raise ValueError(f"bit {bit} of the frame number: {brightness:.0f}")
        number = number << 1 | (brightness >= LIGHT)
    return number


def read_shots(parts: Sequence[Json]) -> list[Shot]:
    """Return the pictures of a message, each with the time in the text before it.

    Raises:
        UnseenError: a time or a picture is missing or invalid.
    """
    shots = []
    for before, part in pairwise([{"type": "nothing"}, *parts]):
        if part["type"] != "image_url":
            continue
        said = _TIME.fullmatch(before.get("text", "")) if before["type"] == "text" else None
        if said is None:
            raise UnseenError("a picture without its time")
        shots.append(Shot(float(said[1]), _decode(part["image_url"]["url"])))
    return shots


def _decode(url: str) -> Picture:
    if not url.startswith(_PREFIX):
        raise UnseenError("a picture that is no JPEG in the request itself")
    try:
        image = Image.open(io.BytesIO(base64.b64decode(url.removeprefix(_PREFIX), validate=True)))
        if image.format != "JPEG":
            raise UnseenError(f"a picture that is {image.format}, not JPEG")
        image.draft("L", (WIDTH, STAGE_HEIGHT + HEIGHT))
        return np.asarray(image.convert("L"))
    except (ValueError, UnidentifiedImageError, OSError) as exc:
        raise UnseenError("a picture that can't be read") from exc


@dataclass
class Eyes:
    """Finds the moment that pictures show.

    `fps` is the videos'; `tolerance` is the seconds by which a frame may be older than its time
    (a GIF has three per second). `paths` are needed if several videos have the same frame numbers.
    """

    moments: Sequence[Moment]
    fps: float
    tolerance: float = 0.0
    paths: dict[str, str] = field(default_factory=dict)
    _known: dict[tuple[str, int], Picture] = field(default_factory=dict, repr=False)

    def find_moments(self, shots: Sequence[Shot]) -> list[str]:
        """Return the moments whose clip gives these pictures, in order and evenly spaced.

        There are several only if they are the same stretch of a video.

        Raises:
            UnseenError: there are none, or different stretches give the same pictures.
        """
        if not shots:
            raise UnseenError("no pictures")
        times = [shot.time for shot in shots]
        part = times[-1] / (len(times) - 0.5)
        if any(abs(time - (index + 0.5) * part) > ROUNDED for index, time in enumerate(times)):
            raise UnseenError("times that are no middles of equal parts")
        try:
            numbers = [read_frame_number(shot.picture) for shot in shots]
        except ValueError as exc:
            raise UnseenError(f"a picture without a number: {exc}") from exc
        fitting = [one for one in self.moments if self._fits(one, times, numbers)]
        if len({one[1:] for one in fitting}) > 1 or {one.video for one in fitting} & {*self.paths}:
            if not {one.video for one in fitting} <= {*self.paths}:
                raise UnseenError(f"frames {numbers} at {times} are those of several moments")
            fitting = self._look(fitting, shots, numbers)
        if not fitting:
            raise UnseenError(f"frames {numbers} at {times} are those of no moment")
        return [one.moment_id for one in fitting]

    def _fits(self, moment: Moment, times: Sequence[float], numbers: Sequence[int]) -> bool:
        """Return whether the moment shows these frames at these times."""
        length = times[-1] / (1 - 0.5 / len(times))
        if abs(length - (moment.end - moment.start)) > ROUNDED:
            return False
        frame = 1 / self.fps
        earliest, latest = -frame - ROUNDED, frame + self.tolerance + ROUNDED
        return all(
            moment.start - frame <= number / self.fps < moment.end
            and earliest <= moment.start + time - number / self.fps <= latest
            for time, number in zip(times, numbers, strict=True)
        )

    def _look(
        self, moments: Sequence[Moment], shots: Sequence[Shot], numbers: Sequence[int]
    ) -> list[Moment]:
        """Return the moment that looks like the pictures, if one does.

        Raises:
            UnseenError: moments of one video have all these frames.
        """
        seen = [_shrink(shot.picture) for shot in shots]
        unlike = [
            float(np.mean([np.abs(one - own).mean() for one, own in
                           zip(seen, self._frames(moment.video, numbers), strict=True)]))
            for moment in moments
        ]  # fmt: skip
        least = min(unlike, default=math.inf)
        if least > MAX_DIFFERENCE:
            return []
        alike = [one for one, far in zip(moments, unlike, strict=True) if far == least]
        if len({one[1:] for one in alike}) > 1:
            raise UnseenError(f"frames {numbers} that several moments have")
        return alike

    def _frames(self, video: str, numbers: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return frames of a video, small and grey."""
        if (video, 0) not in self._known:
            size = f"scale={SMALL[0]}:{SMALL[1]}:flags=area,format=gray"
            command = [ffmpeg(), "-nostdin", "-v", "error", "-i", self.paths[video], "-vf", size]
            raw = ["-fps_mode", "passthrough", "-f", "rawvideo", "pipe:1"]
            done = subprocess.run([*command, *raw], capture_output=True, check=True)
            frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, SMALL[1], SMALL[0])
            self._known |= {(video, number): frame for number, frame in enumerate(frames)}
        black = np.zeros((SMALL[1], SMALL[0]))
        return [np.asarray(self._known.get((video, n), black), float) for n in numbers]


def _shrink(picture: Picture) -> NDArray[np.float64]:
    small = Image.fromarray(picture).resize(SMALL, Image.Resampling.BOX)
    return np.asarray(small, float)
