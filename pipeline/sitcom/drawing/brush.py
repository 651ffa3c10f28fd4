"""A brush that paints on a Pillow image in stage units, oversampled for smooth edges."""

import math
from collections.abc import Sequence
from functools import lru_cache

from PIL import Image, ImageDraw

Point = tuple[float, float]
Rgb = tuple[int, int, int]

STAGE_HEIGHT = 164
"""Height of the picture in stage units; the strip below it is `strip.HEIGHT` more."""
OVERSAMPLE = 2
"""How many pixels are painted for one of the frame, in each direction."""


@lru_cache(maxsize=1024)
def rgb(colour: str) -> Rgb:
    """Return '#rrggbb' as numbers."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


@lru_cache(maxsize=4096)
def shade(colour: Rgb, factor: float) -> Rgb:
    """Return a colour darker (`factor` below 1) or nearer to white (above 1)."""
    if factor <= 1:
        red, green, blue = (round(part * factor) for part in colour)
    else:
        red, green, blue = (round(part + (255 - part) * (factor - 1)) for part in colour)
    return red, green, blue


class Brush:
    """Paints on `image` at `scale` pixels per stage unit; `left, top` is the image's corner."""

    facing = 1
    """Which way the painted thing faces: 1 is right, -1 left."""
    size = 1.0
    """The factor by which circles and limbs are enlarged."""

    def __init__(
        self, image: Image.Image, scale: float, left: float = 0.0, top: float = 0.0
    ) -> None:
        self.image, self.scale, self.left, self.top = image, scale, left, top
        self._draw = ImageDraw.Draw(image)

    def moved(self, x: float) -> "Brush":
        """Return a brush whose coordinates begin at `x`."""
        return Brush(self.image, self.scale, self.left - x, self.top)

    def place(self, x: float, y: float) -> Point:
        """Return the stage position of a point in this brush's coordinates."""
        return x, y

    def _at(self, points: Sequence[Point]) -> list[Point]:
        scale, left, top = self.scale, self.left, self.top
        placed = (self.place(*point) for point in points)
        return [((x - left) * scale, (y - top) * scale) for x, y in placed]

    def poly(self, points: Sequence[Point], colour: Rgb) -> None:
        """Fill a polygon."""
        self._draw.polygon(self._at(points), fill=colour)

    def disc(self, centre: Point, radius: float, colour: Rgb, tall: float | None = None) -> None:
        """Fill a circle, or with `tall` (its vertical radius) an ellipse."""
        self._draw.ellipse(self._around(centre, radius, tall), fill=colour)

    def _around(
        self, centre: Point, radius: float, tall: float | None = None
    ) -> tuple[float, float, float, float]:
        scale, wide = self.scale, radius * self.size
        high = wide if tall is None else tall * self.size
        x, y = self.place(*centre)
        x, y = x - self.left, y - self.top
        return (x - wide) * scale, (y - high) * scale, (x + wide) * scale, (y + high) * scale

    def arc(
        self, centre: Point, radius: float, angles: tuple[float, float], width: float, colour: Rgb
    ) -> None:
        """Draw a circle's rim between two angles (degrees, clockwise from 3 o'clock)."""
        pixels = max(1, round(width * self.scale))
        self._draw.arc(self._around(centre, radius), *angles, fill=colour, width=pixels)

    def chord(self, centre: Point, radius: float, angles: tuple[float, float], colour: Rgb) -> None:
        """Fill a circle's part between two angles, mirrored if the thing faces left."""
        begin, end = angles if self.facing > 0 else (180 - angles[1], 180 - angles[0])
        self._draw.chord(self._around(centre, radius), begin, end, fill=colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Rgb) -> None:
        """Fill an upright rectangle."""
        self._draw.rectangle(self._at([(left, top), (right, bottom)]), fill=colour)

    def cushion(self, left: float, top: float, right: float, bottom: float, colour: Rgb) -> None:
        """Fill an upright rectangle with round corners."""
        area = self._at([(left, top), (right, bottom)])
        self._draw.rounded_rectangle(area, radius=3 * self.scale, fill=colour)

    def line(self, points: Sequence[Point], width: float, colour: Rgb) -> None:
        """Draw a line with square ends."""
        self._draw.line(self._at(points), fill=colour, width=max(1, round(width * self.scale)))

    def limb(self, points: Sequence[Point], width: float, colour: Rgb) -> None:
        """Draw a line with round ends and joints: an arm, a leg."""
        self.line(points, width * self.size, colour)
        for point in points:
            self.disc(point, width / 2, colour)


class Turned(Brush):
    """Paints in the coordinates of a thing or a head: x ahead, y up from its middle.

    It leans forward by `tilt` (radians) round `at`, a point of the stage; its middle is `grip`
    ahead of and above that point. Everything but line width is `size` times as large.
    """

    def __init__(
        self, brush: Brush, at: Point, facing: int, tilt: float = 0.0, grip: Point = (0.0, 0.0)
    ) -> None:
        super().__init__(brush.image, brush.scale, brush.left, brush.top)
        self.facing, self._origin, self._grip = facing, at, grip
        self._sin, self._cos = math.sin(tilt), math.cos(tilt)

    def place(self, x: float, y: float) -> Point:
        """Return the stage position of a point of the thing."""
        x, y = (x + self._grip[0]) * self.size, (y + self._grip[1]) * self.size
        ahead = x * self._cos + y * self._sin
        up = y * self._cos - x * self._sin
        return self._origin[0] + self.facing * ahead, self._origin[1] - up

    def box(self, left: float, low: float, right: float, high: float, colour: Rgb) -> None:
        """Fill a rectangle, turned as the thing is."""
        self.poly([(left, low), (right, low), (right, high), (left, high)], colour)
