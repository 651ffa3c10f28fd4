"""The paper's Figures 4, 5 and 6 as charts, and lengths; each with its numbers as a table."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from markupsafe import Markup

from pipeline.core.tables import LEVELS
from pipeline.pages import charts
from pipeline.pages.charts import Words
from pipeline.pages.html_tables import Grid, count, decimal, percent
from pipeline.pages.relevance import LEVEL_COLUMNS, Example
from pipeline.pages.report_inputs import Metrics

LEVEL_HEADS = [f"level {level}" for level in LEVELS]

HISTOGRAMS = {
    "relevant_per_query": ("Relevant moments per query", "relevant moments", "Queries",
        "Queries by number of candidates of level 1 or higher."),
    "query_words": ("Lengths of queries", "words", "Queries",
        "Validation and test queries by number of words."),
    "moment_seconds": ("Lengths of moments", "seconds", "Moments",
        "Moments of the pool by length in seconds, rounded down."),
}  # fmt: skip
"""By the table's name: title, names of both axes, and caption."""


class Figure(NamedTuple):
    """A chart with its caption, data and numbers; `legend` if the bars show levels.

    `line` is what a line over the bars shows; `quoted` is a text from the corpus, to be quoted.
    """

    name: str
    title: str
    caption: str
    chart: Markup | None
    numbers: Grid
    data: pd.DataFrame
    legend: bool = False
    line: str = "mean level"
    quoted: str = ""


def draw_figures(
    tables: Mapping[str, pd.DataFrame], agreement: Metrics, examples: Sequence[Example]
) -> list[Figure]:
    """Return the figures in the order of the page; one without data has no chart."""
    return [
        _by_similarity("figure-4a", "", tables["relevance_by_similarity"], "the first batch"),
        by_rank(tables["relevance_by_rank"]),
        *_otherwise(tables),
        _min_max(agreement["min_max"]),
        _final_levels(agreement["final_levels"]),
        *_examples(examples),
        *(histogram(name, tables[name]) for name in HISTOGRAMS),
    ]


def by_rank(table: pd.DataFrame) -> Figure:
    """Return the levels of each rank (the paper's Figure 4b) as a chart."""
    return _relevance(
        "figure-4b",
        "Figure 4b. Relevance by rank",
        table,
        "rank",
        "{:.0f}",
        "Shares of levels at each rank of the first batch, and their mean level (line). At rank 1"
        " is mostly the moment that the query was made from.",
    )


def _otherwise(tables: Mapping[str, pd.DataFrame]) -> list[Figure]:
    """Return the figures of what came otherwise than with the first batch, if there is any."""
    similar, second = (
        tables[f"relevance_by_{name}"] for name in ("similarity_otherwise", "rank_second")
    )
    figures = [
        _by_similarity(
            "figure-4a-otherwise", ", judged otherwise", similar,
            "the pairs of second batches, runs and an audit, which were chosen in other ways",
        ),
        _relevance(
            "figure-4b-second",
            "Figure 4b. Relevance by rank, second batch",
            second,
            "rank",
            "{:.0f}",
            "The same for the second batch. Only queries with a rich first batch have one: their"
            " levels are higher than all queries\u2019 would be, and don\u2019t continue the line.",
        ),
    ]  # fmt: skip
    return [figure for figure in figures if figure.chart is not None]


def _by_similarity(name: str, more: str, table: pd.DataFrame, which: str) -> Figure:
    caption = (
        f"Shares of levels by similarity of query and caption among {which}, in steps of 0.05 from"
        " the value shown; at 1.00, the caption has the query\u2019s own words."
    )
    title = f"Figure 4a. Relevance by similarity{more}"
    return _relevance(name, title, table, "similarity", "{:.2f}", caption)


def _examples(examples: Sequence[Example]) -> list[Figure]:
    kinds = ("few", "many") if len(examples) > 1 else ("some",)
    return [
        _example(
            f"figure-6{letter}", f"Figure 6{letter}. A query with {kind} relevant moments", example
        )
        for letter, kind, example in zip("ab", kinds, examples, strict=False)
    ]


