"""A brush that paints the drawings of `shapes.yaml` on a Pillow image, in stage units."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from PIL import ImageColor, ImageDraw

from pipeline.core import files

Point = tuple[float, float]

STAGE_HEIGHT = 164
"""Height of the picture in stage units; the strip below it is `strip.HEIGHT` more."""
LINE = re.compile(r"(\w+) ([-\d. ]+?)(?: / ([-\d. ]+))? (\w+)(?:\*([\d.]+))?((?: \S+,\S+)*)")


class Shape(NamedTuple):
    """One shape: the name of a `Brush`'s method, and what it is given."""

    kind: str
    points: list[Point]
    sizes: list[float]
    colour: str
    factor: float


Drawing = list[Shape]
"""Shapes, each painted over those before it."""


@lru_cache(maxsize=4096)
def shade(colour: str, factor: float = 1) -> str:
    """Return a colour ('#rrggbb') darker (`factor` below 1) or nearer to white (above 1)."""
    end, much = (0, 1 - factor) if factor <= 1 else (255, factor - 1)
    red, green, blue = (round(part + (end - part) * much) for part in ImageColor.getrgb(colour)[:3])
    return f"#{red:02x}{green:02x}{blue:02x}"


@dataclass(frozen=True)
class Brush:
    """Paints in the coordinates of a thing: x ahead of its middle `at` (on the stage), y down.

    The thing faces right (`facing` 1) or left (-1), leans forward by `tilt` (radians), and is
    `size` times as large, and `wide` times as wide again.
    """

    draw: ImageDraw.ImageDraw
    scale: float
    at: Point = (0.0, 0.0)
    facing: int = 1
    tilt: float = 0.0
    size: float = 1.0
    wide: float = 1.0

    def place(self, x: float, y: float) -> Point:
        """Return the stage position of a point of the thing."""
        x, y = x * self.size * self.wide, y * self.size
        sin, cos = math.sin(self.tilt), math.cos(self.tilt)
        return self.at[0] + self.facing * (x * cos - y * sin), self.at[1] + x * sin + y * cos

    def paint(self, drawing: Drawing, **colours: str) -> None:
        """Paint a drawing; `colours` are those that it names."""
        for kind, points, sizes, colour, factor in drawing:
            getattr(self, kind)(points, shade(colours.get(colour, f"#{colour}"), factor), *sizes)

    def _pixels(self, points: Iterable[Point]) -> list[Point]:
        placed = (self.place(*point) for point in points)
        return [(x * self.scale, y * self.scale) for x, y in placed]

    def _width(self, width: float) -> int:
        return max(1, round(width * self.size * self.scale))

    def _around(self, centre: Point, radius: float, tall: float) -> list[Point]:
        ((x, y),) = self._pixels([centre])
        wide, high = radius * self.size * self.scale, tall * self.size * self.scale
        return [(x - wide, y - high), (x + wide, y + high)]

    def poly(self, points: list[Point], colour: str) -> None:
        """Fill a polygon."""
        self.draw.polygon(self._pixels(points), fill=colour)

    def box(self, points: list[Point], colour: str) -> None:
        """Fill a rectangle between two corners, turned as the thing is."""
        (left, top), (right, foot) = points
        self.poly([(left, top), (right, top), (right, foot), (left, foot)], colour)

    def disc(
        self, points: list[Point], colour: str, radius: float, tall: float | None = None
    ) -> None:
        """Fill a circle at each point, or with `tall` (its vertical radius) an ellipse."""
        for point in points:
            self.draw.ellipse(self._around(point, radius, tall or radius), fill=colour)

    def chord(
        self, points: list[Point], colour: str, radius: float, begin: float, end: float
    ) -> None:
        """Fill a circle's part between two angles, in degrees clockwise from 3 o'clock."""
        angles = (begin, end) if self.facing > 0 else (180 - end, 180 - begin)
        self.draw.chord(self._around(points[0], radius, radius), *angles, fill=colour)

    def line(self, points: list[Point], colour: str, width: float) -> None:
        """Draw a line with square ends."""
        self.draw.line(self._pixels(points), fill=colour, width=self._width(width))

    def limb(self, points: list[Point], colour: str, width: float) -> None:
        """Draw a line with round ends and joints: an arm, a leg."""
        self.line(points, colour, width)
        self.disc(points, colour, width / 2)


def _parse(line: str) -> Iterator[Shape]:
    """Yield the shape of a line, once for each of its repeats."""
    match = LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"not a shape: {line!r}")
    kind, points, sizes, colour, factor, repeats = match.groups("")
    numbers = [float(number) for number in points.split()]
    shapes = [list(zip(numbers[::2], numbers[1::2], strict=True))]
    for repeat in repeats.split():
        right, down, times = map(float, re.split("[,*]", repeat))
        steps = [(i * right, i * down) for i in range(int(times))]
        shapes = [[(x + dx, y + dy) for x, y in shape] for shape in shapes for dx, dy in steps]
    for moved in shapes:
        yield Shape(kind, moved, [float(s) for s in sizes.split()], colour, float(factor or 1))


SHAPES: dict[str, dict[str, Drawing]] = {
    group: {
        name: [shape for line in text.splitlines() for shape in _parse(line)]
        for name, text in drawings.items()
    }
    for group, drawings in files.read_yaml(Path(__file__).with_name("shapes.yaml")).items()
}
"""Every drawing, by its group (decor, furniture, things, ...) and name."""
