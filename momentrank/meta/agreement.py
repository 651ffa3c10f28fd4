"""Agreement of measures: how alike any two of them order runs (AxIoU, Figure 4)."""

import math
from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from momentrank.meta.correlation import tau_ap, tau_b
from momentrank.meta.values import Values


class Agreement(NamedTuple):
    """Two measures: tau-b is symmetric; tau_ap compares the `other`'s order with the `measure`'s.

    Both are None where a measure ties all runs.
    """

    measure: str
    other: str
    tau_b: float | None = None
    tau_ap: float | None = None


def measure_agreement(values: Values) -> Iterator[Agreement]:
    """Yield every ordered pair of measures, compared by their means over all queries."""
    means = dict(zip(values.measures, values.means(), strict=True))
    for first, second in permutations(means, 2):
        tau = float(tau_b(means[first], means[second]))
        if math.isnan(tau):
            yield Agreement(first, second)
        else:
            yield Agreement(first, second, tau, float(tau_ap(means[first], means[second])))
