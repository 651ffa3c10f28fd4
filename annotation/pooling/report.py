"""The report of an audit: relevance by similarity and rank, and what is beyond the ranks.

Paper, Appendix B.3 and Figure 4. A pair is relevant at a level or above: the report gives all four,
so nobody has to choose one first.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from annotation.pooling import machine_strata
from annotation.pooling.design import LEAST_QUERIES, AuditError, Design
from annotation.pooling.design_effect import compare_widths
from annotation.pooling.estimator import Beyond, Counts, beyond, most_unseen
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables

RELEVANT = tables.LEVELS[1:]
SIMILARITIES = [round(edge / 10, 1) for edge in range(-10, 11)]
FAR = [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]
STEP = 10
DECIMALS = 4
ENDS = ("", "_low", "_high")
"""Suffixes of the columns of an estimate and its bounds."""
WIDTH = (
    "`width` is the width of the interval per query, relative to as many random moments drawn"
    " without the machine's levels, estimated from this sample: .80 is a fifth narrower."
)


class Report(NamedTuple):
    """The results of an audit: three tables, and how many pairs and queries are decided."""

    by_similarity: pd.DataFrame
    by_rank: pd.DataFrame
    beyond: pd.DataFrame
    progress: dict[str, int]


def report(
    audit: pd.DataFrame,
    consensus: pd.DataFrame,
    design: Design,
    depths: Sequence[int],
    strata: pd.DataFrame | None = None,
) -> Report:
    """Return what is known so far; `strata` is `tables.AUDIT_STRATA`, if a machine was used.

    Only queries without waiting pairs are in `beyond`; a query without any level in one of its
    strata is also left out. A pair without consensus, discarded or unjudgeable, is not a 0: its
    stratum's sample is smaller by one. `beyond` has a row for each of `depths` (ranks below
    `design.top`) and level, and none while fewer than two queries can be used. `width_ratio`
    compares the interval per query with one without the machine's strata (`design_effect`).

    Raises:
        AuditError: a pair's stratum is missing.
    """
    drawn = _check_strata(audit, design, strata)
    pairs = audit.merge(consensus[[*PAIR_KEY, "level", "outcome"]], on=PAIR_KEY, how="left")
    pairs["waiting"] = pairs["outcome"].isna() | (pairs["outcome"] == "waiting")
    waiting = pairs.loc[pairs["waiting"], "query_id"].unique()
    done = pairs[~pairs["query_id"].isin(waiting)]
    edges = stratum_edges(depths, design)
    usable = assign_strata(done, edges, drawn)
    levels = pairs.assign(weight=machine_strata.weigh(pairs, drawn)).dropna(subset="level")
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


def _check_strata(audit: pd.DataFrame, design: Design, strata: pd.DataFrame | None) -> pd.DataFrame:
    """Return the strata of the audit's random pairs; none if no machine was used."""
    if design.machine is None:
        return tables.AUDIT_STRATA.empty()
    random = audit.loc[audit["origin"] == "random", PAIR_KEY]
    placed = random.merge(tables.AUDIT_STRATA.empty() if strata is None else strata, on=PAIR_KEY)
    if len(placed) < len(random):
        raise AuditError(
            f"{tables.AUDIT_STRATA.path}: {len(random) - len(placed)} random pairs of"
            f" {tables.AUDIT.path} are missing; restore the file as it was committed"
        )
    return placed


def stratum_edges(depths: Sequence[int], design: Design) -> list[int]:
    """Return the edges of strata: stratum i has the ranks edges[i] + 1 to edges[i + 1]."""
    top = min(design.top, design.pool)
    return sorted({0, *(depth for depth in depths if depth < top), top, design.pool})


def by_similarity(levels: pd.DataFrame) -> pd.DataFrame:
    """Return mean level and shares by similarity, in steps of 0.1 (Figure 4)."""
    return _curve(levels, "similarity", SIMILARITIES, right=False)


def by_rank(levels: pd.DataFrame, design: Design) -> pd.DataFrame:
    """Return mean level and shares by rank: in tens where all are judged, then coarser."""
    top = min(design.top, design.pool)
    edges = [*range(0, top, STEP), top, *(edge for edge in FAR if top < edge < design.pool)]
    return _curve(levels, "rank", [*edges, design.pool], right=True)


def _curve(levels: pd.DataFrame, by: str, edges: Sequence[float], *, right: bool) -> pd.DataFrame:
    """Return `low, high, pairs, mean` and a share for each level, a row for each bin in use."""
    edges = sorted(set(edges))
    last = len(edges) - 2
    side: Literal["left", "right"] = "left" if right else "right"
    bin_of = np.searchsorted(np.array(edges), levels[by].to_numpy(), side=side) - 1
    level, weight = levels["level"].astype("int64"), levels.get("weight", 1.0)
    columns = {f"at_least_{least}": level >= least for least in RELEVANT}
    rows = pd.DataFrame({"mean": level, **columns}).mul(weight, axis=0)
    bins = rows.assign(weight=weight).groupby(np.clip(bin_of, 0, last))
    sums = bins.sum()
    means = sums.drop(columns="weight").div(sums["weight"], axis=0).round(DECIMALS)
    low = [edges[number] + right for number in means.index]
    high = [edges[number + 1] for number in means.index]
    return means.assign(low=low, high=high, pairs=bins.size())[
        ["low", "high", "pairs", "mean", *columns]
    ].reset_index(drop=True)


