"""A run's values, and the outputs of `evaluate`: three columns, a table of runs, CSV and JSON."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
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

Values = dict[Quantity, float]
Marks = AbstractSet[tuple[str, str]]
"""Runs, each with a quantity whose value is marked."""
MARK = "\u2020"


class Scored(NamedTuple):
    """A run's values; those of groups and queries on request."""

    total: Values
    groups: dict[str, Values]
    queries: dict[str, Values]
    per_query: PerQuery
    assumed: "Scored | None" = None
    """With other values for unjudged results, if requested."""
    counted: Mapping[str, Mapping[Quantity, int]] = MappingProxyType({})
    """How many of a group's queries each mean is over; a benchmark's own table does not say."""


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
    each = evaluator.per_query_of_each(lists, [None, find] if find else [None])
    scored, *assumed = [_collect(evaluator, values, groups, per_query=per_query) for values in each]
    return scored._replace(assumed=assumed[0]) if assumed else scored


def _collect(evaluator: Evaluator, each: PerQuery, groups: Groups, *, per_query: bool) -> Scored:
    counted: dict[str, dict[Quantity, int]] = {name: {} for name in groups}
    scored = Scored({}, {name: {} for name in groups}, {}, each, counted=counted)
    for measure, (names, values) in scored.per_query.items():
        quantity = describe(measure)
        scored.total[quantity] = evaluator.aggregate(measure, values)
        row_of = {name: row for row, name in enumerate(names)} if groups else {}
        for group, queries in groups.items():
            rows = np.array([row_of[name] for name in queries if name in row_of], dtype=np.int64)
            mean = evaluator.aggregate(measure, values[rows]) if len(rows) else float("nan")
            scored.groups[group][quantity], counted[group][quantity] = mean, len(rows)
        if per_query:
            for name, value in zip(names, values.tolist(), strict=True):
                scored.queries.setdefault(name, {})[quantity] = value
    in_order = [name for name in evaluator.queries if name in scored.queries]
    return scored._replace(queries={name: scored.queries[name] for name in in_order})


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
        return {_describe(convention, name): value for name, value in cells.items()}

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


NOTHING = Scored({}, {}, {}, {})


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
    def others(self) -> Mapping[str, Scored]:
        """Return each run with other values for unjudged results."""
        return {name: run.assumed or NOTHING for name, run in self.runs.items()}


ALL, QUERIES = "all", "queries"


def columns(results: Results, numbers: Numbers, source: Mapping[str, str]) -> Iterator[str]:
    """Yield trec_eval's three columns for one run: measure, query, value."""
    scored, other = (runs[results.shown[0]] for runs in (results.runs, results.others))
    for name, value in source.items():
        yield f"{name}\t{ALL}\t{value}\n"
    for group, query, values, more in _each_scope(scored, other):
        label = encode_id(query) if query else f"group:{group}" if group else ALL
        if group and not query:
            yield f"{QUERIES}\t{label}\t{results.size_of(group)}\n"
        for quantity in results.quantities:
            if quantity in values:
                both = [
                    numbers.text(quantity, of[quantity]) for of in (values, more) if quantity in of
                ]
                yield "\t".join([quantity.name, label, *both]) + "\n"
                n = results.size_of(group, quantity) if group else 0
                if n and n != results.size_of(group):
                    yield f"{QUERIES} of {quantity.name}\t{label}\t{n}\n"


def _each_scope(scored: Scored, other: Scored) -> Iterator[tuple[str, str, Values, Values]]:
    """Yield the values of each query, each group and all: group, query, values, other values."""
    for query, values in scored.queries.items():
        yield "", query, values, other.queries.get(query, {})
    for group, values in scored.groups.items():
        yield group, "", values, other.groups.get(group, {})
    yield "", "", scored.total, other.total


def by_measure(results: Results, numbers: Numbers) -> Iterator[Row]:
    """Yield a row per measure and a column per run: for the terminal."""
    yield ["measure", *results.shown, *results.seeds]
    for query, group, systems, others in _by_query_and_group(results):
        for quantity in results.quantities:
            if any(quantity in values for runs in systems for values in runs):
                label = results.label(group, [quantity]) if group else query
                cells = _cells(results, label, quantity, (systems, others), numbers)
                yield [f"{quantity.name} {label}".rstrip(), *cells]


def by_run(results: Results, numbers: Numbers) -> Iterator[Row]:
    """Yield a row per run and a column per measure: for papers."""
    names = [*results.shown, *results.seeds]
    first = [QUERIES] if results.groups else []
    yield ["run", *first, *(quantity.name for quantity in results.quantities)]
    for query, group, *systems in _by_query_and_group(results):
        label = results.label(group, results.quantities) if group else query
        by_quantity = [
            _cells(results, label, quantity, systems, numbers) for quantity in results.quantities
        ]
        over = [label or ALL] if results.groups else []
        for name, *cells in zip(names, *by_quantity, strict=True):
            yield [name, *over, *cells]


