"""Do measures agree: how alike the orders of runs by every two measures are (AxIoU, Figure 4)."""

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from momentrank.meta.correlation import tau_ap, tau_b
from momentrank.meta.values import Values


class Agreement(NamedTuple):
    """Two measures: tau-b is symmetric; tau_ap holds the `other`'s order against the `measure`'s.

    Both are NaN where a measure ties all runs.
    """

    measure: str
    other: str
    tau_b: float
    tau_ap: float


def measure_agreement(values: Values) -> Iterator[Agreement]:
    """Yield every ordered pair of measures, compared by their means over all queries."""
    means = dict(zip(values.measures, values.means(), strict=True))
    for one, two in permutations(means, 2):
        tau = float(tau_b(means[one], means[two]))
        ap = float(tau_ap(means[one], means[two])) if tau == tau else tau  # noqa: PLR0124  (NaN)
        yield Agreement(one, two, tau, ap)
