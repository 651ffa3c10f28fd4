"""Strata by a machine's levels: of the moments below the top ranks, which to draw more of.

A random moment that turns out relevant stands for all that were not drawn. Where a machine puts a
moment at 3 or 4 there is more to learn from it, so it is `WEIGHTS` times as likely to be drawn; the
estimate knows by how much, and is unbiased whatever the machine's faults (Horvitz-Thompson within
strata). A moment without a current level of the machine is in a stratum of its own: that is no 0.
"""

import numpy as np
import pandas as pd

from annotation.pooling.design import AuditError
from annotation.pooling.estimator import Ints
from pipeline.campaign.pairs import PAIR_KEY, query_sha
from pipeline.core import tables
from pipeline.judges.repeats import settle_machine

WEIGHTS = {"unjudged": 1, "zero": 1, "low": 3, "high": 10}
"""By stratum: no current level, level 0, levels 1 and 2, levels 3 and 4."""
NAMES = list(WEIGHTS)
OF_LEVEL = ("zero", "low", "low", "high", "high")
LEAST = 2
"""Drawn of each stratum at least, so that its spread can be estimated."""


def assign_levels(
    judgments: pd.DataFrame, queries: pd.DataFrame, clips: pd.DataFrame
) -> pd.DataFrame:
    """Return `query_id, moment_id, stratum` of the pairs with a current level of the machine.

    `judgments` is `tables.MACHINE_JUDGMENTS`; a level counts if its pair's query text and clip are
    still those of `queries` and `clips`. Several levels of one pair come to their median.

    Raises:
        AuditError: there is no such level.
    """
    shown = queries.assign(query_sha=queries["query"].map(query_sha))[["query_id", "query_sha"]]
    fresh = judgments.merge(shown, on=["query_id", "query_sha"])
    fresh = fresh.merge(clips[["moment_id", "clip_sha"]], on=["moment_id", "clip_sha"])
    levels = settle_machine(fresh)
    if levels.empty:
        raise AuditError(
            f"{tables.MACHINE_JUDGMENTS.path}: no current level of the queries' moments; `dvc repro"
            " judge` makes them, also of judge.pool_top moments below the candidates"
        )
    names = [OF_LEVEL[level] for level in levels["level"]]
    return levels.assign(stratum=names)[[*PAIR_KEY, "stratum"]]


def allocate(sizes: Ints, number: int) -> Ints:
    """Return how many to draw of each stratum, (..., strata), of `sizes`, (..., strata).

    Each gets `LEAST` (fewer only if `number` is), or all that it has; then the next is always drawn
    where weight x size is largest beside what was drawn already (the first of equal ones), till
    there are `number`.
    """
    drawn = np.minimum(sizes, min(LEAST, number))
    weighted = sizes * np.array(list(WEIGHTS.values()))
    for _ in range(number):
        wanted = (drawn.sum(-1, keepdims=True) < number) & (drawn < sizes)
        value = np.where(wanted, weighted / (drawn + 1), -1.0)
        best = np.arange(len(WEIGHTS)) == value.argmax(-1)[..., None]
        drawn = drawn + (best & wanted)
    return drawn


def place_moments(ranking: pd.DataFrame, strata: pd.DataFrame) -> pd.Series:
    """Return the stratum of each of a query's moments; `strata` holds those of this query."""
    known = dict(zip(strata["moment_id"], strata["stratum"], strict=True))
    names = [known.get(moment_id, NAMES[0]) for moment_id in ranking["moment_id"]]
    return pd.Series(names, ranking.index, dtype="str")


def weigh(pairs: pd.DataFrame, strata: pd.DataFrame) -> pd.Series:
    """Return for how many others each pair stands, beside a simple random one of its query.

    1 for the top ranks, and everywhere if the draw looked at no machine (`strata` is empty). Of
    random pairs: size / drawn of their stratum, over that of all of the query's strata.
    """
    known = pairs[PAIR_KEY].merge(strata, on=PAIR_KEY, how="left").set_index(pairs.index)
    within = known.assign(number=1).groupby(["query_id", "stratum"])
    own = known["size"] / within["number"].transform("sum")
    parts = known.dropna(subset="stratum").drop_duplicates(["query_id", "stratum"])
    size, drawn = parts.groupby("query_id")["size"].sum(), strata["query_id"].value_counts()
    usual = known["query_id"].map(size / drawn)
    return (own / usual).fillna(1.0)
