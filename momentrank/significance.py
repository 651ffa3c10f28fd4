"""Paired significance tests over queries.

* a randomisation test: how often exchanging the two runs' values of queries at random gives a
  difference at least as large (Smucker et al., CIKM 2007), including the observed one
* Holm's correction (1979) for several comparisons with the first run
* percentile bootstrap intervals of the mean difference, over queries
* the standardised mean of the differences as effect size, and wins, ties, losses
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from momentrank.segments import Floats

BLOCK = 2**22
"""Numbers drawn at a time."""
CLOSE = 1e-12
"""Tolerance, absolute and relative, for differences due to rounding."""


class Comparison(NamedTuple):
    """A run compared with the first one; `difference` is its mean minus the first one's."""

    difference: float
    low: float
    high: float
    p: float
    p_holm: float
    effect: float | None
    wins: int
    ties: int
    losses: int


def compare(
    first: Floats, others: Sequence[Floats], *, rounds: int, confidence: float, seed: int
) -> list[Comparison]:
    """Compare runs' values per query, shape (n,), with those of the first run."""
    differences = [other - first for other in others]
    p_values = [randomisation(one, rounds, np.random.default_rng(seed)) for one in differences]
    intervals = [
        bootstrap(one, rounds, confidence, np.random.default_rng(seed)) for one in differences
    ]
    rows = zip(differences, intervals, p_values, holm(p_values), strict=True)
    return [
        Comparison(
            float(one.mean()),
            *interval,
            p,
            p_holm,
            _effect(one),
            int((one > CLOSE).sum()),
            int((np.abs(one) <= CLOSE).sum()),
            int((one < -CLOSE).sum()),
        )
        for one, interval, p, p_holm in rows
    ]


def randomisation(differences: Floats, rounds: int, rng: "np.random.Generator") -> float:
    """Return the two-sided p of a paired randomisation test, (hits + 1) / (rounds + 1)."""
    observed = abs(differences.sum()) * (1 - CLOSE)
    hits = 0
    for count in _blocks(rounds, len(differences)):
        signs = rng.integers(0, 2, (count, len(differences)), dtype=np.int8) * 2.0 - 1.0
        hits += int((np.abs(signs @ differences) >= observed).sum())
    return (hits + 1) / (rounds + 1)


def bootstrap(
    differences: Floats, rounds: int, confidence: float, rng: "np.random.Generator"
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the mean difference."""
    means = [
        differences[rng.integers(0, len(differences), (count, len(differences)))].mean(axis=1)
        for count in _blocks(rounds, len(differences))
    ]
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return float(low), float(high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple comparisons, in the order given."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, row in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[row]))
        adjusted[row] = highest
    return adjusted


def _effect(differences: Floats) -> float | None:
    """Return Cohen's d for paired values; None if all differences are equal and not 0."""
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    if abs(mean) <= CLOSE:
        return 0.0
    return mean / spread if spread > CLOSE * abs(mean) else None


def _blocks(rounds: int, width: int) -> Iterator[int]:
    size = max(1, BLOCK // max(1, width))
    for drawn in range(0, rounds, size):
        yield min(size, rounds - drawn)
