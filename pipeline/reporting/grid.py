"""Tables of the page, and how numbers are written in them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

UNKNOWN = "\u2013"


class Num(str):
    """A number as it is written: the page sets it to the right."""

    __slots__ = ()


Cell = str | Num


class Grid(NamedTuple):
    """A table: the first cell of a row is its header. `note` stands below.

    `groups` are headers above the columns but the first: each with how many it spans.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    groups: Sequence[tuple[str, int]] = ()

    @property
    def numeric(self) -> list[bool]:
        """Tell which columns hold numbers: their headers go to the right too."""
        return [
            bool(self.rows) and all(isinstance(row[place], Num) for row in self.rows)
            for place in range(len(self.head))
        ]


def count(value: Any) -> Num:  # noqa: ANN401  (of any library)
    """Write a whole number."""
    return Num(UNKNOWN) if _missing(value) else Num(f"{int(value):,}")


def decimal(value: Any, digits: int = 2) -> Num:  # noqa: ANN401  (as `count`)
    """Write a number with decimals; a true minus sign."""
    return Num(UNKNOWN) if _missing(value) else Num(f"{value:,.{digits}f}".replace("-", "\u2212"))


def percent(value: Any, digits: int = 1) -> Num:  # noqa: ANN401  (as `count`)
    """Write a share."""
    return Num(UNKNOWN) if _missing(value) else Num(f"{value:.{digits}%}".replace("%", "\u202f%"))


def _missing(value: Any) -> bool:  # noqa: ANN401  (as `count`)
    return value is None or bool(pd.isna(value))


def share(part: float, whole: float) -> float | None:
    """Return a share, None of nothing."""
    return part / whole if whole else None
