"""A brush on a Pillow image that paints in stage units, larger than life for smooth edges."""

from collections.abc import Sequence
from functools import lru_cache

from PIL import Image, ImageDraw

Point = tuple[float, float]
Rgb = tuple[int, int, int]

STAGE_HEIGHT = 164
"""Height of the picture in stage units; the strip below it is `strip.HEIGHT` more."""
OVERSAMPLE = 2
"""How many pixels are painted for one of the frame, each way."""


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

    def __init__(
        self, image: Image.Image, scale: float, left: float = 0.0, top: float = 0.0
    ) -> None:
        self.image = image
        self.scale = scale
        self._left = left
        self._top = top
        self._draw = ImageDraw.Draw(image)

    def _at(self, points: Sequence[Point]) -> list[Point]:
        scale, left, top = self.scale, self._left, self._top
        return [((x - left) * scale, (y - top) * scale) for x, y in points]

    def poly(self, points: Sequence[Point], colour: Rgb) -> None:
        """Fill a polygon."""
        self._draw.polygon(self._at(points), fill=colour)

    def disc(self, centre: Point, radius: float, colour: Rgb, tall: float | None = None) -> None:
        """Fill a circle, or with `tall` (its vertical radius) an ellipse."""
        self._draw.ellipse(self._around(centre, radius, tall), fill=colour)

    def _around(
        self, centre: Point, radius: float, tall: float | None
    ) -> tuple[float, float, float, float]:
        scale, high = self.scale, radius if tall is None else tall
        x, y = centre[0] - self._left, centre[1] - self._top
        return (x - radius) * scale, (y - high) * scale, (x + radius) * scale, (y + high) * scale

    def chord(self, centre: Point, radius: float, angles: tuple[float, float], colour: Rgb) -> None:
        """Fill a circle's part between two angles (degrees, clockwise from 3 o'clock)."""
        self._draw.chord(self._around(centre, radius, None), *angles, fill=colour)

    def arc(
        self, centre: Point, radius: float, angles: tuple[float, float], width: float, colour: Rgb
    ) -> None:
        """Draw part of a circle's rim."""
        pixels = max(1, round(width * self.scale))
        self._draw.arc(self._around(centre, radius, None), *angles, fill=colour, width=pixels)

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
        self.line(points, width, colour)
        for point in points:
            self.disc(point, width / 2, colour)
