"""What a measure tells apart: significant pairs of runs, and queries on which all runs tie."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from momentrank.meta.values import DECIMALS, Values
from momentrank.paired_tests import randomisation


class Separation(NamedTuple):
    """Of a measure: the share of pairs told apart, and of queries with one value for all runs."""

    measure: str
    power: float
    ties: float


def measure_separation(
    values: Values, *, alpha: float = 0.05, rounds: int = 10_000, seed: int = 2024
) -> Iterator[Separation]:
    """Yield each measure's power and ties.

    Power is the share of pairs of runs with p below `alpha` by the paired randomisation test
    (Sakai, SIGIR 2006), on the same queries and the same length of lists for every measure.
    """
    first, second = np.triu_indices(len(values.runs), 1)
    for name, table in zip(values.measures, values.table, strict=True):
        differences = np.round(table[second] - table[first], DECIMALS)
        p_values = np.array(randomisation(differences, rounds, seed))
        tied = np.ptp(np.round(table, DECIMALS), axis=0) == 0
        yield Separation(name, float((p_values < alpha).mean()), float(tied.mean()))
