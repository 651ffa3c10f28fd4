"""The yield of judging: relevant moments per judgment, by what brought the pairs into the pool.

A moment counts from level 2 on. The pairs (`PAIRS`) are those that are decided, and the judgments
are the levels that people gave them.

**What the next batch would bring.** Queries are judged in an order that does not depend on them, so
those whose batch is done stand for those whose batch is open: each open one brings as much as they
did on average. The 95 % interval is Student's for the sum of new observations. A few queries can
miss the rich ones, so their spread is taken with one more query, whose whole batch is relevant.
Resampling the queries (bootstrap) instead covers as little as 55 % at five queries.
`tests/pipeline/pooling/test_yields.py` measures the coverage.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from momentrank.paired_tests import t_quantile
from pipeline.campaign.pool_steps import AUDIT, FIRST, SECOND, order_steps

RELEVANT_FROM = 2
"""The level from which a moment is one that a pool should not miss."""
PAIRS = ("query_id", "step", "rank", "level", "judgments")
RANKS = 5
"""Ranks in one point of the curve."""
LEAST_QUERIES = 5
"""With fewer done, nothing is said about the others."""
LEVEL = 0.95
BATCHES = (FIRST, SECOND)


class Prospect(NamedTuple):
    """What the open part of a batch would bring: relevant moments, with a 95 % interval.

    `queries` are open, `done` show what to expect. `judgments` is what it would cost. The numbers
    are None with fewer than `LEAST_QUERIES` done.
    """

    step: str
    queries: int
    done: int
    judgments: int | None
    relevant: float | None
    low: int | None
    high: int | None


def by_step(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return `step, pairs, judgments, mean, relevant, per_judgment`, in the order of steps."""
    grouped = _marked(pairs).groupby("step")
    table = pd.DataFrame(
        {
            "pairs": grouped.size(),
            "judgments": grouped["judgments"].sum(),
            "mean": grouped["level"].mean().astype("float64"),
            "relevant": grouped["relevant"].sum(),
        }
    )
    table["per_judgment"] = table["relevant"] / table["judgments"].where(table["judgments"] > 0)
    table = table.reindex(order_steps(pairs["step"])).rename_axis("step").reset_index()
    return table.astype({"relevant": "int64", "judgments": "int64"}).round(6)


def curve(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the sums so far, step by step: `step, ranks, judgments, relevant, per_judgment`.

    Candidates have a point for every five ranks, in both batches; `per_judgment` is of this point
    alone. An audit is no part of the pool, and is left out.
    """
    pooled = _marked(pairs[pairs["step"] != AUDIT])
    in_batch = pooled["step"].isin(BATCHES)
    point = ((pooled["rank"] - 1) // RANKS).where(in_batch, 0).astype("int64")
    sums = pooled.groupby(["step", point.rename("point")])[["judgments", "relevant"]].sum()
    sums = sums.reset_index()
    order = {step: place for place, step in enumerate(order_steps(pooled["step"]))}
    sums = sums.iloc[sums["step"].map(order).argsort(kind="stable")].reset_index(drop=True)
    low, is_run = sums["point"] * RANKS + 1, ~sums["step"].isin(BATCHES)
    ranks = low.astype("str") + "\u2013" + (low + RANKS - 1).astype("str")
    each = sums["relevant"] / sums["judgments"].where(sums["judgments"] > 0)
    return pd.DataFrame(
        {
            "step": sums["step"],
            "ranks": ranks.mask(is_run, ""),
            "judgments": sums["judgments"].cumsum().astype("int64"),
            "relevant": sums["relevant"].cumsum().astype("int64"),
            "per_judgment": each.astype("float64").round(6),
        }
    )


def _marked(pairs: pd.DataFrame) -> pd.DataFrame:
    relevant = (pairs["level"] >= RELEVANT_FROM).fillna(value=False).astype("int64")
    return pairs.assign(relevant=relevant)


def list_prospects(wanted: pd.DataFrame, further: str = SECOND) -> list[dict[str, Any]]:
    """Return what the next batch of the open queries would bring (`Prospect`), for JSON.

    `wanted` are the candidates that are to be judged: `query_id, batch, level, judgments, decided`.
    A query's next batch is its first that is not decided as a whole. What is decided in it is left
    out of what is to come. `further` names the batches after the first.
    """
    marked = _marked(wanted).assign(open=~wanted["decided"])
    by_batch = marked.groupby(["query_id", "batch"]).agg(
        size=("open", "size"), open=("open", "sum"), relevant=("relevant", "sum")
    )
    left = by_batch.reset_index().sort_values("batch")
    following = left[left["open"] > 0].drop_duplicates("query_id")
    decided = marked[marked["decided"]]
    prospects = []
    for step, is_later in ((FIRST, False), (further, True)):
        to_come = following[(following["batch"] > 1) == is_later]
        done = left[((left["batch"] > 1) == is_later) & (left["open"] == 0)]
        costs = decided.loc[(decided["batch"] > 1) == is_later, "judgments"]
        if len(to_come):
            prospects.append(_predict(step, to_come, done, costs)._asdict())
    return prospects


def _predict(step: str, to_come: pd.DataFrame, done: pd.DataFrame, costs: pd.Series) -> Prospect:
    queries, known = len(to_come), len(done)
    if known < LEAST_QUERIES:
        return Prospect(step, queries, known, None, None, None, None)
    batches, size = (to_come["open"] / to_come["size"]).sum(), int(done["size"].max())
    expected, low, high = predict_sum(done["relevant"].tolist(), batches, size)
    most = int(to_come["open"].sum())
    judgments = round(float(costs.mean()) * most)
    return Prospect(step, queries, known, judgments, round(expected, 1), low, min(high, most))


def predict_sum(seen: Sequence[int], number: float, most: int) -> tuple[float, int, int]:
    """Return the expected sum of `number` new values like those `seen`, and its 95 % interval.

    Values are 0 to `most`; at least two are seen. `number` may have a fraction, for a part.
    """
    values = np.array(seen, dtype=np.float64)
    spread = np.append(values, most).std(ddof=1)
    expected = number * float(values.mean())
    half = t_quantile(LEVEL, len(values) - 1) * spread * np.sqrt(number + number**2 / len(values))
    low, high = max(expected - half, 0), min(expected + half, number * most)
    return expected, int(np.floor(low)), int(np.ceil(high))


def describe_prospect(prospect: Mapping[str, Any]) -> str:
    """Return a prospect in a sentence."""
    number, step = prospect["queries"], prospect["step"]
    queries = f"{number:,} quer{'y' if number == 1 else 'ies'}"
    if prospect["relevant"] is None:
        return (
            f"{step} of {queries}: nothing to expect yet, with {prospect['done']} done"
            f" ({LEAST_QUERIES} needed)"
        )
    return (
        f"{step} of {queries}: about {prospect['relevant']:,.0f} more moments of level"
        f" {RELEVANT_FROM} or higher ({prospect['low']:,} to {prospect['high']:,}), for"
        f" {prospect['judgments']:,} judgments"
    )
