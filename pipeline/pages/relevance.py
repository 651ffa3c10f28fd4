"""Relevance by rank and similarity, and its distribution (paper, Figures 4 and 6)."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from pipeline.campaign.collection import per_query
from pipeline.campaign.pool_steps import CANDIDATES, FIRST, SECOND, name_steps
from pipeline.core.tables import LEVELS
from pipeline.core.text import count_words
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

    The first batch stands apart: of all queries the same ranks. The second belongs to the extended
    queries alone, and what runs and an audit brought was chosen in other ways. Lengths are of
    validation and test queries, and of the moments of the pool.
    """
    levels, moments = sources.collection.judged, sources.moments
    queries = sources.queries.loc[sources.queries["split"] != "train", "query"]
    steps = name_steps(levels, sources.batch)
    first, second = levels[steps == FIRST], levels[steps == SECOND]
    return {
        "relevance_by_rank": by_rank(first),
        "relevance_by_rank_second": by_rank(second),
        "relevance_by_similarity": by_similarity(first),
        "relevance_by_similarity_otherwise": by_similarity(levels[steps != FIRST]),
        "relevant_per_query": histogram(per_query(levels), QUERY_STEP),
        "query_words": histogram(count_words(queries), WORD_STEP),
        "moment_seconds": histogram(moments["end"] - moments["start"], SECOND_STEP),
    }
