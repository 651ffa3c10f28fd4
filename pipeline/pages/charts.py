"""Charts as inline SVG: no scripts, no files besides the page; colours come from its style.

Each has a title and a description for people who can't see it. All text is escaped, by
`Markup.format`.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

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
    elements = [_axis("Share of pairs", 1, "{:.0%}"), _right_axis("Mean level", 4, "{:.0f}")]
    for column, shares in enumerate(table[list(columns)].to_numpy().tolist()):
        ends = [0.0, *accumulate(shares)]
        elements += [
            _bar(column, step, low, high, f"bar l{level}")
            for level, (low, high) in enumerate(pairwise(ends))
        ]
    return _svg(
        words, [*elements, _line(table["mean"] / 4, step), *_labels(labels, step), _x_title(x)]
    )


def _line(shares: Iterable[float], step: float) -> Markup:
    points = [(LEFT + (column + 0.5) * step, _y(share)) for column, share in enumerate(shares)]
    return _path(points, points)


def _path(line: Sequence[Point], dots: Sequence[Point]) -> Markup:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
    lines = Markup(
        '<polyline class="mean-halo" points="{0}"/><polyline class="mean" points="{0}"/>'
    )
    dot = Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.6"/>')
    return Markup("").join([lines.format(path), *(dot.format(x, y) for x, y in dots)])


def levels_and_similarity(words: Words, table: pd.DataFrame) -> Markup:
    """Draw the level (0 to 4) of each `rank` as a bar, and its similarity as a line over them."""
    step = INNER / max(len(table), 1)
    elements = [_axis("Level", 4, "{:.0f}"), _right_axis("Similarity", 1, "{:.2g}")]
    for column, level in enumerate(table["level"].tolist()):
        elements.append(_bar(column, step, 0, level / 4, f"bar l{level}"))
    labels = [f"{rank:.0f}" for rank in table["rank"]]
    line = _line(table["similarity"].clip(0, 1), step)
    return _svg(words, [*elements, line, *_labels(labels, step), _x_title("rank")])


def bars(words: Words, labels: Sequence[str], values: Sequence[float], x: str, y: str) -> Markup:
    """Draw one bar for each value, with its number above if there is room."""
    top, steps = _nice(max(values, default=0))
    step = INNER / max(len(values), 1)
    elements = [_axis(y, top, "{:,.0f}", steps)]
    for column, value in enumerate(values):
        elements.append(_bar(column, step, 0, value / top, "bar one"))
        if value and step >= 6 + 6 * len(f"{value:,.0f}"):
            middle = LEFT + (column + 0.5) * step
            above = Markup('<text class="value" x="{:.1f}" y="{:.1f}">{:,.0f}</text>')
            elements.append(above.format(middle, _y(value / top) - 4, value))
    return _svg(words, [*elements, *_labels(labels, step), _x_title(x)])


def curve(words: Words, table: pd.DataFrame, x: str, y: str) -> Markup:
    """Draw sums (columns `x`, `y`) as a line from 0, with a dot for each row."""
    (right, x_steps), (top, y_steps) = (_nice(table[name].max()) for name in (x, y))
    places = [
        (LEFT + INNER * across / right, _y(up / top))
        for across, up in table[[x, y]].itertuples(index=False)
    ]
    tick = Markup('<text class="tick mid" x="{:.1f}" y="{}">{:,.0f}</text>')
    ticks = [
        tick.format(LEFT + INNER * step / x_steps, BASE + 16, right * step / x_steps)
        for step in range(x_steps + 1)
    ]
    axis = _axis(y.capitalize(), top, "{:,.0f}", y_steps)
    return _svg(words, [axis, _path([(LEFT, BASE), *places], places), *ticks, _x_title(x)])


def levels_by_rank(words: Words, points: pd.DataFrame, means: pd.DataFrame) -> Markup:
    """Draw levels against rank on a logarithmic scale, and the mean level as a line.

    `points` has `rank, level, pairs`, larger circles for more pairs; `means` has a row for the
    ranks from `low` to `high`, with `mean` and its interval, `mean_low` to `mean_high`.
    """
    last = math.log10(max(means["high"].max(), 10))

    def across(rank: float) -> float:
        return LEFT + INDENT + (INNER - 2 * INDENT) * math.log10(rank) / last

    circle = Markup('<circle class="point" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>')
    most = points["pairs"].max()
    circles = [
        circle.format(across(rank), _y(level / 4), 2 + 6 * math.sqrt(pairs / most))
        for rank, level, pairs in points[["rank", "level", "pairs"]].itertuples(index=False)
    ]
    middle = [
        across(math.sqrt(low * high)) for low, high in zip(means["low"], means["high"], strict=True)
    ]
    whisker = Markup('<line class="whisker" x1="{0:.1f}" x2="{0:.1f}" y1="{1:.1f}" y2="{2:.1f}"/>')
    bounds = zip(middle, means["mean_low"], means["mean_high"], strict=True)
    known = [(x, low, high) for x, low, high in bounds if not math.isnan(low)]
    whiskers = [whisker.format(x, _y(low / 4), _y(high / 4)) for x, low, high in known]
    places = [(x, _y(mean / 4)) for x, mean in zip(middle, means["mean"], strict=True)]
    tick = Markup('<text class="tick mid" x="{:.1f}" y="{}">{:,}</text>')
    ticks = [tick.format(across(10**power), BASE + 16, 10**power) for power in range(int(last) + 1)]
    axis = _axis("Level", 4, "{:.0f}")
    return _svg(words, [axis, *circles, *whiskers, _path(places, places), *ticks, _x_title("rank")])


def matrix(words: Words, cells: Sequence[tuple[int, int, int]], size: int) -> Markup:
    """Draw counts at (column, row) as squares, darker for larger counts; 0 stays empty."""
    most = max((number for *_, number in cells), default=0)
    elements = [_square(cell, size, most) for cell in cells]
    end = 8 + size * STEP
    tick = Markup('<text class="tick {}" x="{}" y="{}">{}</text>')
    for each in range(size):
        middle = each * STEP + SIDE / 2
        elements.append(tick.format("mid", EDGE + middle, end + 12, each))
        elements.append(tick.format("end", EDGE - 10, end - middle, each))
    x, y = EDGE + size * STEP / 2, 8 + size * STEP / 2
    under = Markup('<text class="axis mid" x="{}" y="{}">Lowest level</text>')
    beside = Markup(
        '<text class="axis mid" transform="translate(18 {}) rotate(-90)">Highest level</text>'
    )
    elements += [under.format(x, end + 32), beside.format(y)]
    return _svg(words, elements, EDGE + size * STEP + 8, end + 42)


def _square(cell: tuple[int, int, int], size: int, most: int) -> Markup:
    column, row, number = cell
    x, y = EDGE + column * STEP, 8 + (size - 1 - row) * STEP
    strength = FAINT + (FULL - FAINT) * (number / most) ** 0.5 if number else 0
    square = Markup(
        '<rect class="cell" x="{0}" y="{1}" width="{2}" height="{2}" rx="4"/>'
        '<rect class="heat" x="{0}" y="{1}" width="{2}" height="{2}" rx="4"'
        ' fill-opacity="{3:.3f}"/>'
        '<text class="count" x="{4}" y="{5}">{6:,}</text>'
    )
    return square.format(x, y, SIDE, strength, x + SIDE / 2, y + SIDE / 2 + 4, number)


def _svg(
    words: Words, elements: Sequence[Markup], width: float = WIDTH, height: float = HEIGHT
) -> Markup:
    frame = Markup(
        '<svg class="chart{small}" role="img" viewBox="0 0 {w:g} {h:g}"'
        ' aria-labelledby="{n}-t {n}-d">'
        '<title id="{n}-t">{title}</title><desc id="{n}-d">{text}</desc>{parts}</svg>'
    )
    return frame.format(
        small="" if width == WIDTH else " small",
        w=width,
        h=height,
        n=words.name,
        title=words.title,
        text=words.description,
        parts=Markup("").join(elements),
    )


def _bar(column: int, step: float, low: float, high: float, kind: str) -> Markup:
    x, width = LEFT + (column + GAP / 2) * step, step * (1 - GAP)
    rect = Markup('<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/>')
    return rect.format(kind, x, _y(high), width, (high - low) * DEPTH)


def _y(share: float) -> float:
    return BASE - share * DEPTH


def _axis(title: str, top: float, form: str, steps: int = 4) -> Markup:
    """Draw a scale on the left, with lines across; `form` is the format of its values."""
    lines = []
    tick = Markup(
        '<line class="grid" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>'
        '<text class="tick end" x="{3}" y="{4:.1f}">{5}</text>'
    )
    for step in range(steps + 1):
        y, label = _y(step / steps), form.format(top * step / steps)
        lines.append(tick.format(LEFT, WIDTH - RIGHT, y, LEFT - 6, y + 4, label))
    turn = Markup('<text class="axis mid" transform="translate(13 {}) rotate(-90)">{}</text>')
    return Markup("").join([*lines, turn.format(TOP + DEPTH / 2, title)])


def _right_axis(title: str, top: float, form: str) -> Markup:
    text = Markup('<text class="tick" x="{}" y="{:.1f}">{}</text>')
    ticks = [
        text.format(WIDTH - RIGHT + 6, _y(quarter / 4) + 4, form.format(top * quarter / 4))
        for quarter in range(5)
    ]
    turn = Markup('<text class="axis mid" transform="translate({} {}) rotate(90)">{}</text>')
    return Markup("").join([*ticks, turn.format(WIDTH - 9, TOP + DEPTH / 2, title)])


def _labels(labels: Sequence[str], step: float) -> list[Markup]:
    widest = max(map(len, labels), default=0) * CHARACTER + SPACE
    every = math.ceil(widest / step)
    text = Markup('<text class="tick mid" x="{:.1f}" y="{}">{}</text>')
    return [
        text.format(LEFT + (column + 0.5) * step, BASE + 16, label)
        for column, label in enumerate(labels)
        if column % every == 0
    ]


def _x_title(title: str) -> Markup:
    text = Markup('<text class="axis mid" x="{}" y="{}">{}</text>')
    return text.format(LEFT + INNER / 2, HEIGHT - 6, title.capitalize())


def _nice(value: float) -> tuple[float, int]:
    """Return a round top for a scale that includes `value`, and its number of steps."""
    whole = max(math.ceil(value), 1)
    power = 10 ** max(len(str(whole)) - 2, 0)
    step = next(each * power for each in ROUND if whole <= MOST_STEPS * each * power)
    steps = -(-whole // step)
    return float(step * steps), steps
