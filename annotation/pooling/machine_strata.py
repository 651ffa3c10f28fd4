"""Strata by a machine's levels: which moments outside the pool to draw more of.

A random moment that turns out relevant stands for all that were not drawn. If a machine gives a
moment level 3 or 4, there is more to learn from it, so it is `WEIGHTS` times as likely to be drawn;
the estimate accounts for this, and is unbiased whatever the machine's faults (Horvitz-Thompson
within strata). Moments without a current machine level form their own stratum: they are not 0.
"""

import numpy as np
import pandas as pd

from pipeline.campaign.design import AuditError
from pipeline.campaign.estimator import Ints
from pipeline.campaign.pairs import PAIR_KEY, query_sha
from pipeline.core import tables
from pipeline.judges.repeats import settle_machine

WEIGHTS = {"unjudged": 1, "zero": 1, "low": 3, "high": 10}
"""By stratum: no current level, level 0, levels 1 and 2, levels 3 and 4."""
NAMES = list(WEIGHTS)
OF_LEVEL = ("zero", "low", "low", "high", "high")
LEAST = 2
"""Minimum to draw from each stratum, so that its spread can be estimated."""


def assign_levels(
    judgments: pd.DataFrame, queries: pd.DataFrame, clips: pd.DataFrame
) -> pd.DataFrame:
    """Return `query_id, moment_id, stratum` of the pairs with a current level of the machine.

    `judgments` is `tables.MACHINE_JUDGMENTS`; a level counts if its pair's query text and clip are
    still those of `queries` and `clips`. Several levels of one pair are reduced to their median.

    Raises:
        AuditError: there is no such level.
    """
    shown = queries.assign(query_sha=queries["query"].map(query_sha))[["query_id", "query_sha"]]
    fresh = judgments.merge(shown, on=["query_id", "query_sha"])
    fresh = fresh.merge(clips[["moment_id", "clip_sha"]], on=["moment_id", "clip_sha"])
    levels = settle_machine(fresh)
    if levels.empty:
        raise AuditError(
            f"{tables.MACHINE_JUDGMENTS.path}: no current levels for the queries' moments; `dvc"
            " repro judge` makes them, also for judge.pool_top moments below the candidates"
        )
    names = [OF_LEVEL[level] for level in levels["level"]]
    return levels.assign(stratum=names)[[*PAIR_KEY, "stratum"]]


def allocate(sizes: Ints, number: int) -> Ints:
    """Return how many to draw from each stratum, (..., strata), of `sizes`, (..., strata).

    Each gets `LEAST` (fewer only if `number` is smaller), or all that it has; then the next is
    always drawn where weight x size is largest relative to what was already drawn (the first of
    equal ones), until there are `number`.
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
    """Return the stratum of each of a query's moments; `strata` has those of this query."""
    stratum_of = dict(zip(strata["moment_id"], strata["stratum"], strict=True))
    names = [stratum_of.get(moment_id, NAMES[0]) for moment_id in ranking["moment_id"]]
    return pd.Series(names, ranking.index, dtype="str")
