"""Comparing two runs query by query: tests, interval and size of the difference.

* a randomisation test, Student's t-test and Wilcoxon's signed-rank test (`momentrank.paired`)
* Holm's correction (1979) of each test over the whole family that is compared at once
* percentile bootstrap intervals of the mean difference, over queries
* the standardised mean of the differences as effect size, and wins, ties, losses
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from momentrank.paired import CLOSE, blocks, randomisation, t_test, wilcoxon
from momentrank.segments import Floats

DECIMALS = 12
"""Differences are rounded to so many decimals: what rounding alone tells apart is a tie."""
TESTS = ("randomisation", "t", "wilcoxon")


class Comparison(NamedTuple):
    """Two runs by one measure; `difference` is the second one's mean minus the first one's.

    `p_...` are the p-values of `TESTS`, `p_..._holm` those after Holm's correction. Without
    variance there is neither t nor `effect`: None.
    """

    difference: float
    low: float
    high: float
    p_randomisation: float
    p_randomisation_holm: float
    p_t: float | None
    p_t_holm: float | None
    p_wilcoxon: float
    p_wilcoxon_holm: float
    effect: float | None
    wins: int
    ties: int
    losses: int

    def p(self, test: str) -> float | None:
        """Return the p-value of one of `TESTS`."""
        value: float | None = getattr(self, f"p_{test}")
        return value

    def p_holm(self, test: str) -> float | None:
        """Return the corrected p-value of one of `TESTS`."""
        value: float | None = getattr(self, f"p_{test}_holm")
        return value


def compare(
    differences: Sequence[Floats], *, rounds: int, confidence: float, seed: int
) -> list[Comparison]:
    """Compare pairs of runs by their differences per query, one row per pair and measure.

    All rows are one family for Holm's correction. They may differ in the number of queries.
    """
    rounded = [np.round(one, DECIMALS) for one in differences]
    drawn: dict[int, tuple[float, float, float]] = {}
    for queries in dict.fromkeys(map(len, rounded)):
        rows = [row for row, one in enumerate(rounded) if len(one) == queries]
        table = np.array([rounded[row] for row in rows])
        intervals = bootstrap(table, rounds, confidence, seed)
        p_values = randomisation(table, rounds, seed)
        drawn |= {row: (*intervals[at], p_values[at]) for at, row in enumerate(rows)}
    draws = [drawn[row] for row in range(len(rounded))]
    p_t, p_wilcoxon = [t_test(one) for one in rounded], [wilcoxon(one) for one in rounded]
    corrected = zip(
        holm([p for *_, p in draws]), _holm_where_tested(p_t), holm(p_wilcoxon), strict=True
    )
    return [
        Comparison(
            difference=float(one.mean()),
            low=draws[row][0],
            high=draws[row][1],
            p_randomisation=draws[row][2],
            p_randomisation_holm=by_randomisation,
            p_t=p_t[row],
            p_t_holm=by_t,
            p_wilcoxon=p_wilcoxon[row],
            p_wilcoxon_holm=by_wilcoxon,
            effect=_effect(one),
            wins=int((one > 0).sum()),
            ties=int((one == 0).sum()),
            losses=int((one < 0).sum()),
        )
        for row, (one, (by_randomisation, by_t, by_wilcoxon)) in enumerate(
            zip(rounded, corrected, strict=True)
        )
    ]


def bootstrap(
    differences: Floats, rounds: int, confidence: float, seed: int
) -> list[tuple[float, float]]:
    """Return the percentile bootstrap interval of the mean of each row, shape (tests, queries)."""
    rng = np.random.default_rng(seed)
    queries = differences.shape[1]
    means = []
    for count in blocks(rounds, queries):
        drawn = rng.integers(0, queries, (count, queries))
        drawn += np.arange(count)[:, None] * queries
        times = np.bincount(drawn.ravel(), minlength=count * queries).reshape(count, queries)
        means.append(times.astype(np.float64) @ differences.T / queries)
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for multiple comparisons, in the order given."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, row in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[row]))
        adjusted[row] = highest
    return adjusted


def _holm_where_tested(p_values: Sequence[float | None]) -> list[float | None]:
    adjusted = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(adjusted) for p in p_values]


def _effect(differences: Floats) -> float | None:
    """Return Cohen's d for paired values; None if all differences are equal and not 0."""
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    if abs(mean) <= CLOSE:
        return 0.0
    return mean / spread if spread > CLOSE * abs(mean) else None
