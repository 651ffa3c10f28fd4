"""Charts as separate files: an SVG with its colours and legend, for a paper."""

import re

from momentrank.svg import element, text
from pipeline.core.tables import LEVELS
from pipeline.pages import charts
from pipeline.pages.figures import Figure
from pipeline.pages.html import TEMPLATES

LEGEND, ITEM, BOX = 26, 92, 10
_VARIABLE = re.compile(r"(--[\w-]+):\s*([^;]+);")
_USED = re.compile(r"var\((--[\w-]+)\)")
_RULE = re.compile(r"^\s*([^{}@]+)\{([^{}]*)\}", re.MULTILINE)
_OF_CHARTS = re.compile(
    r"\.(chart|grid|one|l\d|cell|heat|mean|mean-halo|dot|count|value|mid|end|point|whisker)\b"
)
_OPENING = re.compile(r'<svg class="[^"]*" role="img" viewBox="0 0 (\S+) (\S+)"')
XML = '<?xml version="1.0" encoding="UTF-8"?>\n'


def standalone(figure: Figure, *, opaque: bool = False) -> str:
    """Return a figure's chart as a file, in light colours, without variables or a page around it.

    `opaque` adds a white background, for pages that may be dark.
    """
    chart = str(figure.chart)
    opening = _OPENING.search(chart)
    if opening is None:
        raise ValueError(f"{figure.name}: not a chart of pipeline.pages.charts")
    width, height = float(opening[1]), float(opening[2])
    whole = height + LEGEND if figure.legend else height
    root = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="{width:g}"'
        f' height="{whole:g}" viewBox="0 0 {width:g} {whole:g}"'
    )
    legend = _legend(height, figure.line) if figure.legend else ""
    body = chart[opening.end() :].removesuffix("</svg>")
    start = body.index(">") + 1
    ground = '<rect width="100%" height="100%" fill="#fff"/>' if opaque else ""
    head = f"{XML}{root}{body[:start]}<style>{style()}</style>{ground}"
    return f"{head}{body[start:]}{legend}</svg>\n"


def style() -> str:
    """Return the page's style rules for charts, with the values of its light scheme."""
    sheet = (TEMPLATES / "style.css").read_text(encoding="utf-8").partition("@media print")[0]
    values = dict(_VARIABLE.findall(sheet.partition("}")[0]))
    lines = sheet.partition("@media")[2].partition("\n}\n")[2]
    rules = [
        (selector.strip(), body.strip())
        for line in lines.splitlines()
        for selector, body in _RULE.findall(line.replace("}", "}\n"))
        if _OF_CHARTS.search(selector) and "figure" not in selector
    ]
    filled = (f"{selector} {{ {body} }}" for selector, body in rules)
    return _USED.sub(lambda match: values[match[1]], "\n".join(filled))


def _legend(top: float, name: str) -> str:
    elements = []
    for level in LEVELS:
        x = charts.LEFT + level * ITEM
        elements.append(element("rect", kind=f"l{level}", x=x, y=top + 6, width=BOX, height=BOX))
        elements.append(text(f"level {level}", "tick", x + BOX + 6, top + 15))
    x, y = charts.LEFT + len(LEVELS) * ITEM, top + 11
    line = element("line", kind="mean", x1=x, x2=x + 20, y1=y, y2=y)
    return "".join([*elements, line, text(name, "tick", x + 26, top + 15)])
