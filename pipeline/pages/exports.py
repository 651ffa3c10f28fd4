r"""The report's exports: figures as SVG and CSV, tables as CSV and LaTeX.

The LaTeX is a `table` environment in the style of booktabs: \usepackage{booktabs}, then \input it.
A table's content comes from corpora and people, so everything is escaped.
"""

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from pipeline.core.csv_files import csv_text
from pipeline.pages.figures import Figure
from pipeline.pages.html_tables import Cell, Grid, Num
from pipeline.pages.svg import standalone


def exports(figures: Iterable[Figure], grids: Iterable[Grid]) -> Iterator[tuple[str, str]]:
    """Yield the files of every figure and table, by path below the report's folder, as text.

    A figure without data has no SVG.
    """
    for figure in figures:
        yield f"figures/{figure.name}.csv", csv_text(figure.data)
        if figure.chart is not None:
            yield f"figures/{figure.name}.svg", standalone(figure)
    for grid in grids:
        yield f"tables/{grid.name}.csv", _grid_csv(grid)
        yield f"tables/{grid.name}.tex", latex(grid)


def _grid_csv(grid: Grid) -> str:
    """Return a table with its plain numbers, not as the page formats them."""
    above = [name for name, size in grid.groups for _ in range(size)] or [""] * len(grid.head[1:])
    head = [f"{group} {name}".strip() for group, name in zip(above, grid.head[1:], strict=True)]
    rows = [[cell.value if isinstance(cell, Num) else cell for cell in row] for row in grid.rows]
    return csv_text(pd.DataFrame(rows, columns=[grid.head[0], *head], dtype=object))


ESCAPED = str.maketrans(
    {character: rf"\{character}" for character in "{}&%$#_"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\u2212": "$-$",
        "\u2013": "--",
        "\u2018": "`",
        "\u2019": "'",
        "\u201c": "``",
        "\u201d": "''",
        "\u202f": r"\,",
        "\u00a0": "~",
        "\u03b1": r"$\alpha$",
        "\u03ba": r"$\kappa$",
        "\u03c4": r"$\tau$",
    }
)


def escape(text: str) -> str:
    """Return a text in one line that LaTeX typesets as written."""
    printable = "".join(letter for letter in text if letter.isprintable() or letter.isspace())
    return " ".join(printable.translate(ESCAPED).split())


def latex(grid: Grid) -> str:
    """Return a table."""
    columns = "".join("r" if numeric else "l" for numeric in grid.numeric)
    title = grid.title.partition(". ")[2] or grid.title
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(title)}}}",
        rf"\label{{tab:{grid.name}}}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *_groups(grid),
        _row(grid.head),
        r"\midrule",
        *map(_row, grid.rows),
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip\footnotesize {escape(grid.note)}"] if grid.note else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: Cell) -> str:
    """Return a cell, protecting [ and *, which LaTeX would take as part of a line break before."""
    text = escape(cell)
    return f"{{{text}}}" if text.startswith(("[", "*")) else text


def _groups(grid: Grid) -> list[str]:
    if not grid.groups:
        return []
    spans = [rf"\multicolumn{{{size}}}{{c}}{{{escape(name)}}}" for name, size in grid.groups]
    ends, rules = 1, []
    for _, size in grid.groups:
        rules.append(rf"\cmidrule(lr){{{ends + 1}-{ends + size}}}")
        ends += size
    return [" & ".join(["", *spans]) + r" \\", "".join(rules)]
