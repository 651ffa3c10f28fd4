"""What an audit says: relevance against similarity and rank, and what lies beyond the ranks.

Paper, Appendix B.3 and Figure 4. A pair is relevant at a level or above: the report
gives all four, so that nobody has to choose one first.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from annotation.pooling.design import Design
from annotation.pooling.draw import LEAST_QUERIES
from annotation.pooling.estimator import Beyond, Counts, beyond, most_unseen
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables

RELEVANT = tables.LEVELS[1:]
SIMILARITIES = [round(edge / 10, 1) for edge in range(-10, 11)]
FAR = [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]
STEP = 10
DECIMALS = 4
ENDS = ("", "_low", "_high")
"""Of the columns of an estimate and its bounds."""


class Report(NamedTuple):
    """What an audit comes to: three tables, and how many pairs and queries are decided."""

    by_similarity: pd.DataFrame
    by_rank: pd.DataFrame
    beyond: pd.DataFrame
    progress: dict[str, int]


def report(
    audit: pd.DataFrame, consensus: pd.DataFrame, design: Design, depths: Sequence[int]
) -> Report:
    """Return what is known so far.

    Only queries of which no pair waits are in `beyond`; a query without any level in one of
    its strata is left out too. A pair without consensus, discarded or unjudgeable, is no 0:
    its stratum's sample is smaller by one. `beyond` has a row for each of `depths` (ranks below
    `design.top`) and level, and none while fewer than two queries can be used.
    """
    pairs = audit.merge(consensus[[*PAIR_KEY, "level", "outcome"]], on=PAIR_KEY, how="left")
    pairs["waiting"] = pairs["outcome"].isna() | (pairs["outcome"] == "waiting")
    waiting = pairs.loc[pairs["waiting"], "query_id"].unique()
    done = pairs[~pairs["query_id"].isin(waiting)]
    edges = stratum_edges(depths, design)
    usable = assign_strata(done, edges)
    levels = pairs.dropna(subset="level")
    return Report(
        by_similarity(levels),
        by_rank(levels, design),
        _beyond(usable, edges, design),
        {
            "pairs": len(pairs),
            "decided": int((~pairs["waiting"]).sum()),
            "without_level": int((~pairs["waiting"] & pairs["level"].isna()).sum()),
            "queries": pairs["query_id"].nunique(),
            "queries_done": done["query_id"].nunique(),
            "queries_used": usable["query_id"].nunique(),
        },
    )


def stratum_edges(depths: Sequence[int], design: Design) -> list[int]:
    """Return where strata begin and end: stratum i holds the ranks edges[i] + 1 to edges[i + 1]."""
    top = min(design.top, design.pool)
    return sorted({0, *(depth for depth in depths if depth < top), top, design.pool})


def by_similarity(levels: pd.DataFrame) -> pd.DataFrame:
    """Return mean level and shares by similarity, in steps of 0.1 (Figure 4)."""
    return _curve(levels, "similarity", SIMILARITIES, right=False)


def by_rank(levels: pd.DataFrame, design: Design) -> pd.DataFrame:
    """Return mean level and shares by rank: in tens as far as all is judged, then coarser."""
    top = min(design.top, design.pool)
    edges = [*range(0, top, STEP), top, *(edge for edge in FAR if top < edge < design.pool)]
    return _curve(levels, "rank", [*edges, design.pool], right=True)


def _curve(levels: pd.DataFrame, by: str, edges: Sequence[float], *, right: bool) -> pd.DataFrame:
    """Return `low, high, pairs, mean` and a share for each level, a row for each bin in use."""
    edges = sorted(set(edges))
    last = len(edges) - 2
    side: Literal["left", "right"] = "left" if right else "right"
    place = np.searchsorted(np.array(edges), levels[by].to_numpy(), side=side) - 1
    level = levels["level"].astype("int64")
    columns = {f"at_least_{least}": level >= least for least in RELEVANT}
    rows = pd.DataFrame({"bin": np.clip(place, 0, last), "mean": level, **columns})
    bins = rows.groupby("bin")
    figures = bins.mean().round(DECIMALS)
    low = [edges[number] + right for number in figures.index]
    high = [edges[number + 1] for number in figures.index]
    return figures.assign(low=low, high=high, pairs=bins.size())[
        ["low", "high", "pairs", "mean", *columns]
    ].reset_index(drop=True)


def assign_strata(done: pd.DataFrame, edges: Sequence[int]) -> pd.DataFrame:
    """Return the pairs of the queries that have a level in each stratum, with the stratum."""
    inside = done.assign(stratum=np.searchsorted(edges, done["rank"], side="left") - 1)
    levels = inside.groupby(["query_id", "stratum"])["level"].count()
    empty = levels[levels == 0].index.get_level_values("query_id")
    return inside[~inside["query_id"].isin(empty)]


def counts(usable: pd.DataFrame, edges: Sequence[int], least: int) -> Counts:
    """Count a query's relevant pairs, of level `least` or above, per stratum of ranks."""
    query, _ = pd.factorize(usable["query_id"], sort=True)
    shape = (int(query.max(initial=-1)) + 1, len(edges) - 1)
    cell = (query, usable["stratum"].to_numpy())
    judged, relevant = np.zeros((2, *shape), dtype=np.int64)
    np.add.at(judged, cell, usable["level"].notna().to_numpy("int64"))
    np.add.at(relevant, cell, (usable["level"] >= least).fillna(value=False).to_numpy("int64"))
    size = np.broadcast_to(np.diff(edges), shape).copy()
    return Counts(size, judged, relevant)


