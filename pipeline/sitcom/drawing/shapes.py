"""Drawings as data: `shapes.yaml` lists the shapes of what does not move in itself."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pipeline.core import files
from pipeline.sitcom.drawing.brush import Brush, Point, Rgb, rgb

LINE = re.compile(r"(\w+) ([-\d. ]+?)(?: / ([-\d. ]+))? (#\w+|[a-z]+)((?: \S+,\S+)*)")


class Shape(NamedTuple):
    """One shape: the name of a `Brush`'s method, and its arguments."""

    kind: str
    points: list[Point]
    sizes: list[float]
    colour: str


Drawing = list[Shape]
"""Shapes, each painted over those before it."""


def paint(brush: Brush, drawing: Drawing, **colours: Rgb) -> None:
    """Paint a drawing; `colours` are those that it names."""
    for kind, points, sizes, name in drawing:
        colour = colours[name] if name in colours else rgb(name)
        match kind:
            case "disc":
                brush.disc(points[0], sizes[0], colour, *sizes[1:])
            case "chord":
                brush.chord(points[0], sizes[0], (sizes[1], sizes[2]), colour)
            case "ring":
                brush.arc(points[0], sizes[0], (0, 360), sizes[1], colour)
            case "box" | "cushion":
                getattr(brush, kind)(*points[0], *points[1], colour)
            case _:
                getattr(brush, kind)(points, *sizes, colour)


def _parse(line: str) -> Iterator[Shape]:
    """Yield the shape of a line, once for each of its shifts."""
    match = LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"not a shape: {line!r}")
    kind, points, sizes, colour, shifts = match.groups("")
    numbers = [float(number) for number in points.split()]
    for shift in ("0,0", *shifts.split()):
        dx, dy = map(float, shift.split(","))
        moved = [(x + dx, y + dy) for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
        yield Shape(kind, moved, [float(size) for size in sizes.split()], colour)


SHAPES: dict[str, dict[str, Drawing]] = {
    group: {
        name: [shape for line in text.splitlines() for shape in _parse(line)]
        for name, text in drawings.items()
    }
    for group, drawings in files.read_yaml(Path(__file__).with_name("shapes.yaml")).items()
}
"""Every drawing, by its group (decor, seats, things, ...) and name."""
