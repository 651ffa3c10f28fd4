"""What the stand-in sees: the number painted on each picture, and hence which moment it is.

The frames of numbered videos show the frame's number as 16 blocks.
"""

import base64
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from support.fake_openai.script import Json

from pipeline.sitcom.drawing.brush import STAGE_HEIGHT
from pipeline.sitcom.drawing.strip import BITS, BLOCK, HEIGHT, block_box
from pipeline.sitcom.staging.world import WIDTH

Picture = NDArray[np.uint8]

DARK, LIGHT = 88, 168
"""A brightness between the two is not one of our blocks."""
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
    (a GIF has three per second).
    """

    moments: Sequence[Moment]
    fps: float
    tolerance: float = 0.0

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
        if len({one[1:] for one in fitting}) > 1:
            raise UnseenError(f"frames {numbers} at {times} are those of several moments")
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