def _beyond(usable: pd.DataFrame, edges: Sequence[int], design: Design) -> pd.DataFrame:
    rows = []
    if usable["query_id"].nunique() >= LEAST_QUERIES:
        for least in RELEVANT:
            counted = counts(usable, edges, least)
            for strata, rank in enumerate(edges[1:], start=1):
                if rank < min(design.top, design.pool):
                    estimate = beyond(counted, strata, design.queries)
                    rows.append([least, rank, *_row(estimate, counted)])
    columns = [f"{name}{end}" for name in ("per_query", "share") for end in ENDS]
    return pd.DataFrame(rows, columns=["level", "rank", *columns, "finds", "unseen_at_most"])


def _row(estimate: Beyond, counted: Counts) -> list[float | None]:
    size, judged = counted.size[:, -1], counted.judged[:, -1]
    unseen = None
    if estimate.finds == 0 and (judged < size).any():
        unseen = round(most_unseen(size, judged) / len(size), DECIMALS)
    bounds = [*estimate.per_query, *estimate.share]
    return [*(round(float(bound), DECIMALS) for bound in bounds), int(estimate.finds), unseen]


def as_json(result: Report, design: Design) -> dict[str, Any]:
    """Return the report as JSON has it: what is not known is null."""
    frames = {name: getattr(result, name) for name in ("by_similarity", "by_rank", "beyond")}
    return {
        "complete": result.progress["decided"] == result.progress["pairs"],
        "design": design.model_dump(),
        "progress": result.progress,
        **{name: json.loads(frame.to_json(orient="records")) for name, frame in frames.items()},
    }


def as_text(result: Report, design: Design) -> str:
    """Return the report as people read it."""
    parts = [
        _progress_text(result.progress, design),
        f"Levels by similarity\n\n{_columns(result.by_similarity)}",
        f"Levels by rank\n\n{_columns(result.by_rank)}",
        f"Relevant moments beyond a rank\n\n{_beyond_text(result, design)}",
    ]
    return "\n\n".join(parts)


def _progress_text(progress: dict[str, int], design: Design) -> str:
    pairs, decided = progress["pairs"], progress["decided"]
    state = "complete" if pairs == decided else "INCOMPLETE"
    return (
        f"Audit of {design.drawn} of {design.queries} queries, {state}: {decided:,} of {pairs:,}"
        f" pairs are decided ({progress['without_level']:,} of them without a level), all of"
        f" {progress['queries_done']} queries."
    )


def _columns(frame: pd.DataFrame) -> str:
    if frame.empty:
        return "no pair has a level yet"
    return str(frame.to_string(index=False, float_format=lambda value: f"{value:.2f}"))


def _beyond_text(result: Report, design: Design) -> str:
    if result.beyond.empty:
        return "not before two queries are judged in full"
    frame = result.beyond
    shown = pd.DataFrame(
        {
            "level": [f">= {level}" for level in frame["level"]],
            "beyond rank": frame["rank"],
            "per query": _spans(frame, "per_query", 1, 1),
            "% of all relevant": _spans(frame, "share", 100, 0),
            "finds": frame["finds"],
        }
    )
    note = (
        f"\nEstimated from {result.progress['queries_used']} queries, with 95 % intervals. `finds`"
        f" counts the relevant ones among the random moments beyond rank {design.top}: below five"
        " an interval is wide and its lower bound tells little."
    )
    none = frame[frame["unseen_at_most"].notna()].drop_duplicates("level")
    notes = [
        f"Level >= {level}: no random moment was relevant. Beyond rank {design.top} the audited"
        f" queries have at most {most:.1f} on average (exact one-sided 95 % bound)."
        for level, most in zip(none["level"], none["unseen_at_most"], strict=True)
    ]
    return "\n".join([shown.to_string(index=False), note, *notes])


def _spans(frame: pd.DataFrame, name: str, unit: float, decimals: int) -> list[str]:
    ends = (frame[f"{name}{end}"] * unit for end in ENDS)
    return [
        "-" if pd.isna(value) else f"{value:.{decimals}f} ({low:.{decimals}f}, {high:.{decimals}f})"
        for value, low, high in zip(*ends, strict=True)
    ]
