"""Charts as inline SVG; each has a title and a description for people who can't see it."""

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import accumulate, pairwise
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from momentrank.svg import element, polyline, text

WIDTH, HEIGHT = 640, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 46, 20, 44
INNER, DEPTH = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
CHARACTER, SPACE = 6.2, 8
"""The width of a label's character, and the space between labels."""
GAP, INDENT = 0.16, 10
BASE = TOP + DEPTH
SIDE, STEP, EDGE = 40, 44, 60
"""Of the matrix: a square's side, the step from one to the next, and the first one's place."""
FAINT, FULL = 0.08, 0.55
"""The opacity of a square in the matrix: its number must stay readable."""
ROUND, MOST_STEPS = (1, 2, 5, 10, 20), 5


Point = tuple[float, float]


class Words(NamedTuple):
    """A chart's name for links, its title, and its description."""

    name: str
    title: str
    description: str


def bars_by_level(
    words: Words, table: pd.DataFrame, columns: Sequence[str], x: str, form: str
) -> Markup:
    """Draw shares as stacked bars, the first column lowest, and `mean` (0 to 4) as a line."""
    labels = [form.format(value) for value in table[x]]
    step = INNER / max(len(table), 1)
    elements = _axis("Share of pairs", 1, "{:.0%}") + _right_axis("Mean level", 4, "{:.0f}")
    for column, shares in enumerate(table[list(columns)].to_numpy().tolist()):
        ends = [0.0, *accumulate(shares)]
        elements += [
            _bar(column, step, low, high, f"bar l{level}")
            for level, (low, high) in enumerate(pairwise(ends))
        ]
    line = _line(table["mean"] / 4, step)
    return _svg(words, [*elements, *line, *_labels(labels, step), _x_title(x)])


def _line(shares: Iterable[float], step: float) -> list[str]:
    points = [(LEFT + (column + 0.5) * step, _y(share)) for column, share in enumerate(shares)]
    return _path(points, points)


def _path(line: Sequence[Point], dots: Sequence[Point]) -> list[str]:
    circles = (element("circle", kind="dot", cx=x, cy=y, r=2.6) for x, y in dots)
    return [polyline(line, "mean-halo"), polyline(line, "mean"), *circles]


def levels_and_similarity(words: Words, table: pd.DataFrame) -> Markup:
    """Draw the level (0 to 4) of each `rank` as a bar, and its similarity as a line over them."""
    step = INNER / max(len(table), 1)
    elements = _axis("Level", 4, "{:.0f}") + _right_axis("Similarity", 1, "{:.2g}")
    for column, level in enumerate(table["level"].tolist()):
        elements.append(_bar(column, step, 0, level / 4, f"bar l{level}"))
    labels = [f"{rank:.0f}" for rank in table["rank"]]
    line = _line(table["similarity"].clip(0, 1), step)
    return _svg(words, [*elements, *line, *_labels(labels, step), _x_title("rank")])


def bars(words: Words, labels: Sequence[str], values: Sequence[float], x: str, y: str) -> Markup:
    """Draw one bar for each value, with its number above if there is room."""
    top, steps = _nice(max(values, default=0))
    step = INNER / max(len(values), 1)
    elements = _axis(y, top, "{:,.0f}", steps)
    for column, value in enumerate(values):
        elements.append(_bar(column, step, 0, value / top, "bar one"))
        if value and step >= 6 + 6 * len(f"{value:,.0f}"):
            middle = LEFT + (column + 0.5) * step
            elements.append(text(f"{value:,.0f}", "value", middle, _y(value / top) - 4))
    return _svg(words, [*elements, *_labels(labels, step), _x_title(x)])


def curve(words: Words, table: pd.DataFrame, x: str, y: str) -> Markup:
    """Draw sums (columns `x`, `y`) as a line from 0, with a dot for each row."""
    (right, x_steps), (top, y_steps) = (_nice(table[name].max()) for name in (x, y))
    places = [
        (LEFT + INNER * across / right, _y(up / top))
        for across, up in table[[x, y]].itertuples(index=False)
    ]
    ticks = [
        _tick(LEFT + INNER * step / x_steps, f"{right * step / x_steps:,.0f}")
        for step in range(x_steps + 1)
    ]
    axis = _axis(y.capitalize(), top, "{:,.0f}", y_steps)
    return _svg(words, [*axis, *_path([(LEFT, BASE), *places], places), *ticks, _x_title(x)])


