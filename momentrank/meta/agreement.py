"""The means of runs, and how alike any two measures order runs (AxIoU, Figures 5 and 4)."""

import math
from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from momentrank.meta.correlation import tau_ap, tau_b
from momentrank.meta.values import Values


class Effectiveness(NamedTuple):
    """A run's mean by a measure; `number` is the run's place, from 1."""

    measure: str
    number: int
    run: str
    mean: float


def measure_effectiveness(values: Values) -> Iterator[Effectiveness]:
    """Yield the mean of every run by every measure."""
    for measure, means in zip(values.measures, values.means().tolist(), strict=True):
        for number, (run, mean) in enumerate(zip(values.runs, means, strict=True), start=1):
            yield Effectiveness(measure, number, run, mean)


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
