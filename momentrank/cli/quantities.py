"""How values are shown: of measures, and of the cells of a benchmark's table."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from momentrank.cli.tables import Cell
from momentrank.measures import DCG, Judged, Measure
from momentrank.measures.counts import Count

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

    def plain(self, quantity: Quantity, value: float) -> float | None:
        """Return a value for JSON and CSV; None if there is none."""
        return None if math.isnan(value) else self.scale(quantity, value)

    def text(self, quantity: Quantity, value: float, sign: str = "") -> str:
        """Return a value as text, with a plus sign if `sign` is "+"."""
        if math.isnan(value):
            return DASH
        value = self.scale(quantity, value)
        digits = 0 if quantity.is_count and value.is_integer() else self.digits
        return f"{value:{sign}.{digits}f}"

    def cells(self, quantity: Quantity, values: Sequence[float | None]) -> list[Cell]:
        """Return a cell per system; all that print like the best one are marked."""
        texts = ["" if value is None else self.text(quantity, value) for value in values]
        known = [value for value in values if value is not None and not math.isnan(value)]
        marked = quantity.is_ranked and len(values) > 1 and known
        best = self.text(quantity, max(known)) if marked else None
        return [Cell(text, best=text == best) for text in texts]