def levels_by_rank(words: Words, points: pd.DataFrame, means: pd.DataFrame) -> Markup:
    """Draw levels against rank on a logarithmic scale, and the mean level as a line.

    `points` has `rank, level, pairs`, larger circles for more pairs; `means` has a row for the
    ranks from `low` to `high`, with `mean` and its interval, `mean_low` to `mean_high`.
    """
    last = math.log10(max(means["high"].max(), 10))

    def across(rank: float) -> float:
        return LEFT + INDENT + (INNER - 2 * INDENT) * math.log10(rank) / last

    most = points["pairs"].max()
    circles = [
        element("circle", kind="point", cx=across(rank), cy=_y(level / 4),
                r=2 + 6 * math.sqrt(pairs / most))
        for rank, level, pairs in points[["rank", "level", "pairs"]].itertuples(index=False)
    ]  # fmt: skip
    middle = [
        across(math.sqrt(low * high)) for low, high in zip(means["low"], means["high"], strict=True)
    ]
    bounds = zip(middle, means["mean_low"], means["mean_high"], strict=True)
    whiskers = [
        element("line", kind="whisker", x1=x, x2=x, y1=_y(low / 4), y2=_y(high / 4))
        for x, low, high in bounds
        if not math.isnan(low)
    ]
    places = [(x, _y(mean / 4)) for x, mean in zip(middle, means["mean"], strict=True)]
    ticks = [_tick(across(10**power), f"{10**power:,}") for power in range(int(last) + 1)]
    marks = [*circles, *whiskers, *_path(places, places), *ticks]
    return _svg(words, [*_axis("Level", 4, "{:.0f}"), *marks, _x_title("rank")])


def matrix(words: Words, cells: Sequence[tuple[int, int, int]], size: int) -> Markup:
    """Draw counts at (column, row) as squares, darker for larger counts; 0 stays empty."""
    most = max((number for *_, number in cells), default=0)
    elements = [part for cell in cells for part in _square(cell, size, most)]
    end = 8 + size * STEP
    for each in range(size):
        middle = each * STEP + SIDE / 2
        elements.append(text(str(each), "tick mid", EDGE + middle, end + 12))
        elements.append(text(str(each), "tick end", EDGE - 10, end - middle))
    elements.append(text("Lowest level", "axis mid", EDGE + size * STEP / 2, end + 32))
    elements.append(text("Highest level", "axis mid", 18, 8 + size * STEP / 2, -90))
    return _svg(words, elements, EDGE + size * STEP + 8, end + 42)


def _square(cell: tuple[int, int, int], size: int, most: int) -> list[str]:
    column, row, number = cell
    x, y = EDGE + column * STEP, 8 + (size - 1 - row) * STEP
    strength = FAINT + (FULL - FAINT) * (number / most) ** 0.5 if number else 0
    place = {"x": x, "y": y, "width": SIDE, "height": SIDE, "rx": 4}
    return [
        element("rect", kind="cell", **place),
        element("rect", kind="heat", fill_opacity=strength, **place),
        text(f"{number:,}", "count", x + SIDE / 2, y + SIDE / 2 + 4),
    ]


def _svg(
    words: Words, elements: Iterable[str], width: float = WIDTH, height: float = HEIGHT
) -> Markup:
    title, description = f"{words.name}-t", f"{words.name}-d"
    drawn = element(
        "svg",
        element("title", escape(words.title), id=title),
        element("desc", escape(words.description), id=description),
        *elements,
        kind="chart" if width == WIDTH else "chart small",
        role="img",
        viewBox=f"0 0 {width:g} {height:g}",
        aria_labelledby=f"{title} {description}",
    )
    return Markup(drawn)  # noqa: S704  (every text in it is escaped)


def _bar(column: int, step: float, low: float, high: float, kind: str) -> str:
    x, height = LEFT + (column + GAP / 2) * step, (high - low) * DEPTH
    return element("rect", kind=kind, x=x, y=_y(high), width=step * (1 - GAP), height=height)


def _y(share: float) -> float:
    return BASE - share * DEPTH


def _axis(title: str, top: float, form: str, steps: int = 4) -> list[str]:
    """Draw a scale on the left, with lines across; `form` is the format of its values."""
    elements = [text(title, "axis mid", 13, TOP + DEPTH / 2, -90)]
    for step in range(steps + 1):
        y = _y(step / steps)
        elements.append(element("line", kind="grid", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y))
        elements.append(text(form.format(top * step / steps), "tick end", LEFT - 6, y + 4))
    return elements


def _right_axis(title: str, top: float, form: str) -> list[str]:
    ticks = [
        text(form.format(top * quarter / 4), "tick", WIDTH - RIGHT + 6, _y(quarter / 4) + 4)
        for quarter in range(5)
    ]
    return [*ticks, text(title, "axis mid", WIDTH - 9, TOP + DEPTH / 2, 90)]


def _tick(x: float, label: str) -> str:
    return text(label, "tick mid", x, BASE + 16)


def _labels(labels: Sequence[str], step: float) -> list[str]:
    widest = max(map(len, labels), default=0) * CHARACTER + SPACE
    every = math.ceil(widest / step)
    return [
        _tick(LEFT + (column + 0.5) * step, label)
        for column, label in enumerate(labels)
        if column % every == 0
    ]


def _x_title(title: str) -> str:
    return text(title.capitalize(), "axis mid", LEFT + INNER / 2, HEIGHT - 6)


def _nice(value: float) -> tuple[float, int]:
    """Return a round top for a scale that includes `value`, and its number of steps."""
    whole = max(math.ceil(value), 1)
    power = 10 ** max(len(str(whole)) - 2, 0)
    step = next(each * power for each in ROUND if whole <= MOST_STEPS * each * power)
    steps = -(-whole // step)
    return float(step * steps), steps
