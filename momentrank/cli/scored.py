"""A run's values, and the outputs of `evaluate`: three columns, a table of runs, CSV and JSON."""

import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from momentrank.cli.tables import PLUS_MINUS, Cell, Numbers, Quantity, Row, describe
from momentrank.conventions.base import Convention
from momentrank.errors import UsageError
from momentrank.ids import encode_id
from momentrank.measures import Judged
from momentrank.query_groups import Groups, select_queries
from momentrank.scoring import Evaluator, PerQuery
from momentrank.segments import Segments
from momentrank.unjudged import UPPER, Find

Marks = AbstractSet[tuple[str, str]]
"""Runs, each with a quantity whose value is marked."""
MARK = "\u2020"


class Value(NamedTuple):
    """A value, and the one with other unjudged results, if it was requested and there is one."""

    value: float
    other: float | None = None


Values = dict[Quantity, Value]


class Scored(NamedTuple):
    """A run's values; those of groups and queries on request."""

    total: Values
    groups: dict[str, Values]
    queries: dict[str, Values]
    per_query: PerQuery
    counted: Mapping[str, dict[Quantity, int]] = MappingProxyType({})
    """How many of a group's queries each mean is over; a benchmark's own table does not say."""

    def of(self, group: str, query: str) -> Values:
        """Return the values of a query or a group, or, if both are empty, over all queries."""
        if query:
            return self.queries.get(query, {})
        return self.groups.get(group, {}) if group else self.total


def score(
    evaluator: Evaluator,
    lists: Mapping[str, Segments],
    groups: Groups,
    *,
    per_query: bool,
    find: Find | None = None,
) -> Scored:
    """Score a run by measures; a group's values are over those of its queries that count.

    `find` gives the values with what unjudged results are assumed to be.
    """
    scored, *assumed = evaluator.per_query_of_each(lists, [None, find] if find else [None])
    result = Scored({}, {name: {} for name in groups}, {}, scored, {name: {} for name in groups})
    for measure, (names, values) in scored.items():
        quantity = describe(measure)
        columns = [values, *(other[measure][1] for other in assumed if measure in other)]
        result.total[quantity] = Value(*(evaluator.aggregate(measure, each) for each in columns))
        row_of = {name: row for row, name in enumerate(names)} if groups else {}
        for group, queries in groups.items():
            rows = np.array([row_of[name] for name in queries if name in row_of], dtype=np.int64)
            means = (
                evaluator.aggregate(measure, each[rows]) if len(rows) else math.nan
                for each in columns
            )
            result.groups[group][quantity] = Value(*means)
            result.counted[group][quantity] = len(rows)
        if per_query:
            for name, *pair in zip(names, *(each.tolist() for each in columns), strict=True):
                result.queries.setdefault(name, {})[quantity] = Value(*pair)
    return result


def score_table(
    convention: Convention,
    qrels: Segments,
    lists: Mapping[str, Segments],
    groups: Groups,
) -> Scored:
    def table(queries: Sequence[str] | None) -> Values:
        truth, run = qrels, lists
        if queries is not None:
            truth = select_queries(qrels, queries)
            run = {task: select_queries(segments, queries) for task, segments in lists.items()}
        cells = convention.table_of(truth, run)
        return {_describe(convention, name): Value(value) for name, value in cells.items()}

    return Scored(table(None), {name: table(queries) for name, queries in groups.items()}, {}, {})


def _describe(convention: Convention, cell: str) -> Quantity:
    is_count = convention.is_count(cell)
    is_ranked = not is_count and not cell.startswith(Judged.NAME)
    return Quantity(cell, is_share=not is_count, is_ranked=is_ranked, is_count=is_count)


class Spread(NamedTuple):
    """The mean over runs and the standard deviation (n - 1); None for a single run."""

    mean: float
    sd: float | None