def assign_strata(
    done: pd.DataFrame, edges: Sequence[int], drawn: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return the pairs of queries with a level in each stratum, with `stratum` and `size`.

    `drawn` are the machine's strata of random pairs: they divide the last range of ranks.
    """
    stratum = np.searchsorted(edges, done["rank"], side="left") - 1
    inside = done.assign(stratum=stratum, size=np.diff(edges)[stratum])
    if drawn is not None and len(drawn):
        both = inside[PAIR_KEY].merge(drawn, on=PAIR_KEY, how="left").set_index(inside.index)
        by_machine = both["stratum"].notna()
        code = both.loc[by_machine, "stratum"].map(machine_strata.NAMES.index)
        inside.loc[by_machine, "stratum"] += code.astype("int64")
        inside.loc[by_machine, "size"] = both.loc[by_machine, "size"].astype("int64")
    levels = inside.groupby(["query_id", "stratum"])["level"].count()
    empty = levels[levels == 0].index.get_level_values("query_id")
    return inside[~inside["query_id"].isin(empty)]


def counts(usable: pd.DataFrame, edges: Sequence[int], least: int, drawn: int = 1) -> Counts:
    """Count a query's relevant pairs, of level `least` or above, per stratum.

    `drawn` is the number of strata of the last range of ranks.
    """
    query, _ = pd.factorize(usable["query_id"], sort=True)
    shape = (int(query.max(initial=-1)) + 1, len(edges) - 2 + drawn)
    cell = (query, usable["stratum"].to_numpy())
    judged, relevant, size = np.zeros((3, *shape), dtype=np.int64)
    np.add.at(judged, cell, usable["level"].notna().to_numpy("int64"))
    np.add.at(relevant, cell, (usable["level"] >= least).fillna(value=False).to_numpy("int64"))
    size[cell] = usable["size"].to_numpy("int64")
    return Counts(size, judged, relevant, drawn)


def _beyond(usable: pd.DataFrame, edges: Sequence[int], design: Design) -> pd.DataFrame:
    rows, drawn = [], 1 if design.machine is None else len(machine_strata.NAMES)
    if usable["query_id"].nunique() >= LEAST_QUERIES:
        for least in RELEVANT:
            counted = counts(usable, edges, least, drawn)
            for strata, rank in enumerate(edges[1:], start=1):
                if rank < min(design.top, design.pool):
                    estimate = beyond(counted, strata, design.queries)
                    width = round(float(compare_widths(counted, strata, design.queries)), DECIMALS)
                    rows.append([least, rank, *_row(estimate, counted), width])
    columns = [f"{name}{end}" for name in ("per_query", "share") for end in ENDS]
    columns = ["level", "rank", *columns, "finds", "unseen_at_most", "width_ratio"]
    return pd.DataFrame(rows, columns=columns)


def _row(estimate: Beyond, counted: Counts) -> list[float | None]:
    size, judged = (
        column[:, -counted.drawn :].ravel() for column in (counted.size, counted.judged)
    )
    unseen = None
    if estimate.finds == 0 and (judged < size).any():
        unseen = round(most_unseen(size, judged) / len(counted.size), DECIMALS)
    bounds = [*estimate.per_query, *estimate.share]
    return [*(round(float(bound), DECIMALS) for bound in bounds), int(estimate.finds), unseen]


def as_json(result: Report, design: Design) -> dict[str, Any]:
    """Return the report for JSON: unknown values are null."""
    frames = {name: getattr(result, name) for name in ("by_similarity", "by_rank", "beyond")}
    return {
        "complete": result.progress["decided"] == result.progress["pairs"],
        "design": design.model_dump(),
        "progress": result.progress,
        **{name: json.loads(frame.to_json(orient="records")) for name, frame in frames.items()},
    }


def as_text(result: Report, design: Design) -> str:
    """Return the report as text."""
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
    machine = f" {design.machine} guided which moments were drawn more." if design.machine else ""
    return (
        f"Audit of {design.drawn} of {design.queries} queries, {state}: {decided:,} of {pairs:,}"
        f" pairs are decided ({progress['without_level']:,} of them without a level), all of"
        f" {progress['queries_done']} queries.{machine}"
    )


def _columns(frame: pd.DataFrame) -> str:
    if frame.empty:
        return "no pair has a level yet"
    return str(frame.to_string(index=False, float_format=lambda value: f"{value:.2f}"))


def _beyond_text(result: Report, design: Design) -> str:
    if result.beyond.empty:
        return "not until two queries are fully judged"
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
    if design.machine:
        shown["width"] = [
            "-" if pd.isna(ratio) else f"{ratio:.2f}" for ratio in frame["width_ratio"]
        ]
    note = (
        f"\nEstimated from {result.progress['queries_used']} queries, with 95 % intervals. `finds`"
        f" counts the relevant ones among the random moments beyond rank {design.top}: below five"
        " an interval is wide and its lower bound says little."
    )
    none = frame[frame["unseen_at_most"].notna()].drop_duplicates("level")
    notes = [
        f"Level >= {level}: no random moment was relevant. Beyond rank {design.top} the audited"
        f" queries have at most {most:.1f} on average (exact one-sided 95 % bound)."
        for level, most in zip(none["level"], none["unseen_at_most"], strict=True)
    ]
    by_machine = [WIDTH] if design.machine else []
    return "\n".join([shown.to_string(index=False), note, *by_machine, *notes])


def _spans(frame: pd.DataFrame, name: str, unit: float, decimals: int) -> list[str]:
    ends = (frame[f"{name}{end}"] * unit for end in ENDS)
    return [
        "-" if pd.isna(value) else f"{value:.{decimals}f} ({low:.{decimals}f}, {high:.{decimals}f})"
        for value, low, high in zip(*ends, strict=True)
    ]
