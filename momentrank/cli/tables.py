"""Tables as text: aligned columns, CSV, Markdown and LaTeX, for `evaluate` and `compare`."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

FORMATS = ("table", "json", "csv", "markdown", "latex")
PLUS_MINUS = "\u00b1"
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    PLUS_MINUS: r"$\pm$",
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


def write(rows: Iterable[Row], fmt: str) -> Iterator[str]:
    """Yield the lines of a table in one of `FORMATS` but JSON; the first row is the header."""
    lines: Iterator[str] = WRITERS[fmt](
        [[cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows]
    )
    return lines


def header(source: Mapping[str, str], fmt: str) -> Iterator[str]:
    """Yield the comment lines above a table that say where its numbers come from."""
    before, after = {"markdown": ("<!-- ", " -->"), "latex": ("% ", "")}.get(fmt, ("# ", ""))
    return (f"{before}{name}: {value}{after}\n" for name, value in source.items())


def align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table with aligned columns."""
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
    import csv  # noqa: PLC0415  (the other formats do without)

    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([cell.text for cell in row])
        yield line.getvalue()


def _markdown(rows: list[list[Cell]]) -> Iterator[str]:
    def show(cell: Cell) -> str:
        text = _escape(cell.text, _MARKDOWN)
        text = f"**{text}**" if cell.best else text
        return text + (f"<sup>{cell.above}</sup>" if cell.above else "")

    first, *others = rows
    numbers = [_is_right(column) for column in zip(*others, strict=True)] or [False] * len(first)
    rule = ["---:" if right else "---" for right in numbers]
    for cells in (list(map(show, first)), rule, *(list(map(show, row)) for row in others)):
        yield f"| {' | '.join(cells)} |\n"


def _latex(rows: list[list[Cell]]) -> Iterator[str]:
    def show(cell: Cell) -> str:
        text = _escape(cell.text, _LATEX)
        text = rf"\textbf{{{text}}}" if cell.best else text
        return text + (f"$^{{{cell.above}}}$" if cell.above else "")

    first, *others = rows
    numbers = [_is_right(column) for column in zip(*others, strict=True)] or [False] * len(first)
    yield "% \\usepackage{booktabs}\n"
    yield rf"\begin{{tabular}}{{{''.join('r' if right else 'l' for right in numbers)}}}" + "\n"
    yield "\\toprule\n" + " & ".join(map(show, first)) + " \\\\\n\\midrule\n"
    for row in others:
        yield " & ".join(map(show, row)) + " \\\\\n"
    yield "\\bottomrule\n\\end{tabular}\n"


def _escape(text: str, letters: Mapping[str, str]) -> str:
    return "".join(letters.get(letter, letter) for letter in text)


def _is_right(column: Sequence[Cell]) -> bool:
    """Tell whether a column holds numbers: it is aligned to the right."""
    return all(cell.text.lstrip("+-")[:1].isdecimal() or not cell.text for cell in column)


WRITERS: dict[str, Callable[[list[list[Cell]]], Iterator[str]]] = {
    "table": _aligned,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