def spread(values: Sequence[float]) -> Spread:
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
    marks: Marks = frozenset()
    assumed: str = ""
    """The name of the values with other unjudged results, if requested."""

    def size_of(self, group: str, quantity: Quantity | None = None) -> int:
        """Return the number of a group's queries, or of those that a value is over."""
        own = next(iter(self.runs.values())).counted.get(group, {})
        size = own.get(quantity) if quantity else None
        return len(self.groups.get(group, ())) if size is None else size

    def label(self, group: str, quantities: Sequence[Quantity]) -> str:
        """Return a group's name with the number of queries that values are over."""
        sizes = sorted({self.size_of(group, quantity) for quantity in quantities})
        return f"{group} (n={' to '.join(map(str, dict.fromkeys([sizes[0], sizes[-1]])))})"

    @property
    def scopes(self) -> Iterator[tuple[str, str]]:
        """Yield what values are over: a group and a query, of which one or both are empty."""
        yield from (("", query) for query in self.order)
        yield from ((group, "") for group in self.groups)
        yield "", ""

    def systems(self, group: str, query: str) -> list[list[Values]]:
        """Return the values of each system's runs; those of seeds have none of single queries."""
        seeds = [[] for _ in self.seeds] if query else list(self.seeds.values())
        return [
            [self.runs[name].of(group, query) for name in names]
            for names in [*([name] for name in self.shown), *seeds]
        ]


ALL, QUERIES = "all", "queries"


def columns(results: Results, numbers: Numbers, source: Mapping[str, str]) -> Iterator[str]:
    """Yield trec_eval's three columns for one run: measure, query, value."""
    for name, value in source.items():
        yield f"{name}\t{ALL}\t{value}\n"
    for group, query in results.scopes:
        label = encode_id(query) if query else f"group:{group}" if group else ALL
        if group:
            yield f"{QUERIES}\t{label}\t{results.size_of(group)}\n"
        values = results.runs[results.shown[0]].of(group, query)
        for quantity in results.quantities:
            if quantity in values:
                both = [numbers.text(quantity, v) for v in values[quantity] if v is not None]
                yield "\t".join([quantity.name, label, *both]) + "\n"
                n = results.size_of(group, quantity) if group else 0
                if n and n != results.size_of(group):
                    yield f"{QUERIES} of {quantity.name}\t{label}\t{n}\n"


def by_measure(results: Results, numbers: Numbers) -> Iterator[Row]:
    """Yield a row per measure and a column per run: for the terminal."""
    yield ["measure", *results.shown, *results.seeds]
    for group, query in results.scopes:
        systems = results.systems(group, query)
        for quantity in results.quantities:
            if any(quantity in values for runs in systems for values in runs):
                label = results.label(group, [quantity]) if group else encode_id(query)
                cells = _cells(results, label, quantity, systems, numbers)
                yield [f"{quantity.name} {label}".rstrip(), *cells]


def by_run(results: Results, numbers: Numbers) -> Iterator[Row]:
    """Yield a row per run and a column per measure: for papers."""
    names = [*results.shown, *results.seeds]
    first = [QUERIES] if results.groups else []
    yield ["run", *first, *(quantity.name for quantity in results.quantities)]
    for group, query in results.scopes:
        label = results.label(group, results.quantities) if group else encode_id(query)
        systems = results.systems(group, query)
        by_quantity = [
            _cells(results, label, quantity, systems, numbers) for quantity in results.quantities
        ]
        over = [label or ALL] if results.groups else []
        for name, *cells in zip(names, *by_quantity, strict=True):
            yield [name, *over, *cells]


def _cells(
    results: Results,
    label: str,
    quantity: Quantity,
    systems: Sequence[Sequence[Values]],
    numbers: Numbers,
) -> list[Cell]:
    spreads, others = ([_spread(runs, quantity, at) for runs in systems] for at in (0, 1))
    cells = numbers.cells(quantity, [each and each.mean for each in spreads])
    for at, run in enumerate(() if label else results.shown):
        if (run, quantity.name) in results.marks:
            cells[at] = cells[at]._replace(above=MARK)
    return [
        cell._replace(text=f"{cell.text}{_after(quantity, deviation, other, results, numbers)}")
        for cell, deviation, other in zip(cells, spreads, others, strict=True)
    ]


