"""What a measure distinguishes: significant pairs of runs, and queries on which all runs tie."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from momentrank.meta.values import Values
from momentrank.paired_tests import randomisation
from momentrank.significance import DECIMALS, ROUNDS, SEED

ALPHA = 0.05


class Power(NamedTuple):
    """A measure's pairs of runs, how many have p below alpha, and their share."""

    measure: str
    pairs: int
    significant: int
    power: float


class Ties(NamedTuple):
    """A measure's share of queries on which all runs have one value, and on which all have 0."""

    measure: str
    queries: int
    tied: float
    all_zero: float


def measure_power(
    values: Values, *, rounds: int = ROUNDS, seed: int = SEED, done: Callable[[int], object] = int
) -> Iterator[Power]:
    """Yield each measure's power; `done` counts measures.

    It is the share of pairs of runs with p below `ALPHA` by the paired randomisation test (Sakai,
    SIGIR 2006), uncorrected, at equal cost: on the same queries and lists for every measure.
    """
    first, second = np.triu_indices(len(values.runs), 1)
    for name, table in zip(values.measures, values.table, strict=True):
        differences = np.round(table[second] - table[first], DECIMALS)
        p_values = np.array(randomisation(differences, rounds, seed))
        significant = int((p_values < ALPHA).sum())
        yield Power(name, len(first), significant, significant / len(first))
        done(1)


def measure_ties(values: Values) -> Iterator[Ties]:
    """Yield each measure's ties (AxIoU paper, Figure 9): such queries do not distinguish runs."""
    for name, table in zip(values.measures, values.table, strict=True):
        rounded = np.round(table, DECIMALS)
        tied, zero = np.ptp(rounded, axis=0) == 0, (rounded == 0).all(axis=0)
        yield Ties(name, table.shape[1], float(tied.mean()), float(zero.mean()))
