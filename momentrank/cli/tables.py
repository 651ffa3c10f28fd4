"""Tables as text: aligned columns, CSV, Markdown and LaTeX; and how values are shown in them."""

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from momentrank.ids import reveal
from momentrank.measures import DCG, Judged, Measure
from momentrank.measures.counts import Count

FORMATS = ("table", "json", "csv", "markdown", "latex")
PLUS_MINUS = "\u00b1"
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    PLUS_MINUS: r"$\pm$",
    "\u2020": r"\dagger",
    ">": r"$>$",
    "<": r"$<$",
    **{letter: rf"\{letter}" for letter in "&%$#_{}"},
}
_MARKDOWN = {letter: rf"\{letter}" for letter in "\\|*_`<"}


class Cell(NamedTuple):
    """A value as text; whether it is the best one, and the letters of the runs it surpasses."""

    text: str
    best: bool = False
    above: str = ""


Row = Sequence[Cell | str]


def show_json(source: Mapping[str, str], content: Mapping[str, Any]) -> None:
    """Print JSON, with where its numbers come from as `momentrank`."""
    sys.stdout.write(json.dumps({"momentrank": source, **content}, indent=2) + "\n")


def show(fmt: str, source: Mapping[str, str], *tables: Iterable[Row]) -> None:
    """Print tables in one of `FORMATS` except JSON; CSV has where numbers come from in its rows."""
    if fmt != "csv":
        sys.stdout.writelines(header(source, fmt))
    for rows in tables:
        sys.stdout.writelines(["\n"] if len(tables) > 1 else [])
        sys.stdout.writelines(write(rows, fmt))


def list_records(
    records: Iterable[Mapping[str, object]], source: Mapping[str, str]
) -> Iterator[Row]:
    """Yield records as rows of CSV, after a row of their keys; None is empty."""
    for number, record in enumerate(records):
        if not number:
            yield [*record, *source]
        values = ("" if value is None else str(value) for value in record.values())
        yield [*values, *source.values()]


def write(rows: Iterable[Row], fmt: str) -> Iterator[str]:
    """Yield the lines of a table in one of `FORMATS` except JSON; the first row is the header."""
    lines: Iterator[str] = WRITERS[fmt](
        [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    )
    return lines


def header(source: Mapping[str, str], fmt: str) -> Iterator[str]:
    """Yield the comment lines above a table that say where its numbers come from."""
    before, after = {"markdown": ("<!-- ", " -->"), "latex": ("% ", "")}.get(fmt, ("# ", ""))
    return (f"{before}{name}: {reveal(value)}{after}\n" for name, value in source.items())


def align_columns(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    rows = [[reveal(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip() + "\n"


def _aligned(rows: list[list[Cell]]) -> Iterator[str]:
    texts = []
    for row in rows:
        marks = [(" *" if cell.best else "") + (f" ^{cell.above}" if cell.above else "")
                 for cell in row]  # fmt: skip
        texts.append([cell.text + mark for cell, mark in zip(row, marks, strict=True)])
    return align_columns(texts)


def _csv(rows: list[list[Cell]]) -> Iterator[str]:
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([cell.text for cell in row])
        yield line.getvalue()


def _markdown(rows: list[list[Cell]]) -> Iterator[str]:
    first, *others = _show(rows, _MARKDOWN, ("**", "**"), ("<sup>", "</sup>"))
    rule = ["---:" if right else "---" for right in _are_right(rows)]
    for cells in (first, rule, *others):
        yield f"| {' | '.join(cells)} |\n"


def _latex(rows: list[list[Cell]]) -> Iterator[str]:
    first, *others = _show(rows, _LATEX, (r"\textbf{", "}"), ("$^{", "}$"))
    columns = "".join("r" if right else "l" for right in _are_right(rows))
    yield "% \\usepackage{booktabs}\n"
    yield rf"\begin{{tabular}}{{{columns}}}" + "\n"
    yield "\\toprule\n" + " & ".join(first) + " \\\\\n\\midrule\n"
    for row in others:
        yield " & ".join(row) + " \\\\\n"
    yield "\\bottomrule\n\\end{tabular}\n"


def _show(
    rows: Iterable[Iterable[Cell]],
    letters: Mapping[str, str],
    bold: tuple[str, str],
    raised: tuple[str, str],
) -> Iterator[list[str]]:
    """Yield the texts of each row, escaped by `letters` and marked up."""
    for row in rows:
        texts = []
        for cell in row:
            text, above = (
                "".join(letters.get(letter, letter) for letter in reveal(content))
                for content in (cell.text, cell.above)
            )
            text = text.join(bold) if cell.best else text
            texts.append(text + (above.join(raised) if above else ""))
        yield texts


def _are_right(rows: Sequence[Sequence[Cell]]) -> list[bool]:
    return [
        len(cells) > 0
        and all(cell.text.lstrip("+-")[:1].isdecimal() or not cell.text for cell in cells)
        for _, *cells in zip(*rows, strict=True)
    ]


WRITERS: dict[str, Callable[[list[list[Cell]]], Iterator[str]]] = {
    "table": _aligned,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}


DASH = "\u2013"
"""Shown where there is no value."""


class Quantity(NamedTuple):
    """A name, and how its values are shown."""

    name: str
    is_share: bool = True
    """Whether it can be shown in percent."""
    is_ranked: bool = True
    """Whether a higher value is better: the best one is marked."""
    is_count: bool = False
    """Whether whole values are shown without decimals."""


def describe(measure: Measure) -> Quantity:
    """Return how a measure is shown; neither counts nor Judged say which run is better."""
    is_sum = isinstance(measure, Count)
    return Quantity(
        repr(measure),
        is_share=not is_sum and measure.NAME != DCG.NAME,
        is_ranked=not is_sum and measure.NAME != Judged.NAME,
        is_count=measure.NAME.startswith(("Num", "Videos")),
    )


class Numbers(NamedTuple):
    """Decimals, and whether shares are shown in percent.

    A benchmark's own table is rounded in all formats, as its script does: by `rounding`, which
    takes a share and returns what is shown.
    """

    digits: int
    percent: bool = False
    rounding: Callable[[float], float] | None = None

    def scale(self, quantity: Quantity, value: float) -> float:
        """Return a value in the unit in which it is shown."""
        if self.rounding:
            return self.rounding(value)
        return 100 * value if self.percent and quantity.is_share else value

    def plain(self, quantity: Quantity, value: float | None) -> float | None:
        """Return a value for JSON and CSV; None if there is none."""
        return None if value is None or math.isnan(value) else self.scale(quantity, value)

    def text(self, quantity: Quantity, value: float, sign: str = "") -> str:
        if math.isnan(value):
            return DASH
        value = self.scale(quantity, value)
        digits = 0 if quantity.is_count and value.is_integer() else self.digits
        return f"{value:{sign}.{digits}f}"

    def cells(self, quantity: Quantity, values: Sequence[float | None]) -> list[Cell]:
        """Return a cell per system; all that print like the best one are marked."""
        texts = ["" if value is None else self.text(quantity, value) for value in values]
        numbers = [value for value in values if value is not None and not math.isnan(value)]
        marked = quantity.is_ranked and len(values) > 1 and numbers
        best = self.text(quantity, max(numbers)) if marked else None
        return [Cell(text, best=text == best) for text in texts]