def _spread(runs: Sequence[Values], quantity: Quantity, at: int) -> Spread | None:
    """Return the spread of the values (`at` 0) or the other ones (1); None if a run has none."""
    found = [values[quantity][at] for values in runs if quantity in values]
    listed = [value for value in found if value is not None]
    return spread(listed) if listed and len(listed) == len(runs) else None


def _after(
    quantity: Quantity,
    deviation: Spread | None,
    other: Spread | None,
    results: Results,
    numbers: Numbers,
) -> str:
    """Return what follows a value: the deviation over seeds, and the other value."""
    text = ""
    if deviation and deviation.sd is not None:
        text = f" {PLUS_MINUS} {numbers.text(quantity, deviation.sd)}"
    if other is None:
        return text
    shown = numbers.text(quantity, other.mean)
    return f"{text} to {shown}" if results.assumed == UPPER else f"{text} ({shown})"


def as_csv(results: Results, numbers: Numbers, source: Mapping[str, str]) -> Iterator[Row]:
    """Yield a row per value; `group` and `query` are empty if it is over all queries.

    With groups, `n` is the number of a group's queries that a value is over.
    """
    more = [results.assumed] if results.assumed else []
    n = ["n"] if results.groups else []
    yield ["run", "group", *n, "query", "measure", "value", "sd", *more, *source]
    for name, scored in results.runs.items():
        for group, query in results.scopes:
            for quantity, both in scored.of(group, query).items():
                size = str(results.size_of(group, quantity)) if group else ""
                scope = [group, *(size for _ in n), query]
                value, other = (_text(numbers.plain(quantity, each)) for each in both)
                shown = [quantity.name, value, "", *(other for _ in more)]
                yield [name, *scope, *shown, *source.values()]
    for name, runs in results.seeds.items():
        for quantity in results.runs[runs[0]].total:
            cell = _eachjson(results, runs, quantity, numbers)
            shown = [quantity.name, *map(_text, cell.values())]
            yield [name, "", *([""] * len(n)), "", *shown, *source.values()]


def _text(value: float | None) -> str:
    return "" if value is None else repr(value)


def as_json(results: Results, numbers: Numbers) -> dict[str, Any]:
    """Return every value by run and measure, and groups of seeds' means and deviations."""
    content: dict[str, Any] = {}
    for name, scored in results.runs.items():
        if name == "momentrank":
            raise UsageError(f"{name}: this name is already in use in the JSON; write ./{name}")
        listed: dict[str, Any] = {}
        for group, query in results.scopes:
            values = _object(results, scored.of(group, query), numbers)
            if query and query in scored.queries:
                listed.setdefault("queries", {})[query] = values
            elif group:
                sizes: dict[str, Any] = {"n": results.size_of(group)}
                of_each = {q.name: results.size_of(group, q) for q in scored.groups[group]}
                if set(of_each.values()) - {sizes["n"]}:
                    sizes["counted"] = of_each
                listed.setdefault("groups", {})[group] = {**sizes, **values}
            elif not query:
                content[name] = {**values, **listed}
    for name, runs in results.seeds.items():
        content[name] = {
            quantity.name: _eachjson(results, runs, quantity, numbers)
            for quantity in results.runs[runs[0]].total
        }
    return content


def _object(results: Results, values: Values, numbers: Numbers) -> dict[str, Any]:
    """Return values by measure, and the other ones under their name."""
    shown, others = (
        {q.name: numbers.plain(q, both[at]) for q, both in values.items() if both[at] is not None}
        for at in (0, 1)
    )
    return {**shown, results.assumed: others} if results.assumed else shown


def _eachjson(
    results: Results, runs: Sequence[str], quantity: Quantity, numbers: Numbers
) -> dict[str, float | None]:
    totals = [results.runs[run].total for run in runs]
    mean, sd = spread([values[quantity].value for values in totals])
    other = _spread(totals, quantity, 1)
    more = {results.assumed: numbers.plain(quantity, other and other.mean)}
    return {
        "mean": numbers.plain(quantity, mean),
        "sd": numbers.plain(quantity, sd),
        **(more if results.assumed else {}),
    }
