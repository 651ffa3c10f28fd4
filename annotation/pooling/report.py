"""The report of an audit: relevance by similarity and rank, and what the judged pool missed.

Paper, Appendix B.3 and Figure 4. A pair is relevant at a level or above: the report gives all four,
so nobody has to choose one first.
"""

import json
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from annotation.pooling.design_effect import compare_widths
from annotation.votes.votes import is_in
from pipeline.campaign.design import AuditError, Design
from pipeline.campaign.estimator import Counts, beyond, most_unseen
from pipeline.campaign.next_step import LEAST_AUDITED
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables

RELEVANT = tables.LEVELS[1:]
NEAR, DEEP = "near", "deep"
SIMILARITIES = [round(edge / 10, 1) for edge in range(-10, 11)]
RANKS = [*range(0, 70, 10), 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000]
DECIMALS = 4
_ESTIMATES = [f"{name}{end}" for name in ("per_query", "share") for end in ("", "_low", "_high")]
MISSED = ["level", "where", *_ESTIMATES, "finds", "unseen_at_most", "width_ratio"]


class Judged(NamedTuple):
    """What is known of the audited queries' pairs.

    `audit` and `strata` are `tables.AUDIT` and `AUDIT_STRATA`. `pairs` are all pairs that people
    were shown, with `rank, similarity, level, outcome`; `inside` are those of the pool
    (`inside.find_inside`).
    """

    audit: pd.DataFrame
    strata: pd.DataFrame
    pairs: pd.DataFrame
    inside: pd.DataFrame


class Report(NamedTuple):
    """The results of an audit: three tables, and how many pairs and queries are decided.

    `missed` has, by level and `where` (`near`: among the neighbours; `deep`: beyond them), the
    relevant moments outside the pool: their mean number per query, and their share of these and of
    those inside the pool; with 95 % intervals. `rates` has the share of each level at ranks outside
    the pool, as `momentrank evaluate --unjudged` reads it.
    """

    by_similarity: pd.DataFrame
    by_rank: pd.DataFrame
    missed: pd.DataFrame
    rates: pd.DataFrame
    progress: dict[str, int]


def report(judged: Judged, design: Design) -> Report:
    """Return what is known so far.

    Only queries of which no pair waits are in `missed`; a query without any level in one of its
    strata is also left out. A pair without consensus, discarded or unjudgeable, is not a 0: its
    stratum's sample is smaller by one. A drawn pair that is in the pool now represents the others
    of its stratum that are: it counts as drawn, and not as missed. A query of which every moment
    was judged misses nothing. `missed` is empty while fewer than two queries can be used.
    `width_ratio` compares the interval per query with one without the machine's strata
    (`design_effect`).

    Raises:
        AuditError: a pair's stratum is missing.
    """
    drawn = _join(judged)
    inside = judged.pairs[is_in(judged.pairs, judged.inside, PAIR_KEY)]
    queries = {*drawn["query_id"], *design.whole}
    inside = inside[inside["query_id"].isin(queries)]
    waits = {
        query
        for own in (drawn, _mark_waiting(inside))
        for query in own.loc[own["waiting"], "query_id"]
    }
    usable = _select_usable(drawn[~drawn["query_id"].isin(waits)])
    used = {*usable["query_id"], *(set(design.whole) - waits)}
    known = inside[inside["query_id"].isin(used) & (inside["rank"] <= design.depth)]
    outside = drawn[~drawn["inside"]].dropna(subset="level")
    levels = pd.concat([inside.dropna(subset="level").assign(weight=1.0), outside])
    return Report(
        by_similarity(levels),
        by_rank(levels),
        _missed(usable, known.dropna(subset="level"), sorted(used), design),
        rates(outside),
        {
            "pairs": len(drawn),
            "decided": int((~drawn["waiting"]).sum()),
            "without_level": int((~drawn["waiting"] & drawn["level"].isna()).sum()),
            "queries": len(queries),
            "queries_done": len(queries - waits),
            "queries_used": len(used),
        },
    )


def _join(judged: Judged) -> pd.DataFrame:
    """Return the audit's pairs with what is known of each.

    The columns are those of `tables.AUDIT` and `stratum, size, level, waiting, inside` and
    `weight`: how many of its stratum's moments a pair represents, as far as these have a level.
    """
    rows = judged.audit.merge(judged.strata, on=PAIR_KEY, how="left")
    if lacking := int(rows["stratum"].isna().sum()):
        raise AuditError(
            f"{tables.AUDIT_STRATA.path}: {lacking} pairs of {tables.AUDIT.path} are missing;"
            " restore the file as it was committed"
        )
    rows["stratum"] = rows["origin"] + " " + rows["stratum"]
    rows = rows.merge(judged.pairs[[*PAIR_KEY, "level", "outcome"]], on=PAIR_KEY, how="left")
    levels = rows["level"].notna().groupby([rows["query_id"], rows["stratum"]]).transform("sum")
    weight = rows["size"] / levels.where(levels > 0)
    return _mark_waiting(rows).assign(inside=is_in(rows, judged.inside, PAIR_KEY), weight=weight)


