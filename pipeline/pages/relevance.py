"""Relevance by rank and similarity, and its distribution (paper, Figures 4 and 6)."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from pipeline.campaign.collection import CANDIDATES, per_query
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core.tables import LEVELS
from pipeline.core.text import count_words
from pipeline.pages.html_tables import Grid, count, decimal, percent
from pipeline.pages.report_inputs import Sources

QUARTER = 4
SIMILARITY_STEP = 0.05
QUERY_STEP, WORD_STEP, SECOND_STEP = 4, 2, 1
MOST_BARS = 40
LEVEL_COLUMNS = [f"level_{level}" for level in LEVELS]


class Example(NamedTuple):
    """A query, and its candidates with a level: `rank, level, similarity`."""

    query: str
    candidates: pd.DataFrame


def by_rank(levels: pd.DataFrame) -> pd.DataFrame:
    """Return relevance at each rank: `rank, pairs, mean, level_0, ..., level_4` (shares)."""
    return _shares(levels["level"], levels["rank"].rename("rank"))


def by_similarity(levels: pd.DataFrame) -> pd.DataFrame:
    """Return relevance by similarity of query and caption: `similarity, pairs, mean, ...`.

    `similarity` is the lower end of a step of 0.05; 1.0 is a step of its own.
    """
    step = np.floor((levels["similarity"] + 1e-9) / SIMILARITY_STEP) * SIMILARITY_STEP
    return _shares(levels["level"], step.round(2).rename("similarity"))


def _shares(level: pd.Series, by: pd.Series) -> pd.DataFrame:
    grouped = level.groupby(by)
    table = pd.DataFrame({"pairs": grouped.size(), "mean": grouped.mean().astype("float64")})
    for each, name in zip(LEVELS, LEVEL_COLUMNS, strict=True):
        table[name] = (level == each).groupby(by).mean().astype("float64")
    return table.round(6).reset_index()


def histogram(values: pd.Series, step: int) -> pd.DataFrame:
    """Return how many values are in each step from `low` up to `high`: `low, high, number`.

    Steps are half open, [low, high); they are merged if there would be more than 40.
    """
    data = values.dropna().to_numpy("float64")
    if not len(data):
        return pd.DataFrame({"low": [], "high": [], "number": []}, dtype="int64")
    span = int(data.max()) // step - int(data.min()) // step + 1
    step *= -(-span // MOST_BARS)
    bins = (data // step).astype("int64")
    first = int(bins.min())
    number = np.bincount(bins - first)
    low = (np.arange(len(number)) + first) * step
    return pd.DataFrame({"low": low, "high": low + step, "number": number})


def examples(levels: pd.DataFrame, queries: pd.DataFrame) -> list[Example]:
    """Return two queries, with few and with many relevant candidates, and these by rank.

    Ordered by that number, one query ends the first quarter, and the other begins the last.
    """
    judged = levels[levels["origin"] == CANDIDATES]
    numbers = per_query(judged).rename("number").reset_index()
    ordered = numbers.sort_values(["number", "query_id"])["query_id"].tolist()
    quartile = len(ordered) // QUARTER
    chosen = [ordered[quartile], ordered[-1 - quartile]] if len(ordered) > 1 else ordered
    texts = queries.set_index("query_id")["query"]
    return [
        Example(
            texts[query],
            judged[judged["query_id"] == query]
            .sort_values("rank")[["rank", "level", "similarity"]]
            .reset_index(drop=True),
        )
        for query in chosen
    ]


def tables(sources: Sources) -> dict[str, pd.DataFrame]:
    """Return the data of the figures of relevance and of lengths by name.

    Lengths are of validation and test queries, and of the moments of the pool.
    """
    levels, moments = sources.collection.judged, sources.moments
    queries = sources.queries.loc[sources.queries["split"] != "train", "query"]
    candidates = levels[levels["origin"] == CANDIDATES]  # an audit covers lower ranks too
    return {
        "relevance_by_rank": by_rank(candidates),
        "relevance_by_similarity": by_similarity(levels),
        "relevant_per_query": histogram(per_query(levels), QUERY_STEP),
        "query_words": histogram(count_words(queries), WORD_STEP),
        "moment_seconds": histogram(moments["end"] - moments["start"], SECOND_STEP),
    }


EXTRA_SHARES = ("at_least_1", "at_least_3")
EXTRA_HEAD = ("Why", "Pairs", "With level", "Mean level", "Level 1 or higher", "Level 3 or higher")
EXTRA_NOTE = (
    "Candidates that an audit also drew count here too. To estimate the relevant moments beyond the"
    " judged ranks, with an interval: python -m annotation.audit report."
)


def extra_pairs(sources: Sources) -> pd.DataFrame:
    """Return `why, pairs, with_level, mean, at_least_1, at_least_3`; empty without extra pairs."""
    asked = pd.concat([_of_audit(sources), _of_runs(sources.topup)], ignore_index=True)
    judged = asked.merge(sources.collection.judged[[*PAIR_KEY, "level"]], on=PAIR_KEY, how="left")
    rows = [
        {
            "why": why,
            "pairs": len(pairs),
            "with_level": len(levels := pairs["level"].dropna()),
            "mean": levels.mean(),
            "at_least_1": (levels >= 1).mean(),
            "at_least_3": (levels >= 3).mean(),  # noqa: PLR2004  (a level)
        }
        for why, pairs in judged.groupby("why", sort=False)
    ]
    return pd.DataFrame(rows, columns=["why", "pairs", "with_level", "mean", *EXTRA_SHARES])


def _of_audit(sources: Sources) -> pd.DataFrame:
    """Name the audit's parts: the candidates' ranks, the next ranks, and random others."""
    audit, deepest = sources.audit, sources.deepest
    last = audit.loc[audit["origin"] == "top", "rank"].max()
    why = audit["origin"].map(
        {"top": f"Audit: ranks {deepest + 1} to {last:.0f}", "random": "Audit: random others"}
    )
    near = (audit["origin"] == "top") & (audit["rank"] <= deepest)
    named = audit.assign(why=why.mask(near, f"Audit: ranks 1 to {deepest}"))
    return named.sort_values(["origin", "rank"], ascending=[False, True])[[*PAIR_KEY, "why"]]


def _of_runs(topup: pd.DataFrame) -> pd.DataFrame:
    ordered = topup.assign(why="Found by " + topup["origin"]).sort_values(["why", *PAIR_KEY])
    return ordered[[*PAIR_KEY, "why"]]


def extra_pairs_grid(table: pd.DataFrame) -> Grid:
    """Return the extra pairs as a table."""
    rows = [
        (why, count(pairs), count(with_level), decimal(mean), *map(percent, shares))
        for why, pairs, with_level, mean, *shares in table.itertuples(index=False)
    ]
    return Grid("Pairs judged beyond the candidates", EXTRA_HEAD, rows, EXTRA_NOTE)