Systems = list[list[Values]]
"""The values of each system's runs."""


def _by_query_and_group(results: Results) -> Iterator[tuple[str, str, Systems, Systems]]:
    """Yield the values, and other values, of each query, each group and all: id, group, values."""
    names = [[name] for name in results.shown] + list(results.seeds.values())

    def pick(find: Callable[[Scored], Values]) -> tuple[Systems, Systems]:
        value, other = ([[find(runs[name]) for name in each] for each in names]
                        for runs in (results.runs, results.others))  # fmt: skip
        return value, other

    for query in results.order:
        systems = pick(partial(_of_query, query))
        for system in systems:
            system[len(results.shown) :] = [[] for _ in results.seeds]
        yield encode_id(query), "", *systems
    for group in results.groups:
        yield "", group, *pick(partial(_of_group, group))
    yield "", "", *pick(lambda run: run.total)


def _of_query(query: str, run: Scored) -> Values:
    return run.queries.get(query, {})


def _of_group(group: str, run: Scored) -> Values:
    return run.groups.get(group, {})


def _cells(
    results: Results,
    label: str,
    quantity: Quantity,
    systems: Sequence[Systems],
    numbers: Numbers,
) -> list[Cell]:
    spreads, others = (
        [
            spread([values[quantity] for values in runs])
            if runs and all(quantity in values for values in runs)
            else None
            for runs in each
        ]
        for each in systems
    )
    cells = numbers.cells(quantity, [each and each.mean for each in spreads])
    for at, run in enumerate(() if label else results.shown):
        if (run, quantity.name) in results.marks:
            cells[at] = cells[at]._replace(above=MARK)
    return [
        cell._replace(text=f"{cell.text}{_after(quantity, deviation, other, results, numbers)}")
        for cell, deviation, other in zip(cells, spreads, others, strict=True)
    ]


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
        for group, query, values, others in _each_scope(scored, scored.assumed or NOTHING):
            for quantity, value in values.items():
                size = str(results.size_of(group, quantity)) if group else ""
                scope = [group, *(size for _ in n), query]
                shown = [quantity.name, _text(numbers.plain(quantity, value)), ""]
                other = numbers.plain(quantity, others.get(quantity, math.nan))
                yield [name, *scope, *shown, *(_text(other) for _ in more), *source.values()]
    for name, runs in results.seeds.items():
        for quantity in results.runs[runs[0]].total:
            cell = _eachjson(results, runs, quantity, numbers)
            shown = [quantity.name, *map(_text, cell.values())]
            yield [name, "", *([""] * len(n)), "", *shown, *source.values()]


def _text(value: float | None) -> str:
    return "" if value is None else repr(value)


def as_json(results: Results, numbers: Numbers, source: Mapping[str, str]) -> dict[str, Any]:
    """Return every value by run and measure, and groups of seeds' means and deviations."""
    content: dict[str, Any] = {"momentrank": dict(source)}
    for name, scored in results.runs.items():
        if name in content:
            raise UsageError(f"{name}: this name is already in use in the JSON; write ./{name}")
        listed: dict[str, Any] = {}
        other = scored.assumed or NOTHING
        for group, query, *both in _each_scope(scored, other):
            values = _object(results, both, numbers)
            if query:
                listed.setdefault("queries", {})[query] = values
            elif group:
                sizes: dict[str, Any] = {"n": results.size_of(group)}
                of_each = {q.name: results.size_of(group, q) for q in scored.groups[group]}
                if set(of_each.values()) - {sizes["n"]}:
                    sizes["counted"] = of_each
                listed.setdefault("groups", {})[group] = {**sizes, **values}
            else:
                content[name] = {**values, **listed}
    for name, runs in results.seeds.items():
        content[name] = {
            quantity.name: _eachjson(results, runs, quantity, numbers)
            for quantity in results.runs[runs[0]].total
        }
    return content


def _object(results: Results, both: Sequence[Values], numbers: Numbers) -> dict[str, Any]:
    """Return values by measure, and the other ones under their name."""
    values, others = (
        {quantity.name: numbers.plain(quantity, value) for quantity, value in of.items()}
        for of in both
    )
    return {**values, results.assumed: others} if results.assumed else values


def _eachjson(
    results: Results, runs: Sequence[str], quantity: Quantity, numbers: Numbers
) -> dict[str, float | None]:
    mean, sd = spread([results.runs[run].total[quantity] for run in runs])
    others = [results.others[run].total.get(quantity, math.nan) for run in runs]
    more = {results.assumed: numbers.plain(quantity, spread(others).mean)}
    return {
        "mean": numbers.plain(quantity, mean),
        "sd": None if sd is None else numbers.plain(quantity, sd),
        **(more if results.assumed else {}),
    }
