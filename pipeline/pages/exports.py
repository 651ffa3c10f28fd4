"""What people take out of the report: figures as SVG and CSV, tables as CSV and LaTeX."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pandas as pd

from pipeline.core.csv_files import csv_text
from pipeline.pages.figures import Figure
from pipeline.pages.latex import latex
from pipeline.pages.svg import standalone
from pipeline.pages.tables import Grid, Num


class Export(NamedTuple):
    """A file below the report's folder: its path, and its text."""

    path: str
    text: str


def exports(figures: Iterable[Figure], grids: Iterable[Grid]) -> Iterator[Export]:
    """Yield the files of every figure and table; a figure without data has no SVG."""
    for figure in figures:
        yield Export(f"figures/{figure.name}.csv", csv_text(figure.data))
        if figure.chart is not None:
            yield Export(f"figures/{figure.name}.svg", standalone(figure))
    for grid in grids:
        yield Export(f"tables/{grid.name}.csv", _grid_csv(grid))
        yield Export(f"tables/{grid.name}.tex", latex(grid))


def _grid_csv(grid: Grid) -> str:
    """Return a table with its numbers as they are, not as the page writes them."""
    above = [name for name, size in grid.groups for _ in range(size)] or [""] * len(grid.head[1:])
    head = [f"{group} {name}".strip() for group, name in zip(above, grid.head[1:], strict=True)]
    rows = [[cell.value if isinstance(cell, Num) else cell for cell in row] for row in grid.rows]
    return csv_text(pd.DataFrame(rows, columns=[grid.head[0], *head], dtype=object))
