"""How many queries an order of runs needs: tau-b on random halves, and the swap test.

For each size two sets of queries are drawn at random, disjoint or (`overlap`) independently, many
times. A measure is stable where both order the runs alike (AxIoU paper, Figure 6). The swap test
(Voorhees and Buckley, SIGIR 2002) asks how often a difference seen on one set has the opposite sign
on the other.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from momentrank.errors import UsageError
from momentrank.meta.correlation import differences, tau_b
from momentrank.meta.values import Values
from momentrank.segments import Floats, Ints
from momentrank.significance import DECIMALS, SEED

TRIALS, SIZES = 5_000, 10
TAU, DIFFERENCE = 0.9, 0.05
"""The default targets."""
DRAWN = 2**22
"""Numbers in memory at a time."""
MAX_SWAPS = 0.05
"""The error rate up to which a difference is trusted."""


class Stability(NamedTuple):
    """A measure at one size: over trials, the mean and variance of tau-b, and the swap test.

    `difference` is the smallest difference of means, in steps of a thousandth, such that of the
    pairs with at least that difference, or any larger one, at most `MAX_SWAPS` swap; None if there
    is none.
    """

    measure: str
    queries: int
    tau: float
    variance: float
    difference: float | None


def default_sizes(queries: int, *, overlap: bool = False) -> list[int]:
    """Return `SIZES` sizes, evenly spaced up to the largest that can be drawn."""
    largest = queries if overlap else queries // 2
    return sorted({max(1, largest * step // SIZES) for step in range(1, SIZES + 1)})


def draw_halves(
    queries: int, size: int, trials: int, rng: np.random.Generator, *, overlap: bool
) -> tuple[Ints, Ints]:
    """Return two sets of `size` queries for each trial, (trials, size) each."""
    first = rng.random((trials, queries)).argsort(axis=1)
    if overlap:
        return first[:, :size], rng.random((trials, queries)).argsort(axis=1)[:, :size]
    return first[:, :size], first[:, size : 2 * size]


def measure_stability(
    values: Values,
    sizes: Sequence[int],
    *,
    trials: int = TRIALS,
    seed: int = SEED,
    overlap: bool = False,
    done: Callable[[int], object] = int,
) -> Iterator[Stability]:
    """Yield how stable each measure is at each size, by size; `done` counts trials.

    Trials in which a measure ties all runs have no tau-b, and count as 0: nothing is ordered.

    Raises:
        UsageError: a size is below 1, or too large to draw two sets.
    """
    count = len(values.queries)
    largest = count if overlap else count // 2
    if wrong := [size for size in sizes if not 1 <= size <= largest]:
        raise UsageError(f"{wrong[0]} queries: there are {count}, so sizes must be 1 to {largest}")
    by_query = np.ascontiguousarray(values.table.reshape(-1, count).T)
    for size in sizes:
        rng = np.random.default_rng([seed, size])
        taus, seen = [], _Swaps(values.table)
        block = max(1, DRAWN // max(count, by_query.shape[1]))
        for begin in range(0, trials, block):
            number = min(block, trials - begin)
            halves = draw_halves(count, size, number, rng, overlap=overlap)
            first, second = (_means(by_query, rows, values.table.shape) for rows in halves)
            taus.append(np.nan_to_num(tau_b(first, second)))
            seen.add(first, second)
            done(number)
        tau = np.concatenate(taus)
        for column, measure in enumerate(values.measures):
            mean, variance = float(tau[:, column].mean()), float(tau[:, column].var())
            yield Stability(measure, size, mean, variance, seen.smallest(column))


def _means(by_query: Floats, rows: Ints, shape: tuple[int, ...]) -> Floats:
    """Return means over sets of queries (trials, size): (trials, measures, runs)."""
    chosen = np.zeros((len(rows), shape[2]))
    np.put_along_axis(chosen, rows, 1 / rows.shape[1], axis=1)
    return np.round(chosen @ by_query, DECIMALS).reshape(len(rows), *shape[:2])


class _Swaps:
    """Counts, for each measure, of pairs by their difference on one set: all, and those swapped."""

    BINS = 1000

    def __init__(self, table: Floats) -> None:
        self._pairs = np.zeros((2, len(table), self.BINS + 1))
        self._unit = np.maximum(1.0, np.abs(table).max(axis=(1, 2))) / self.BINS

    def add(self, first: Floats, second: Floats) -> None:
        """Count the pairs of runs of some trials; both sets' differences count."""
        both = differences(first), differences(second)
        order = np.sign(both[0]) * np.sign(both[1])
        for apart in both:
            steps = np.abs(apart) / self._unit[:, None]
            bins = np.minimum(steps.astype(np.int64), self.BINS)
            for measure in range(apart.shape[1]):
                of_measure = bins[:, measure].ravel()
                swapped = (order[:, measure] < 0).ravel()
                for kind, chosen in enumerate((of_measure, of_measure[swapped])):
                    self._pairs[kind, measure] += np.bincount(chosen, minlength=self.BINS + 1)

    def smallest(self, measure: int) -> float | None:
        """Return the smallest difference from which on few enough pairs swap."""
        seen, swapped = self._pairs[:, measure, ::-1].cumsum(axis=-1)[:, ::-1]
        bad = np.flatnonzero(swapped > MAX_SWAPS * seen)
        first = int(bad[-1]) + 1 if len(bad) else 0
        if first > self.BINS or not seen[first]:
            return None
        return float(first * self._unit[measure])


class Needed(NamedTuple):
    """The fewest queries at which a measure reaches a goal; None: more than the `largest` size."""

    measure: str
    goal: str
    wanted: float
    queries: int | None
    largest: int


def find_needed(
    rows: Sequence[Stability], tau: float = TAU, difference: float = DIFFERENCE
) -> list[Needed]:
    """Return how many queries each measure needs for a tau-b, and to trust a difference.

    The first is reached by the mean tau-b; the second where a difference of that size swaps its
    sign in at most `MAX_SWAPS` of the pairs. Between two sizes it is interpolated, linearly in
    1 / sqrt(size): errors of means fall with that.
    """
    needed = []
    for measure in dict.fromkeys(row.measure for row in rows):
        of_measure = sorted(
            (row for row in rows if row.measure == measure), key=lambda row: row.queries
        )
        sizes = [row.queries for row in of_measure]
        limits = [row.difference for row in of_measure]
        missing = [None if limit is None else difference - limit for limit in limits]
        for goal, wanted, above in (
            ("tau", tau, [row.tau - tau for row in of_measure]),
            ("difference", difference, missing),
        ):
            needed.append(Needed(measure, goal, wanted, _first(sizes, above), sizes[-1]))
    return needed


def _first(sizes: Sequence[int], above: Sequence[float | None]) -> int | None:
    """Return where `above` first reaches 0, rounded up; None if it does not."""
    before: tuple[int, float] | None = None
    for size, margin in zip(sizes, above, strict=True):
        if margin is not None and margin >= 0:
            if before is None or margin == before[1]:
                return size
            share = -before[1] / (margin - before[1])
            error: float = before[0] ** -0.5 + share * (size**-0.5 - before[0] ** -0.5)
            return math.ceil(round(error**-2, DECIMALS))
        before = None if margin is None else (size, margin)
    return None
