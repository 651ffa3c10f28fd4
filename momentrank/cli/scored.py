"""A run's values: over all queries, per group of queries and per query."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from momentrank.cli.quantities import Quantity, describe
from momentrank.conventions.base import Convention
from momentrank.measures import Judged
from momentrank.query_groups import Groups, select_queries
from momentrank.scoring import Evaluator
from momentrank.segments import Segments

Values = dict[Quantity, float]


class Scored(NamedTuple):
    """A run's values; those of groups and queries on request."""

    total: Values
    groups: dict[str, Values]
    queries: dict[str, Values]


def score(
    evaluator: Evaluator, lists: Mapping[str, Segments], groups: Groups, *, per_query: bool
) -> Scored:
    """Score a run by measures; a group's values are over those of its queries that count."""
    scored = Scored({}, {name: {} for name in groups}, {})
    for measure, (names, values) in evaluator.per_query(lists).items():
        quantity = describe(measure)
        scored.total[quantity] = evaluator.aggregate(measure, values)
        place = {name: row for row, name in enumerate(names)} if groups else {}
        for group, queries in groups.items():
            rows = np.array([place[name] for name in queries if name in place], dtype=np.int64)
            mean = evaluator.aggregate(measure, values[rows]) if len(rows) else float("nan")
            scored.groups[group][quantity] = mean
        if per_query:
            for name, value in zip(names, values.tolist(), strict=True):
                scored.queries.setdefault(name, {})[quantity] = value
    return scored


def score_table(
    convention: Convention,
    qrels: Segments,
    lists: Mapping[str, Segments],
    groups: Groups,
) -> Scored:
    """Score a run by the cells of the convention's own table; `lists` are those of its tasks."""

    def table(queries: Sequence[str] | None) -> Values:
        truth, own = qrels, lists
        if queries is not None:
            truth = select_queries(qrels, queries)
            own = {task: select_queries(one, queries) for task, one in lists.items()}
        cells = convention.table_of(truth, own)
        return {_describe(convention, name): value for name, value in cells.items()}

    return Scored(table(None), {name: table(queries) for name, queries in groups.items()}, {})


def _describe(convention: Convention, cell: str) -> Quantity:
    """Return how a cell of a convention's table is shown."""
    is_count = convention.is_count(cell)
    is_ranked = not is_count and not cell.startswith(Judged.NAME)
    return Quantity(cell, is_share=not is_count, is_ranked=is_ranked, is_count=is_count)


class Spread(NamedTuple):
    """The mean over runs and the standard deviation (n - 1); None for a single run."""

    mean: float
    sd: float | None


def spread(values: Sequence[float]) -> Spread:
    """Return the mean and the standard deviation of several runs' values."""
    count, mean = len(values), math.fsum(values) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Spread(mean, math.sqrt(squares / (count - 1)) if count > 1 else None)


class Results(NamedTuple):
    """What is printed: each run's values, and the runs of each group of seeds, by name."""

    runs: Mapping[str, Scored]
    shown: Sequence[str]
    """The runs with a column of their own."""
    seeds: Mapping[str, Sequence[str]]
    quantities: Sequence[Quantity]
    groups: Groups
    order: Sequence[str]
    """Queries in the order in which they are printed."""
