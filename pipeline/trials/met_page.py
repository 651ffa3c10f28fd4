"""The table of docs/outside.md: what was met, where, on which day and in which version."""

import re
from collections.abc import Container
from datetime import date
from pathlib import Path
from typing import NamedTuple

from momentrank.errors import MomentRankError
from pipeline.core import files
from pipeline.trials.base import Met

PAGE = Path("docs/outside.md")
HEADING = "## Met"
DAY = re.compile(r"\d{4}-\d\d-\d\d")


class PageError(MomentRankError):
    """A row of the table is not one that a trial prints."""


class Row(NamedTuple):
    """A trial that met the thing: its cells in the table's order."""

    day: str
    name: str
    version: str
    where: str
    result: str
    code: str


def make_row(day: date, name: str, met: Met, code: str) -> Row:
    """Return the row of a trial that met a thing, with the commit of the code."""
    version, where, result = map(_clean, met)
    return Row(day.isoformat(), name, version, where, result, code)


def format_row(row: Row) -> str:
    """Return the line to add to the page."""
    return f"| {' | '.join(row)} |"


def _clean(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def read_rows(names: Container[str], page: Path = PAGE) -> list[Row]:
    """Return the rows of the page's table.

    Raises:
        PageError: a row has other cells, an unknown name or no day.
    """
    rows, inside = [], False
    for number, line in enumerate(map(str.rstrip, files.decode_lines(page)), start=1):
        if line.startswith("## "):
            inside = line == HEADING
        if inside and line.startswith("| ") and not line.startswith("| day "):
            cells = [cell.strip() for cell in line.strip("| ").split("|")]
            if len(cells) != len(Row._fields) or not all(cells):
                raise PageError(f"{page}, line {number}: needs {', '.join(Row._fields)}")
            row = Row(*cells)
            if row.name not in names or not DAY.fullmatch(row.day):
                raise PageError(f"{page}, line {number}: {row.day} {row.name}: not a trial's row")
            rows.append(row)
    return rows
