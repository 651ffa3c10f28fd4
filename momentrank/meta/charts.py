"""Small charts as inline SVG: a matrix, lines, bars.

Each has a title for readers who can't see it, and every mark one with its value.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from momentrank.segments import Floats
from momentrank.svg import element, polyline, text

WIDTH, HEIGHT = 600, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 14, 40
CHARACTER, LINE = 6.4, 15
CELL, LOW, HIGH = 44, 20, 78
"""A cell's width, and its lowest and highest strength in percent."""
COLOURS, MOST_STEPS, CLOSE = 9, 5, 1e-9
Points = Sequence[tuple[float, float]]


def matrix(title: str, names: Sequence[str], values: Floats) -> str:
    """Draw values (names, names), the higher the stronger; what is not a number stays empty.

    Columns have the rows' numbers.
    """
    finite = values[~np.isnan(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    left = 12 + CHARACTER * (max(map(len, names)) + len(f"  {len(names)}"))
    elements = []
    for row, name in enumerate(names):
        y = 22 + row * 24
        elements.append(text(str(row + 1), "mid", left + (row + 0.5) * CELL, LINE))
        elements.append(text(f"{name}  {row + 1}", "end", left - 8, y + 16))
        for column, value in enumerate(values[row].tolist()):
            if not math.isnan(value):
                share = (value - low) / (high - low) if high > low else 0.0
                strength = LOW + (HIGH - LOW) * share
                label = element("title", escape(f"{name}, {names[column]}: {value:.4g}"))
                look = {"kind": "heat", "fill_opacity": f"{strength:.0f}%"}
                place = {"x": left + column * CELL, "y": y, "width": CELL - 2, "height": 22}
                elements.append(element("rect", label, **look, **place))
                elements.append(text(f"{value:.2f}", "mid", place["x"] + CELL / 2 - 1, y + 15))
    return _svg(title, elements, left + len(names) * CELL + 4, 26 + len(names) * 24)


def lines(title: str, series: Mapping[str, Points], x_title: str, y_title: str) -> str:
    """Draw a line for each series, with its name at its end."""
    places = [point for curve in series.values() for point in curve]
    x_low, x_high = min(x for x, _ in places), max(x for x, _ in places)
    ticks = _ticks(min(0.0, *(y for _, y in places)), max(y for _, y in places))
    inner, depth = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def to_pixels(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low) if x_high > x_low else 0.5
        return LEFT + across * inner, TOP + (ticks[-1] - y) / (ticks[-1] - ticks[0]) * depth

    elements = [
        text(x_title, "mid axis", LEFT + inner / 2, HEIGHT - 4),
        text(y_title, "mid axis", 11, TOP + depth / 2, -90),
    ]
    for value in ticks:
        y = to_pixels(x_low, value)[1]
        elements.append(element("line", kind="grid", x1=LEFT, x2=LEFT + inner, y1=y, y2=y))
        elements.append(text(f"{value:g}", "end", LEFT - 6, y + 4))
    elements += [
        text(f"{x:g}", "mid", to_pixels(x, 0)[0], TOP + depth + 16)
        for x in sorted({x for x, _ in places})
    ]
    ends = sorted((to_pixels(*curve[-1])[1], name) for name, curve in series.items())
    labels = dict(zip((name for _, name in ends), _spread([y for y, _ in ends]), strict=True))
    for number, (name, curve) in enumerate(series.items()):
        kind, points = f"s{number % COLOURS}", [to_pixels(*point) for point in curve]
        elements += [
            polyline(points, f"line {kind}", element("title", escape(name))),
            text(name, f"name {kind}", LEFT + inner + 8, labels[name] + 4),
        ]
    return _svg(title, elements, WIDTH, max(HEIGHT, max(labels.values()) + LINE))


def _ticks(low: float, high: float) -> list[float]:
    """Return round values, about four per scale, from at most `low` to at least `high`."""
    step = 10.0 ** math.floor(math.log10(high - low)) if high > low else 1.0
    step *= next(
        multiple
        for multiple in (0.2, 0.25, 0.5, 1, 2)
        if (high - low) / step / multiple <= MOST_STEPS
    )
    first, last = math.floor(low / step + CLOSE), max(1, math.ceil(high / step - CLOSE))
    return [round(step * number, 12) for number in range(first, last + 1)]


def _spread(ends: Sequence[float]) -> list[float]:
    """Return places for labels, in ascending order, at least a line apart."""
    heights: list[float] = []
    for number, end in enumerate(ends):
        rest = (len(ends) - number) * LINE
        wanted = max(TOP, min(end, HEIGHT - BOTTOM + LINE - rest))
        heights.append(max([wanted, *(height + LINE for height in heights[-1:])]))
    return heights


def bars(title: str, values: Mapping[str, float], form: str = "{:.0%}") -> str:
    """Draw shares from 0 to 1 as horizontal bars with their names and values."""
    left = 12 + CHARACTER * max(map(len, values))
    elements = []
    for row, (name, value) in enumerate(values.items()):
        y, width = 4 + row * 22, value * (WIDTH - left - 60)
        elements += [
            text(name, "end", left - 8, y + 13),
            element("rect", kind="bar", x=left, y=y, width=width, height=17),
            text(form.format(value), "", left + width + 6, y + 13),
        ]
    return _svg(title, elements, WIDTH, 8 + len(values) * 22)


def _svg(title: str, elements: Sequence[str], width: float, height: float) -> str:
    view = f"0 0 {width:.0f} {height:.0f}"
    return element("svg", *elements, role="img", width=width, viewBox=view, aria_label=title)