def _example(name: str, title: str, example: Example) -> Figure:
    table = example.candidates
    rows = [
        (count(row["rank"]), count(row["level"]), decimal(row["similarity"], 3))
        for row in table.to_dict("records")
    ]
    numbers = Grid(title, ("Rank", "Level", "Similarity"), rows)
    caption = "The level of each candidate (bars) and its similarity to the query (line), by rank."
    description = (
        f"Bars of {len(table)} candidates by rank, and a line of their similarity to the query."
    )
    chart = charts.levels_and_similarity(Words(name, title, description), table)
    return Figure(
        name, title, caption, chart, numbers, table, legend=True, line="similarity",
        quoted=example.query,
    )  # fmt: skip


def _relevance(  # noqa: PLR0913, PLR0917  (what is written around one chart)
    name: str, title: str, table: pd.DataFrame, x: str, form: str, caption: str
) -> Figure:
    rows = [
        (form.format(row[x]), count(row["pairs"]), decimal(row["mean"]),
         *(percent(row[level], 0) for level in LEVEL_COLUMNS))
        for row in table.to_dict("records")
    ]  # fmt: skip
    numbers = Grid(title, (x.capitalize(), "Pairs", "Mean level", *LEVEL_HEADS), rows)
    if table.empty:
        return Figure(name, title, caption, None, numbers, table)
    low, high = table.iloc[0], table.iloc[-1]
    description = (
        f"Stacked bars over {len(table)} values of {x}. The mean level is {low['mean']:.2f} at"
        f" {form.format(low[x])} and {high['mean']:.2f} at {form.format(high[x])}."
    )
    chart = charts.bars_by_level(Words(name, title, description), table, LEVEL_COLUMNS, x, form)
    return Figure(name, title, caption, chart, numbers, table, legend=True)


def _min_max(rows: list[dict[str, int]]) -> Figure:
    name, title = "figure-5a", "Figure 5a. Lowest and highest level of a pair"
    data = pd.DataFrame(rows, columns=["min", "max", "pairs"])
    cells = [(row["min"], row["max"], row["pairs"]) for row in rows]
    total = sum(number for *_, number in cells)
    shown = [(f"{low} to {high}", count(number)) for low, high, number in cells if number]
    numbers = Grid(title, ("Levels", "Pairs"), shown)
    caption = "Pairs with two or more votes. The diagonal is full agreement."
    if not total:
        return Figure(name, title, caption, None, numbers, data)
    same = sum(number for low, high, number in cells if low == high)
    description = (
        f"A triangle of counts. Of {total:,} pairs {same:,} have the same level from everyone."
    )
    chart = charts.matrix(Words(name, title, description), cells, len(LEVELS))
    return Figure(name, title, caption, chart, numbers, data)


def _final_levels(rows: list[dict[str, int]]) -> Figure:
    name, title = "figure-5b", "Figure 5b. Final levels"
    numbers = Grid(
        title, ("Level", "Pairs"), [(str(row["level"]), count(row["pairs"])) for row in rows]
    )
    caption = "Pairs by consensus level."
    data = pd.DataFrame(rows, columns=["level", "pairs"])
    values = [row["pairs"] for row in rows]
    if not sum(values):
        return Figure(name, title, caption, None, numbers, data)
    description = ", ".join(f"level {row['level']}: {row['pairs']:,} pairs" for row in rows) + "."
    labels = [str(row["level"]) for row in rows]
    chart = charts.bars(Words(name, title, description), labels, values, "level", "Pairs")
    return Figure(name, title, caption, chart, numbers, data)


def histogram(name: str, table: pd.DataFrame) -> Figure:
    """Return one of `HISTOGRAMS` (columns `low, high, number`) as a chart."""
    title, x, y, caption = HISTOGRAMS[name]
    name = name.replace("_", "-")
    rows = list(table.itertuples(index=False, name=None))
    labels = [str(low) if high == low + 1 else f"{low}\u2013{high - 1}" for low, high, _ in rows]
    shown = [(label, count(row[2])) for label, row in zip(labels, rows, strict=True)]
    numbers = Grid(title, (x.capitalize(), y), shown)
    if not rows:
        return Figure(name, title, caption, None, numbers, table)
    most = max(range(len(rows)), key=lambda row: int(rows[row][2]))
    description = (
        f"{len(rows)} bars; the highest is {rows[most][2]:,} {y.lower()} at {labels[most]} {x}."
    )
    chart = charts.bars(Words(name, title, description), labels, table["number"].tolist(), x, y)
    return Figure(name, title, caption, chart, numbers, table)
