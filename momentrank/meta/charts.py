"""Small charts as inline SVG: a matrix, lines, bars. No script; colours come from the page.

Each has a title for readers who can't see it, and every mark one with its value. Text is escaped.
"""

import math
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from momentrank.segments import Floats

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
        elements.append(_text(left + (row + 0.5) * CELL, LINE, str(row + 1), "mid"))
        elements.append(_text(left - 8, y + 16, f"{name}  {row + 1}", "end"))
        for column, value in enumerate(values[row].tolist()):
            if not math.isnan(value):
                share = (value - low) / (high - low) if high > low else 0.0
                strength = LOW + (HIGH - LOW) * share
                label = f"{name}, {names[column]}: {value:.4g}"
                x = left + column * CELL
                elements.append(
                    f'<rect class="heat" x="{x:.0f}" y="{y}" width="{CELL - 2}" height="22"'
                    f' fill-opacity="{strength:.0f}%"><title>{escape(label)}</title></rect>'
                )
                elements.append(_text(x + CELL / 2 - 1, y + 15, f"{value:.2f}", "mid"))
    return _svg(title, elements, left + len(names) * CELL + 4, 26 + len(names) * 24)


def lines(title: str, series: Mapping[str, Points], x_title: str, y_title: str) -> str:
    """Draw a line for each series, with its name at its end."""
    points = [point for curve in series.values() for point in curve]
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    ticks = _ticks(min(0.0, *(y for _, y in points)), max(y for _, y in points))
    inner, depth = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def to_pixels(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low) if x_high > x_low else 0.5
        return LEFT + across * inner, TOP + (ticks[-1] - y) / (ticks[-1] - ticks[0]) * depth

    elements = [
        _text(LEFT + inner / 2, HEIGHT - 4, x_title, "mid axis"),
        f'<g transform="translate(11 {TOP + depth / 2}) rotate(-90)">',
        _text(0, 0, y_title, "mid axis") + "</g>",
    ]
    for value in ticks:
        y = to_pixels(x_low, value)[1]
        elements += [
            f'<line class="grid" x1="{LEFT}" x2="{LEFT + inner}" y1="{y:.1f}" y2="{y:.1f}"/>',
            _text(LEFT - 6, y + 4, f"{value:g}", "end"),
        ]
    for x in sorted({x for x, _ in points}):
        elements.append(_text(to_pixels(x, 0)[0], TOP + depth + 16, f"{x:g}", "mid"))
    ends = sorted((to_pixels(*curve[-1])[1], name) for name, curve in series.items())
    labels = dict(zip((name for _, name in ends), _spread([y for y, _ in ends]), strict=True))
    for number, (name, curve) in enumerate(series.items()):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (to_pixels(*point) for point in curve))
        kind = f"s{number % COLOURS}"
        label = f"<title>{escape(name)}</title>"
        elements += [
            f'<polyline class="line {kind}" points="{path}">{label}</polyline>',
            _text(LEFT + inner + 8, labels[name] + 4, name, f"name {kind}"),
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
            _text(left - 8, y + 13, name, "end"),
            f'<rect class="bar" x="{left:.0f}" y="{y}" width="{width:.1f}" height="17"/>',
            _text(left + width + 6, y + 13, form.format(value), ""),
        ]
    return _svg(title, elements, WIDTH, 8 + len(values) * 22)


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _svg(title: str, elements: Sequence[str], width: float, height: float) -> str:
    return (
        f'<svg role="img" width="{width:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        f' aria-label="{escape(title)}">{"".join(elements)}</svg>'
    )
