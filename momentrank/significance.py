"""Comparing runs query by query: tests, interval and size of the difference.

* a randomisation test, Student's t-test and Wilcoxon's signed-rank test (`paired_tests`)
* Holm's correction (1979) of each test over the whole family that is compared together
* intervals of the mean difference over queries: percentiles of a bootstrap, or Student's t for few
* the standardised mean of the differences as effect size, and wins, ties, losses
"""

import itertools
import math
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from momentrank.errors import UsageError
from momentrank.paired_tests import (
    CLOSE,
    blocks,
    randomisation,
    randomise_all,
    t_quantile,
    t_test,
    wilcoxon,
)
from momentrank.segments import Floats, make_frame

if TYPE_CHECKING:
    import pandas as pd

    from momentrank.measures.base import Measure

ROUNDS, CONFIDENCE, SEED = 10_000, 0.95, 2024
"""The defaults: permutations and bootstrap samples, level of the intervals, random seed."""

FEW = 50
"""With fewer queries, intervals are Student's."""
DECIMALS = 12
"""Differences are rounded to this many decimals, so that rounding errors break no ties."""
TESTS = ("randomisation", "t", "wilcoxon")


class Comparison(NamedTuple):
    """Two runs by one measure; `difference` is the second's mean minus the first's.

    `p_...` are the p-values of `TESTS`, `p_..._holm` those after Holm's correction. Without
    variance, t and `effect` are None.
    """

    difference: float
    low: float
    high: float
    p_randomisation: float | None
    p_randomisation_holm: float | None
    p_t: float | None
    p_t_holm: float | None
    p_wilcoxon: float | None
    p_wilcoxon_holm: float | None
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

    def is_significant(self, test: str, alpha: float) -> bool:
        """Tell whether the corrected p-value of one of `TESTS` is below `alpha`."""
        p = self.p_holm(test)
        return p is not None and p < alpha


class Pair(NamedTuple):
    """Two runs by one measure; positive differences favour the second."""

    measure: "Measure"
    first: str
    second: str
    queries: int
    comparison: Comparison
    group: str = ""
    """The group of queries; empty for all."""

    def as_json(self) -> dict[str, Any]:
        """Return one flat object with the same keys for every pair."""
        return {
            "measure": repr(self.measure),
            "first": self.first,
            "second": self.second,
            "group": self.group,
            "queries": self.queries,
            **self.comparison._asdict(),
        }


class Band(NamedTuple):
    """The range that a difference may be in, were the labels others."""

    low: float
    high: float

    def can_turn(self, difference: float) -> bool:
        """Tell whether a difference may change its sign: it is within that range's uncertainty."""
        signs = {np.sign(round(value, DECIMALS)) for value in (*self, difference)}
        return len(signs) > 1


Bands = dict[tuple[str, str, str], Band]
"""By measure and two runs: of the second's mean minus the first's."""


def as_columns(name: str, band: Band | None, difference: float) -> dict[str, float | bool | None]:
    """Return a band as columns, and whether the difference is within; None where there is none."""
    return {
        f"{name}_low": band and band.low,
        f"{name}_high": band and band.high,
        f"within_{name}": band and band.can_turn(difference),
    }


class Comparisons(list[Pair]):
    """Pairs of runs compared by measures, as one family for Holm's correction."""

    bounds: Bands | None = None
    """What unjudged results leave open, if requested."""

    @property
    def names(self) -> list[tuple[str, str]]:
        """Return the two runs of each pair, once."""
        return list(dict.fromkeys((pair.first, pair.second) for pair in self))

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per pair and measure."""
        return make_frame([{**pair.as_json(), **self._bounds(pair)} for pair in self])

    def _bounds(self, pair: Pair) -> dict[str, float | bool | None]:
        if self.bounds is None:
            return {}
        band = self.bounds.get((repr(pair.measure), pair.first, pair.second))
        return as_columns("unjudged", band, pair.comparison.difference)

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; without pandas, that is the text."""
        with suppress(UsageError):
            return str(self.to_frame().to_html(index=False))
        return None


def compare_runs(
    runs: Mapping[str, Mapping["Measure", tuple[list[str], Floats]]],
    measures: Iterable["Measure"],
    *,
    baseline: str | None = None,
    rounds: int = ROUNDS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
    groups: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Pair]:
    """Compare runs' values per query, by measure and group: one family for Holm's correction.

    Args:
        runs: by the run's name, and for each measure: the queries and their values.
        measures: the measures to compare by.
        baseline: the run that all others are compared with; by default, all pairs.
        rounds: permutations and bootstrap samples.
        confidence: the level of the intervals.
        seed: of the permutations and samples.
        groups: of queries, compared as well; without a query that counts, a group has no pair.

    Raises:
        UsageError: the runs have values for different queries, or for none, or a measure's value of
            a query depends on the others: paired tests do not hold for them.
    """
    names = [(a, b) for a, b in combinations(runs, 2) if baseline in {None, a, b}]
    names = [(b, a) if b == baseline else (a, b) for a, b in names]
    rows: list[tuple[Measure, str, str, str]] = []
    differences: list[Floats] = []
    for measure in measures:
        check_queries(measure, [runs[name][measure][0] for name in runs])
        row_of = {query: row for row, query in enumerate(runs[names[0][0]][measure][0])}
        for group, members in {"": list(row_of), **groups}.items():
            chosen = [row_of[query] for query in members if query in row_of]
            for a, b in names if chosen else []:
                rows.append((measure, a, b, group))
                differences.append((runs[b][measure][1] - runs[a][measure][1])[chosen])
    compared = compare(differences, rounds=rounds, confidence=confidence, seed=seed)
    return [
        Pair(measure, a, b, len(values), comparison, group)
        for (measure, a, b, group), values, comparison in zip(
            rows, differences, compared, strict=True
        )
    ]


