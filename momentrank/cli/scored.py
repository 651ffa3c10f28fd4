"""A run's values, and the outputs of `evaluate`: three columns, a table of runs, CSV and JSON."""

import math
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
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


def score(
    evaluator: Evaluator, lists: Mapping[str, Segments], groups: Groups, *, per_query: bool
) -> Scored:
    """Score a run by measures; a group's values are over those of its queries that count."""
    scored = Scored({}, {name: {} for name in groups}, {}, evaluator.per_query(lists))
    for measure, (names, values) in scored.per_query.items():
        quantity = describe(measure)
        scored.total[quantity] = evaluator.aggregate(measure, values)
        row_of = {name: row for row, name in enumerate(names)} if groups else {}
        for group, queries in groups.items():
            rows = np.array([row_of[name] for name in queries if name in row_of], dtype=np.int64)
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


ALL = "all"


def columns(results: Results, numbers: Numbers, source: Mapping[str, str]) -> Iterator[str]:
    """Yield trec_eval's three columns for one run: measure, query, value."""
    scored = results.runs[results.shown[0]]
    for name, value in source.items():
        yield f"{name}\t{ALL}\t{value}\n"
    rows = [(encode_id(query), values) for query, values in scored.queries.items()]
    rows += [(f"group:{name}", values) for name, values in scored.groups.items()]
    for label, values in [*rows, (ALL, scored.total)]:
        for quantity in results.quantities:
            if quantity in values:
                yield f"{quantity.name}\t{label}\t{numbers.text(quantity, values[quantity])}\n"


def by_measure(results: Results, numbers: Numbers) -> Iterator[Row]:
    """Yield a row per measure and a column per run: for the terminal."""
    yield ["measure", *results.shown, *results.seeds]
    for label, systems in _by_query_and_group(results):
        for quantity in results.quantities:
            if any(quantity in values for runs in systems for values in runs):
                cells = _cells(results, label, quantity, systems, numbers)
                yield [f"{quantity.name} {label}".rstrip(), *cells]


def by_run(results: Results, numbers: Numbers) -> Iterator[Row]:
    """Yield a row per run and a column per measure: for papers."""
    names = [*results.shown, *results.seeds]
    first = ["queries"] if results.groups else []
    yield ["run", *first, *(quantity.name for quantity in results.quantities)]
    for label, systems in _by_query_and_group(results):
        by_quantity = [
            _cells(results, label, quantity, systems, numbers) for quantity in results.quantities
        ]
        group = [label or ALL] if results.groups else []
        for name, *cells in zip(names, *by_quantity, strict=True):
            yield [name, *group, *cells]


def _by_query_and_group(results: Results) -> Iterator[tuple[str, list[list[Values]]]]:
    """Yield each query, each group and all queries, with the values of each system's runs."""
    shown = [[results.runs[name]] for name in results.shown]
    systems = shown + [[results.runs[name] for name in names] for names in results.seeds.values()]
    for query in results.order:
        of_runs = [[run.queries.get(query, {}) for run in runs] for runs in shown]
        yield encode_id(query), of_runs + [[] for _ in results.seeds]
    for group, queries in results.groups.items():
        label = f"{group} (n={len(queries)})"
        yield label, [[run.groups[group] for run in runs] for runs in systems]
    yield "", [[run.total for run in runs] for runs in systems]


def _cells(
    results: Results,
    label: str,
    quantity: Quantity,
    systems: Sequence[list[Values]],
    numbers: Numbers,
) -> list[Cell]:
    spreads = [
        spread([values[quantity] for values in runs])
        if runs and all(quantity in values for values in runs)
        else None
        for runs in systems
    ]
    cells = numbers.cells(quantity, [each and each.mean for each in spreads])
    for at, run in enumerate(() if label else results.shown):
        if (run, quantity.name) in results.marks:
            cells[at] = cells[at]._replace(above=MARK)
    return [
        cell._replace(text=f"{cell.text} {PLUS_MINUS} {numbers.text(quantity, deviation.sd)}")
        if deviation and deviation.sd is not None
        else cell
        for cell, deviation in zip(cells, spreads, strict=True)
    ]


def as_csv(results: Results, numbers: Numbers, source: Mapping[str, str]) -> Iterator[Row]:
    """Yield a row per value; `group` and `query` are empty if it is over all queries."""
    yield ["run", "group", "query", "measure", "value", "sd", *source]
    for name, scored in results.runs.items():
        rows = [("", query, values) for query, values in scored.queries.items()]
        rows += [(group, "", values) for group, values in scored.groups.items()]
        for group, query, values in [*rows, ("", "", scored.total)]:
            for quantity, value in values.items():
                shown = [quantity.name, _text(numbers.plain(quantity, value)), ""]
                yield [name, group, query, *shown, *source.values()]
    for name, runs in results.seeds.items():
        for quantity in results.runs[runs[0]].total:
            cell = _eachjson(results, runs, quantity, numbers)
            shown = [quantity.name, *map(_text, cell.values())]
            yield [name, "", "", *shown, *source.values()]


def _text(value: float | None) -> str:
    return "" if value is None else repr(value)


def as_json(results: Results, numbers: Numbers, source: Mapping[str, str]) -> dict[str, Any]:
    """Return every value by run and measure, and groups of seeds' means and deviations."""
    content: dict[str, Any] = {"momentrank": dict(source)}
    for name, scored in results.runs.items():
        if name in content:
            raise UsageError(f"{name}: this name is already in use in the JSON; write ./{name}")
        content[name] = _object(scored.total, numbers)
        if scored.groups:
            content[name]["groups"] = {
                group: {"n": len(results.groups[group]), **_object(values, numbers)}
                for group, values in scored.groups.items()
            }
        if scored.queries:
            content[name]["queries"] = {
                query: _object(values, numbers) for query, values in scored.queries.items()
            }
    for name, runs in results.seeds.items():
        content[name] = {
            quantity.name: _eachjson(results, runs, quantity, numbers)
            for quantity in results.runs[runs[0]].total
        }
    return content


def _object(values: Values, numbers: Numbers) -> dict[str, Any]:
    return {quantity.name: numbers.plain(quantity, value) for quantity, value in values.items()}


def _eachjson(
    results: Results, runs: Sequence[str], quantity: Quantity, numbers: Numbers
) -> dict[str, float | None]:
    mean, sd = spread([results.runs[run].total[quantity] for run in runs])
    return {
        "mean": numbers.plain(quantity, mean),
        "sd": None if sd is None else numbers.plain(quantity, sd),
    }
