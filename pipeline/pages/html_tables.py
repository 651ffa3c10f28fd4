"""The page's tables, and the formats of numbers in them."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

UNKNOWN = "\u2013"


class Num(str):
    """A formatted number, which the page aligns to the right; `value` is the number itself."""

    __slots__ = ("__dict__",)
    value: float | None

    def __new__(cls, text: str, value: float | None = None) -> "Num":
        """Return the text of a number."""
        number = super().__new__(cls, text)
        number.value = value
        return number


Cell = str | Num
NUMBERED = re.compile(r"(Table \w+)\. ")
WORD = re.compile(r"[a-z0-9]+")
LETTERS = str.maketrans({"\u03b1": "alpha", "\u03ba": "kappa", "\u2019": "", "'": ""})


class Grid(NamedTuple):
    """A table: the first cell of each row is its header. `note` goes below.

    `groups` are headers above all columns except the first, each with how many columns it spans.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    groups: Sequence[tuple[str, int]] = ()

    @property
    def name(self) -> str:
        """The name of its files: `table-1`, or else one made from its title."""
        numbered = NUMBERED.match(self.title)
        text = numbered[1] if numbered else self.title.partition(" (")[0]
        return "-".join(WORD.findall(text.translate(LETTERS).lower()))

    @property
    def numeric(self) -> list[bool]:
        """Which columns contain numbers: their headers are aligned to the right too."""
        return [
            bool(self.rows) and all(isinstance(row[column], Num) for row in self.rows)
            for column in range(len(self.head))
        ]


def count(value: Any) -> Num:  # noqa: ANN401  (of any library)
    """Format a whole number."""
    return Num(UNKNOWN) if _missing(value) else Num(f"{int(value):,}", int(value))


def decimal(value: Any, digits: int = 2) -> Num:  # noqa: ANN401  (as `count`)
    """Format a number with decimals and a true minus sign."""
    if _missing(value):
        return Num(UNKNOWN)
    return Num(f"{value:,.{digits}f}".replace("-", "\u2212"), round(float(value), 6))


def percent(value: Any, digits: int = 1) -> Num:  # noqa: ANN401  (as `count`)
    """Format a share."""
    if _missing(value):
        return Num(UNKNOWN)
    return Num(f"{value:.{digits}%}".replace("%", "\u202f%"), round(float(value), 6))


def _missing(value: Any) -> bool:  # noqa: ANN401  (as `count`)
    return value is None or bool(pd.isna(value))


def share(part: float, whole: float) -> float | None:
    """Return a share; None if the whole is 0."""
    return part / whole if whole else None
