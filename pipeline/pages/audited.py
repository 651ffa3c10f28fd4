"""Levels by rank beyond the pool, as an audit finds them (paper, Figure 4b).

The audited queries alone, each pair a point: the judged pool, and what the audit drew from outside
it. The mean level of a range of ranks weights a drawn pair by the number that it stands for.
"""

import math
from itertools import pairwise

import numpy as np
import pandas as pd

from momentrank.paired_tests import t_quantile
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.pool_steps import AUDIT
from pipeline.pages.charts import Words, levels_by_rank
from pipeline.pages.figures import Figure
from pipeline.pages.html_tables import Grid, count, decimal
from pipeline.pages.report_inputs import Sources

EDGES = (10, 20, 40, 60, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
"""Where a range of ranks ends, besides the last rank of the candidates."""
LEVEL = 0.95
TOP = 4
MEANS = ["low", "high", "pairs", "queries", "mean", "mean_low", "mean_high"]
STEPS = 12
"""Points for each tenfold of the rank: pairs between them share one."""
NAME, TITLE = "figure-4b-beyond", "Figure 4b. Relevance by rank, beyond the pool"


def audited_levels(judged: pd.DataFrame, drawn: pd.DataFrame) -> pd.DataFrame:
    """Return the levels of the audited queries' pairs: `query_id, rank, level, weight`.

    A pair of the pool stands for itself, whatever brought it there. The `drawn` pairs (`Audit`) of
    a stratum of a query share the size of the stratum; one that a run has found since, or a second
    batch, is in the pool instead.
    """
    levels = judged[judged["query_id"].isin(drawn["query_id"])].merge(
        drawn, on=PAIR_KEY, how="left"
    )
    groups = levels.groupby(["query_id", "stratum"])["level"]
    outside = levels["taken"].isin([False]) & (levels["origin"] == AUDIT)
    weight = (levels["size"] / groups.transform("size")).where(outside, 1.0)
    return levels[["query_id", "rank", "level"]].assign(weight=weight.astype("float64"))


def mean_by_rank(levels: pd.DataFrame, top: int) -> pd.DataFrame:
    """Return the mean level of each range of ranks, with a 95 % interval over queries (`MEANS`).

    No range crosses `top`, the last rank of the candidates. The mean is a ratio of weighted sums
    over queries; its interval is Student's, by linearisation, and missing for one query.
    """
    edges = sorted({0, *EDGES, top, int(levels["rank"].max())})
    rows = []
    for last, high in pairwise(edges):
        low, part = last + 1, levels[levels["rank"].between(last + 1, high)]
        if part.empty:
            continue
        sums = part.assign(product=part["level"] * part["weight"]).groupby("query_id")
        mean, half = _ratio(sums["product"].sum(), sums["weight"].sum())
        bounds = max(mean - half, 0.0), min(mean + half, float(TOP))
        rows.append((low, high, len(part), len(sums), mean, *bounds))
    return pd.DataFrame(rows, columns=MEANS).round(6)


def _ratio(values: pd.Series, weights: pd.Series) -> tuple[float, float]:
    """Return the ratio of two sums over queries, and half of its 95 % interval."""
    queries, mean = len(values), float(values.sum() / weights.sum())
    if queries == 1:
        return mean, float("nan")
    rest = (values - mean * weights) / weights.mean()
    return mean, t_quantile(LEVEL, queries - 1) * float(rest.std(ddof=1)) / math.sqrt(queries)


def draw_audited(sources: Sources) -> list[Figure]:
    """Return the figure; none without a judged audit pair."""
    audit, judged = sources.collection.audit, sources.collection.judged
    if audit is None or audit.pairs.merge(judged[PAIR_KEY], on=PAIR_KEY).empty:
        return []
    levels = audited_levels(judged, audit.pairs)
    means = mean_by_rank(levels, sources.deepest)
    queries = levels["query_id"].nunique()
    missed = sources.metrics["calibration"].get("missed") or {}
    left = f" Not final: {missed['left']}." if missed.get("left") else ""
    caption = (
        f"The pairs of {queries:,} audited queries by rank and level: the judged pool, and what the"
        " audit drew at random from outside it, among the neighbours and beyond. A larger point is"
        " more pairs. The line is the mean level, in which a drawn pair counts for all that it"
        f" stands for, with 95 % intervals over the queries.{left}"
    )
    last = means.iloc[-1]
    description = (
        f"Points, and a line over {len(means)} ranges of ranks. The mean level is"
        f" {means['mean'].iloc[0]:.2f} at ranks 1 to {means['high'].iloc[0]:,} and"
        f" {last['mean']:.2f} at ranks {last['low']:,.0f} to {last['high']:,.0f}."
    )
    chart = levels_by_rank(Words(NAME, TITLE, description), _points(levels), means)
    return [Figure(NAME, TITLE, caption, chart, _numbers(means), means)]


def _points(levels: pd.DataFrame) -> pd.DataFrame:
    """Return `rank, level, pairs`, with ranks rounded on the logarithmic scale."""
    step = np.round(np.log10(levels["rank"]) * STEPS) / STEPS
    sizes = levels.groupby([step.rename("rank"), "level"]).size()
    points = sizes.rename("pairs").reset_index()
    return points.assign(rank=10 ** points["rank"])


def _numbers(means: pd.DataFrame) -> Grid:
    rows = [
        (f"{row['low']:,.0f}\u2013{row['high']:,.0f}", count(row["pairs"]), count(row["queries"]),
         *(decimal(row[name]) for name in ("mean", "mean_low", "mean_high")))
        for row in means.to_dict("records")
    ]  # fmt: skip
    return Grid(TITLE, ("Ranks", "Pairs", "Queries", "Mean level", "from", "to"), rows)