def _mark_waiting(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(waiting=rows["outcome"].isna() | (rows["outcome"] == "waiting"))


def _select_usable(done: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of queries with a level in each stratum."""
    levels = done.groupby(["query_id", "stratum"])["level"].count()
    empty = levels[levels == 0].index.get_level_values("query_id")
    return done[~done["query_id"].isin(empty)]


def by_similarity(levels: pd.DataFrame) -> pd.DataFrame:
    """Return mean level and shares by similarity, in steps of 0.1 (Figure 4)."""
    return _curve(levels, "similarity", SIMILARITIES, right=False)


def by_rank(levels: pd.DataFrame) -> pd.DataFrame:
    """Return mean level and shares by rank: in tens up to 60, then coarser, to the deepest."""
    edges = [*RANKS[:-1], max(RANKS[-1], levels["rank"].max())] if len(levels) else RANKS
    return _curve(levels, "rank", edges, right=True)


def rates(outside: pd.DataFrame) -> pd.DataFrame:
    """Return the share of each level by rank, of the moments outside the pool, for any rank.

    The columns are `rank_low, rank_high, level, share`. The first range begins at 1, where the pool
    leaves nothing, each other one where the one before ends; the last one has no end.
    """
    bins = pd.cut(outside["rank"], [*RANKS, np.inf], labels=False)
    level, weight = outside["level"].astype("int64"), outside["weight"]
    sums = pd.crosstab(bins, level, weight, aggfunc="sum").reindex(columns=tables.LEVELS).fillna(0)
    shares = sums.div(sums.sum(axis=1), axis=0)
    highs = [RANKS[int(number) + 1] for number in shares.index[:-1]]
    lows = [1, *(high + 1 for high in highs)][: len(shares)]
    rows = [
        (low, high, level, share)
        for low, high, (_, own) in zip(lows, [*highs, None], shares.iterrows(), strict=False)
        for level, share in own.items()
    ]
    table = pd.DataFrame(rows, columns=["rank_low", "rank_high", "level", "share"])
    return table.astype({"rank_high": "Int64"})


def _curve(levels: pd.DataFrame, by: str, edges: Sequence[float], *, right: bool) -> pd.DataFrame:
    """Return `low, high, pairs, mean` and a share for each level, a row for each bin in use."""
    side: Literal["left", "right"] = "left" if right else "right"
    bin_of = np.searchsorted(np.array(edges), levels[by].to_numpy(), side=side) - 1
    level, weight = levels["level"].astype("int64"), levels["weight"]
    columns = {f"at_least_{least}": level >= least for least in RELEVANT}
    rows = pd.DataFrame({"mean": level, **columns}).mul(weight, axis=0)
    bins = rows.assign(weight=weight).groupby(np.clip(bin_of, 0, len(edges) - 2))
    sums = bins.sum()
    means = sums.drop(columns="weight").div(sums["weight"], axis=0).round(DECIMALS)
    low = [edges[number] + right for number in means.index]
    high = [edges[number + 1] for number in means.index]
    return means.assign(low=low, high=high, pairs=bins.size())[
        ["low", "high", "pairs", "mean", *columns]
    ].reset_index(drop=True)


def count(
    usable: pd.DataFrame, known: pd.DataFrame, queries: Sequence[str], least: int, where: str
) -> Counts:
    """Count each query's relevant pairs, of level `least` or above, inside the pool and outside.

    The first stratum are the `known` pairs inside, the others those of the audit that are `near`,
    or `deep`. Of these, only pairs that are still outside count as relevant (Cochran, Sampling
    Techniques, 3rd ed., 2.12: a total over a part of the population).
    """
    ids = pd.Series(queries, dtype="str")
    query = pd.Index(ids).get_indexer(pd.Index(usable["query_id"]))
    own = (usable["origin"] == where).to_numpy()
    stratum, names = pd.factorize(usable["stratum"].to_numpy()[own], sort=True)
    cell, part = (query[own], stratum + 1), usable[own]
    size, judged, relevant = np.zeros((3, len(queries), 1 + len(names)), dtype=np.int64)
    hits = (part["level"] >= least).fillna(value=False) & ~part["inside"]
    size[cell] = part["size"].to_numpy("int64")
    np.add.at(judged, cell, part["level"].notna().to_numpy("int64"))
    np.add.at(relevant, cell, hits.to_numpy("int64"))
    inside = (known["level"] >= least).groupby(known["query_id"])
    size[:, 0] = judged[:, 0] = inside.size().reindex(ids, fill_value=0)
    relevant[:, 0] = inside.sum().reindex(ids, fill_value=0)
    return Counts(size, judged, relevant, len(names))


def _missed(
    usable: pd.DataFrame, known: pd.DataFrame, queries: Sequence[str], design: Design
) -> pd.DataFrame:
    rows = []
    if len(queries) >= LEAST_AUDITED:
        for least in RELEVANT:
            for where in (NEAR, DEEP):
                counted = count(usable, known, queries, least, where)
                if where == NEAR or counted.drawn:  # if all neighbours are judged, none is missed
                    rows.append([least, where, *_row(counted, design)])
    return pd.DataFrame(rows, columns=MISSED)


def _row(counted: Counts, design: Design) -> list[float | None]:
    estimate = beyond(counted, 1, design.queries)
    size, judged = (column[:, 1:].ravel() for column in (counted.size, counted.judged))
    unseen = width = None
    if estimate.finds == 0 and (judged < size).any():
        unseen = round(most_unseen(size, judged) / len(counted.size), DECIMALS)
    if design.machine and counted.drawn:
        width = round(float(compare_widths(counted, 1, design.queries)), DECIMALS)
    bounds = (round(float(bound), DECIMALS) for bound in (*estimate.per_query, *estimate.share))
    return [*bounds, int(estimate.finds), unseen, width]


def as_json(result: Report, design: Design) -> dict[str, Any]:
    """Return the report for JSON: unknown values are null."""
    frames = {name: getattr(result, name) for name in ("by_similarity", "by_rank", "missed")}
    return {
        "complete": is_complete(result, design),
        "design": design.model_dump(exclude_none=True),
        "progress": result.progress,
        **{name: json.loads(frame.to_json(orient="records")) for name, frame in frames.items()},
    }


def is_complete(result: Report, design: Design) -> bool:
    """Tell whether all pairs of all chosen queries are drawn and decided."""
    return result.progress["queries_done"] == design.drawn
