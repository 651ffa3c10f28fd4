"""Runs of some systems with their scorer, also against changed copies of the qrels."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import numpy as np

from momentrank.errors import UsageError
from momentrank.formats import Lists
from momentrank.measures import Judged, Measure
from momentrank.measures.counts import Count
from momentrank.meta.values import Values
from momentrank.query_groups import select_queries
from momentrank.scoring import Evaluator
from momentrank.segments import Floats, Ints, Segments, stack
from momentrank.significance import DECIMALS

HELD = 2**19
"""Judged segments, or results, of all copies that are scored together."""


def check_measures(measures: Iterable[Measure]) -> None:
    """Check that higher values of each measure are better.

    Raises:
        UsageError: one is a count, or a query's value depends on the others.
    """
    for measure in measures:
        if isinstance(measure, Count) or measure.NAME == Judged.NAME:
            raise UsageError(f"{measure!r} does not order runs: name measures of quality")
        if measure.COLLECTIVE:
            raise UsageError(f"{measure!r} is of the whole collection: name measures of queries")


class Systems:
    """Runs of some systems, and their scorer."""

    def __init__(self, evaluator: Evaluator, runs: Mapping[str, Lists]) -> None:
        """Take an evaluator and each run's lists, read as it requires, by the run's name.

        Raises:
            UsageError: a measure does not order runs.
        """
        check_measures(evaluator.measures)
        self.evaluator, self.runs = evaluator, runs

    @property
    def measures(self) -> list[str]:
        """The names of the measures."""
        return [repr(measure) for measure in self.evaluator.measures]

    @cached_property
    def values(self) -> Values:
        """The value of every measure, run and query."""
        scored = {name: self.evaluator.per_query(lists) for name, lists in self.runs.items()}
        return Values.build(scored, self.evaluator.measures)

    def score_copies(
        self,
        change: Callable[[int], Segments],
        copies: int,
        done: Callable[[int], object] = int,
    ) -> Floats:
        """Return means against changed copies of the qrels, shape (measures, runs, copies).

        `change` returns the qrels of a copy, with all their queries; `done` counts copies.
        Many copies are scored together, as one large collection.
        """
        qrels = self.evaluator.qrels
        runs = {
            name: {task: select_queries(run, qrels.queries) for task, run in lists.items()}
            for name, lists in self.runs.items()
        }
        listed = [sum(len(run.query) for run in lists.values()) for lists in runs.values()]
        size = max(1, HELD // max(1, len(qrels.query), *listed))
        means: list[Floats] = []
        for first in range(0, copies, size):
            numbers = range(first, min(first + size, copies))
            qrels = stack([change(number) for number in numbers])
            scorer = Evaluator(self.evaluator.measures, qrels, self.evaluator.convention)
            means.append(
                np.stack([_means(scorer, lists, len(numbers)) for lists in runs.values()], axis=1)
            )
            done(len(numbers))
        whole: Floats = np.concatenate(means, axis=2)
        rounded: Floats = np.round(whole, DECIMALS)
        return rounded


def _means(scorer: Evaluator, lists: Lists, copies: int) -> Floats:
    """Return the mean of each measure for each copy, shape (measures, copies)."""
    stacked = {task: stack([run] * copies) for task, run in lists.items()}
    copy: Ints = np.empty(0, np.int64)
    means: list[Floats] = []
    last: list[str] | None = None
    for names, values in scorer.per_query(stacked).values():
        if names is not last:  # most measures share one list
            copy = np.array([int(name.partition(" ")[0]) for name in names], dtype=np.int64)
            last = names
        counts = np.bincount(copy, minlength=copies)
        sums = np.bincount(copy, values, copies)
        means.append(np.divide(sums, counts, out=np.full(copies, np.nan), where=counts > 0))
    return np.array(means)
