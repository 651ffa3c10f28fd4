"""The values of several runs by several measures on the same queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from momentrank.errors import UsageError
from momentrank.segments import Floats, Ints
from momentrank.significance import DECIMALS

if TYPE_CHECKING:
    from momentrank.measures.base import Measure
    from momentrank.scoring import PerQuery


@dataclass(frozen=True, eq=False)
class Values:
    """One value for each measure, run and query: `table`, shape (measures, runs, queries).

    Their means are rounded as differences are in `momentrank.significance`.
    """

    measures: list[str]
    runs: list[str]
    queries: list[str]
    table: Floats

    @classmethod
    def build(cls, scored: Mapping[str, "PerQuery"], measures: Sequence["Measure"]) -> "Values":
        """Arrange the values of runs, each as `Evaluator.per_query` returns them.

        Raises:
            UsageError: fewer than two runs, no query, or runs or measures with different queries.
        """
        if len(scored) < 2:  # noqa: PLR2004  (an order needs two)
            raise UsageError("name at least two runs, to compare their order")
        queries = next(iter(scored.values()))[measures[0]][0]
        for name, of_run in scored.items():
            for measure in measures:
                if of_run[measure][0] != queries:
                    raise UsageError(
                        f"{name}: {measure!r} scores a different set of queries than"
                        f" {measures[0]!r} does for the first run; use measures and a convention"
                        " that score the same"
                    )
        if not queries:
            raise UsageError("there are no queries to compare")
        table = [[scored[name][measure][1] for name in scored] for measure in measures]
        return cls([repr(measure) for measure in measures], list(scored), queries, np.array(table))

    def means(self, queries: Ints | slice = slice(None)) -> Floats:
        """Return the mean over some of the queries, shape (measures, runs)."""
        means: Floats = np.round(self.table[:, :, queries].mean(axis=2), DECIMALS)
        return means