def check_queries(measure: "Measure", queries: Sequence[list[str]]) -> None:
    """Check that paired tests hold: all runs have values for the same queries.

    Raises:
        UsageError: they don't, or there is no query, or its value depends on the others.
    """
    if measure.COLLECTIVE:
        raise UsageError(
            f"{measure!r}: a query's value depends on the others, so paired tests over queries do"
            " not hold; compare runs by NullAcc or nDCG(silence=True)"
        )
    if any(listed != queries[0] for listed in queries):
        raise UsageError(
            "the runs have different queries, and this convention scores only those in the run:"
            " use --convention paper"
        )
    if not queries[0]:
        raise UsageError(f"{measure!r}: there are no queries to compare")


def compare(
    differences: Sequence[Floats], *, rounds: int, confidence: float, seed: int
) -> list[Comparison]:
    """Compare pairs of runs by their differences per query, one row per pair and measure.

    All rows are one family for Holm's correction. They may differ in the number of queries.
    """
    rounded = [np.round(values, DECIMALS) for values in differences]
    low, high, p_randomisation = [[0.0] * len(rounded) for _ in range(3)]
    for queries in dict.fromkeys(map(len, rounded)):
        rows = [row for row, values in enumerate(rounded) if len(values) == queries]
        table = np.array([rounded[row] for row in rows])
        intervals = mean_intervals(table, rounds, confidence, seed)
        p_values = randomisation(table, rounds, seed)
        for row, interval, p in zip(rows, intervals, p_values, strict=True):
            (low[row], high[row]), p_randomisation[row] = interval, p
    tested: dict[str, list[float | None]] = {
        "p_randomisation": [*p_randomisation],
        "p_t": [t_test(values) for values in rounded],
        "p_wilcoxon": [wilcoxon(values) for values in rounded],
    }
    tested |= {f"{name}_holm": holm(p_values) for name, p_values in tested.items()}
    return [
        Comparison(
            difference=float(values.mean()),
            low=low[row],
            high=high[row],
            **{name: p_values[row] for name, p_values in tested.items()},
            effect=_effect(values),
            wins=int((values > 0).sum()),
            ties=int((values == 0).sum()),
            losses=int((values < 0).sum()),
        )
        for row, values in enumerate(rounded)
    ]


def compare_all(values: Floats, test: str, rounds: int, seed: int) -> list[float | None]:
    """Return the corrected p of every two rows of values, shape (runs, queries), by one of `TESTS`.

    The pairs are in the order of `numpy.triu_indices(runs, 1)`, and one family; as `compare_runs`
    gives them, in a fraction of its time for many runs.
    """
    if test == TESTS[0]:
        return holm(randomise_all(values, rounds, seed))
    single = t_test if test == TESTS[1] else wilcoxon
    return holm([single(np.round(b - a, DECIMALS)) for a, b in combinations(values, 2)])


def iterate_letters() -> Iterator[str]:
    """Yield a, b, ..., z, aa, ab, ..."""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_lowercase, repeat=length))


def mean_intervals(
    values: Floats, rounds: int, confidence: float, seed: int
) -> list[tuple[float, float]]:
    """Return the interval of the mean of each row over its queries, shape (rows, queries).

    They are percentiles of a bootstrap. Below `FEW` queries these are too narrow, and the interval
    is Student's t; one query has none, so NaN.
    """
    queries = values.shape[1]
    if queries < FEW:
        return [_student(row, confidence) for row in values]
    rng = np.random.default_rng(seed)
    means = []
    for count in blocks(rounds, queries):
        drawn = rng.integers(0, queries, (count, queries))
        drawn += np.arange(count)[:, None] * queries
        times = np.bincount(drawn.ravel(), minlength=count * queries).reshape(count, queries)
        means.append(times.astype(np.float64) @ values.T / queries)
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _student(values: Floats, confidence: float) -> tuple[float, float]:
    queries, mean = len(values), float(values.mean())
    if queries == 1:
        return math.nan, math.nan
    error = float(values.std(ddof=1)) / math.sqrt(queries)
    half = t_quantile(confidence, queries - 1) * error
    return mean - half, mean + half


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values adjusted for multiple comparisons, in the order given; None stays None."""
    adjusted: list[float | None] = [None] * len(p_values)
    tests = sorted((p, row) for row, p in enumerate(p_values) if p is not None)
    highest = 0.0
    for position, (p, row) in enumerate(tests):
        highest = max(highest, min(1.0, (len(tests) - position) * p))
        adjusted[row] = highest
    return adjusted


def _effect(differences: Floats) -> float | None:
    """Return Cohen's d for paired values; None if all differences are equal and not 0."""
    mean = float(differences.mean())
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    if abs(mean) <= CLOSE:
        return 0.0
    return mean / spread if spread > CLOSE * abs(mean) else None
