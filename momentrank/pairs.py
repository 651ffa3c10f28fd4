"""Comparing runs by measures: every pair of runs, or every run with a baseline."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from momentrank import significance
from momentrank.errors import UsageError
from momentrank.segments import Floats
from momentrank.significance import Comparison

if TYPE_CHECKING:
    from momentrank.measures.base import Measure

ROUNDS, CONFIDENCE, SEED = 10_000, 0.95, 2024
"""The defaults: permutations and bootstrap samples, level of the intervals, random seed."""


class Pair(NamedTuple):
    """Two runs by one measure; positive differences favour the second."""

    measure: "Measure"
    first: str
    second: str
    queries: int
    comparison: Comparison

    def as_json(self) -> dict[str, Any]:
        """Return one flat object."""
        names = {"measure": repr(self.measure), "first": self.first, "second": self.second}
        return {**names, "queries": self.queries, **self.comparison._asdict()}


def compare_runs(  # noqa: PLR0913
    runs: Mapping[str, Mapping["Measure", tuple[list[str], Floats]]],
    measures: Iterable["Measure"],
    *,
    baseline: str | None = None,
    rounds: int = ROUNDS,
    confidence: float = CONFIDENCE,
    seed: int = SEED,
) -> list[Pair]:
    """Compare runs' values per query, by measure: one family for Holm's correction.

    Args:
        runs: by the run's name, and for each measure: the queries and their values.
        measures: the measures to compare by.
        baseline: the run that all others are compared with; by default, all pairs.
        rounds: permutations and bootstrap samples.
        confidence: the level of the intervals.
        seed: of the permutations and samples.

    Raises:
        UsageError: the runs have values for different queries, or for none.
    """
    names = [(a, b) for a, b in combinations(runs, 2) if baseline in {None, a, b}]
    names = [(b, a) if b == baseline else (a, b) for a, b in names]
    rows = [(measure, a, b) for measure in measures for a, b in names]
    for measure in dict.fromkeys(measure for measure, *_ in rows):
        _check_queries(measure, [runs[name][measure][0] for name in runs])
    differences = [runs[b][measure][1] - runs[a][measure][1] for measure, a, b in rows]
    compared = significance.compare(differences, rounds=rounds, confidence=confidence, seed=seed)
    return [
        Pair(measure, a, b, len(one), comparison)
        for (measure, a, b), one, comparison in zip(rows, differences, compared, strict=True)
    ]


def _check_queries(measure: "Measure", queries: Sequence[list[str]]) -> None:
    if any(one != queries[0] for one in queries):
        raise UsageError(
            "the runs have different queries, and this convention scores only those in the run:"
            " use --convention paper"
        )
    if not queries[0]:
        raise UsageError(f"{measure!r}: there are no queries to compare")
