"""How many answers were within 1 of the level they are compared with."""

import math
from collections.abc import Sequence
from typing import NamedTuple

Z = 1.959964
"""The normal deviate of a 95 % interval."""


class Hits(NamedTuple):
    """The hits among a number of answers, with Wilson's interval (1927), 95 %."""

    hits: int
    number: int

    @classmethod
    def tally(cls, marks: Sequence[bool]) -> "Hits":
        """Return how many of the marks are true."""
        return cls(sum(map(bool, marks)), len(marks))

    @property
    def share(self) -> float | None:
        """The share of hits; None if there are no answers."""
        return self.hits / self.number if self.number else None

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval of the share; 0 and 1 if there are no answers."""
        if not self.number:
            return 0.0, 1.0
        share, room = self.hits / self.number, Z * Z / self.number
        half = Z * math.sqrt(share * (1 - share) / self.number + room / (4 * self.number))
        low, high = ((share + room / 2 + way * half) / (1 + room) for way in (-1, 1))
        return max(low, 0.0), min(high, 1.0)

    @property
    def text(self) -> str:
        """The figures in words."""
        low, high = self.bounds
        return f"{self.hits} of {self.number} within 1 ({100 * low:.0f}-{100 * high:.0f} %)"


def difference(first: Hits, second: Hits) -> tuple[float, float]:
    """Return the 95 % interval of how much higher the second share is (Newcombe 1998, method 10).

    If either has no answers, it is -1 to 1.
    """
    if first.share is None or second.share is None:
        return -1.0, 1.0
    (low, high), (other_low, other_high) = first.bounds, second.bounds
    change = second.share - first.share
    return (
        change - math.hypot(second.share - other_low, high - first.share),
        change + math.hypot(other_high - second.share, first.share - low),
    )
