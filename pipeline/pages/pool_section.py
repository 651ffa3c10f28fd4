"""What the pool brought and what it may have left out: the yield of judging, and leave one out."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from pipeline.campaign import yields
from pipeline.campaign.collection import Collection
from pipeline.campaign.leave_one_out import MEASURE, LeftOut, Pool, leave_one_out
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.pool_steps import AUDIT, CANDIDATES, FIRST, LEARNED, SECOND, name_steps
from pipeline.pages import charts
from pipeline.pages.charts import Words
from pipeline.pages.figures import Figure
from pipeline.pages.html_tables import Cell, Grid, count, decimal, percent, share
from pipeline.pages.scores import SPLITS

STEPS = {
    FIRST: "First batch",
    SECOND: "Second batch",
    LEARNED: "Learned batches",
    AUDIT: "Audit (apart)",
}
RELEVANT = f"Level {yields.RELEVANT_FROM} or higher"
YIELD_HEAD = ("Step", "Pairs", "Judgments", "Mean level", RELEVANT, "Per 100 judgments")
YIELD_NOTE = (
    "Decided pairs, and the levels that people gave them. Only queries with a rich first batch have"
    " a second; a learned batch has what was expected to be relevant; a run brings only what nobody"
    " had judged; an audit draws from what the pool left out: their mean levels can\u2019t be"
    " compared with each other."
)
LEARNED_HEAD = ("Batch", "Queries", "Pairs", "Expected level", "Mean level", RELEVANT, "Share")
LEARNED_NOTE = (
    "After the first batch, the levels that people had given chose the next moments. Expected and"
    " mean level should be near each other; a query stops when little is expected."
)
LATE_HEAD = ("Run", "First results", "Judged before its top-up", "Judged now")
LATE_NOTE = "Of a query\u2019s first results, the share that has a level, on average over queries."
OUT_HEAD = ("Run", "Found", "Alone", "Share", "Score", "Score without", "Place", "Place without",
            "\u03c4", "Largest fall")  # fmt: skip


def decided_pairs(collection: Collection, batch: int) -> pd.DataFrame:
    """Return the decided pairs that anyone judged as `yields.PAIRS`."""
    pairs = collection.pairs.assign(judgments=collection.pairs["scores"].fillna(0).astype("int64"))
    pairs = pairs[(pairs["outcome"] != "waiting") & (pairs["judgments"] > 0)]
    return pairs.assign(step=name_steps(pairs, batch))


def yield_grid(pairs: pd.DataFrame, collection: Collection) -> Grid:
    """Return what each step found, for its judgments; then the pool of each stratum, if several."""
    rows = _yield_rows(pairs, {})
    for name in collection.strata:
        own = pairs["query_id"].isin(collection.select(name).frozen["query_id"])
        pool = pairs[own & (pairs["step"] != AUDIT)].assign(step=name)
        rows += _yield_rows(pool, {name: f"Pool of stratum {name}"})
    return Grid("Yield", YIELD_HEAD, rows, YIELD_NOTE)


def _yield_rows(pairs: pd.DataFrame, titles: Mapping[str, str]) -> list[tuple[Cell, ...]]:
    return [
        (
            {**STEPS, **titles}.get(row["step"], f"Found by {row['step']}"),
            count(row["pairs"]),
            count(row["judgments"]),
            decimal(row["mean"]),
            count(row["relevant"]),
            decimal(100 * row["per_judgment"], 1),
        )
        for row in yields.by_step(pairs).to_dict("records")
    ]


def learned_grids(collection: Collection) -> list[Grid]:
    """Return what was expected of each learned batch, and what people found; none without any."""
    levels = collection.judged[[*PAIR_KEY, "level"]]
    judged = collection.learned.merge(levels, on=PAIR_KEY)
    judged["relevant"] = judged["level"] >= yields.RELEVANT_FROM
    rows = [
        (
            str(batch),
            count(rows["query_id"].nunique()),
            count(len(rows)),
            decimal(rows["expected"].mean()),
            decimal(rows["level"].mean()),
            count(rows["relevant"].sum()),
            percent(rows["relevant"].mean()),
        )
        for batch, rows in judged.groupby("batch")
    ]
    return [Grid("Learned batches", LEARNED_HEAD, rows, LEARNED_NOTE)] if rows else []


def late_grids(late: Sequence[Mapping[str, Any]]) -> list[Grid]:
    """Return how far the first results of each late run are judged; none without a top-up."""
    rows = [
        (row["run"], count(row["depth"]), percent(row["before"]), percent(row["now"]))
        for row in late
    ]
    return [Grid("Late runs", LATE_HEAD, rows, LATE_NOTE)] if rows else []


def yield_figure(pairs: pd.DataFrame) -> Figure:
    """Return relevant moments against judgments, step by step."""
    title, table = "Yield of judging", yields.curve(pairs)
    caption = (
        f"Moments of level {yields.RELEVANT_FROM} or higher by judgments made: {yields.RANKS} ranks"
        " of candidates to a point, first batch and second, then the runs of top-ups. Where"
        " the line is flat, more of the same would bring little."
    )
    rows = [
        (f"{STEPS.get(row['step'], row['step'])} {row['ranks']}".strip(), count(row["judgments"]),
         count(row["relevant"]), decimal(100 * row["per_judgment"], 1))
        for row in table.to_dict("records")
    ]  # fmt: skip
    head = ("Up to", "Judgments", RELEVANT, "Per 100 judgments, here")
    numbers = Grid(title, head, rows)
    if table.empty:
        return Figure("yield", title, caption, None, numbers, table)
    last = table.iloc[-1]
    description = (
        f"A line of {len(table)} points, up to {last['relevant']:,} moments for"
        f" {last['judgments']:,} judgments."
    )
    words = Words("yield", title, description)
    named = table.rename(columns={"relevant": "relevant moments"})
    chart = charts.curve(words, named, "judgments", "relevant moments")
    return Figure("yield", title, caption, chart, numbers, table)


def describe_prospects(state: Mapping[str, Any]) -> list[str]:
    """Return what the next batch of the open queries would bring; nothing in a closed campaign."""
    sentences = map(yields.describe_prospect, state.get("prospects", []))
    return [f"{text[:1].upper()}{text[1:]}." for text in sentences]


def strata_grids(collection: Collection) -> list[Grid]:
    """Return learned batches and leave one out by stratum; none if there is only one."""
    learned: list[tuple[Cell, ...]] = []
    left_out: list[tuple[Cell, ...]] = []
    for name in collection.strata:
        part = collection.select(name)
        learned += [(name, *row) for grid in learned_grids(part) for row in grid.rows]
        left_out += [(name, *row) for row in leave_one_out_grid(leave_one_out(part)).rows]
    tables = (
        ("Learned batches by stratum", LEARNED_HEAD, learned),
        ("Leave one out by stratum", OUT_HEAD, left_out),
    )
    return [Grid(title, ("Stratum", *head), rows) for title, head, rows in tables if rows]


def leave_one_out_grid(pool: Pool | None) -> Grid:
    """Return what each run added to the pool, and what changes without its own finds."""
    if pool is None:
        return Grid("Leave one out", OUT_HEAD, [])
    rows = [
        (
            name_run(run.run),
            count(run.found),
            count(run.alone),
            percent(share(run.alone, pool.relevant)),
            *(decimal(score, 3) for score in (run.score, run.score_without)),
            *(count(place) for place in (run.place, run.place_without)),
            decimal(run.tau),
            _describe_fall(run),
        )
        for run in pool.runs
    ]
    note = (
        f"{SPLITS[pool.split].capitalize()}, {pool.queries:,} queries. Found, alone: moments of"
        f" level {yields.RELEVANT_FROM} or higher that the run found, and that it alone found, also"
        f" as a share of all {pool.relevant:,}. Score and place among these runs ({MEASURE}), then"
        " the same if nobody had judged what it alone found; \u03c4 (Kendall) compares both orders"
        " (Zobel 1998; Buckley et al. 2007)."
    )
    return Grid("Leave one out", OUT_HEAD, rows, note)


def name_run(run: str) -> str:
    """Return a pooled run's name for people."""
    return "Caption similarity (the candidates)" if run == CANDIDATES else run


def _describe_fall(run: LeftOut) -> str:
    if run.fall is None:
        return "not recorded"
    if run.fallen is None:
        return "none"
    return f"{run.fall} place{'' if run.fall == 1 else 's'}: {name_run(run.fallen)}"
