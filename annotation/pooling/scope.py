"""What an audit of this checkout's campaign can draw from, and what it would tell."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.assignment.ended import find_batches
from annotation.assignment.planning import read_answers, read_inputs
from annotation.pooling.draw import DEEP, NEAR
from annotation.pooling.growth import find_growing
from annotation.pooling.inside import find_inside
from annotation.pooling.prospect import Prospect, describe
from annotation.roster import roster
from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.effort import SECONDS, measure_seconds
from pipeline.campaign.estimator import Floats
from pipeline.campaign.next_step import AUDITED
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.yields import RELEVANT_FROM
from pipeline.core import tables
from pipeline.core.params import Params


class Scope(NamedTuple):
    """The judged `queries`, those that have `ended`, the pool's pairs, and its neighbours.

    `found` is how many relevant moments each query that has ended has in the pool.
    """

    queries: list[str]
    ended: set[str]
    inside: pd.DataFrame
    neighbours: pd.DataFrame
    found: Floats


def read_scope(params: Params, audit: pd.DataFrame) -> Scope:
    """Read it, with `audit` as the pairs that were judged for an audit alone.

    Raises:
        MomentRankError: a table is missing or wrong.
    """
    pool, topup = tables.POOL.read(), tables.TOPUP.read()
    campaign = read_inputs(roster.read_people(), params, read_answers())
    batches = find_batches(campaign, topup)
    ended = batches.ended - find_growing(load_campaign(), params)
    inside = find_inside(pool, audit, topup, tables.PAIRS.read()[PAIR_KEY])
    both = pd.concat([inside, batches.wanted[PAIR_KEY]]).drop_duplicates(ignore_index=True)
    neighbours = tables.NEIGHBOURS.read()
    best = batches.wanted[batches.wanted["rank"] <= params.candidates.depth]
    found = best.loc[best["level"] >= RELEVANT_FROM, "query_id"].value_counts()
    return Scope(
        batches.queries,
        ended,
        both[both["query_id"].isin(batches.queries)],
        neighbours[neighbours["query_id"].isin(batches.queries)],
        np.array(found.reindex(sorted(ended), fill_value=0), dtype=np.float64),
    )


def describe_audit(
    scope: Scope, params: Params, queries: int = AUDITED, hourly: float | None = None
) -> Iterator[str]:
    """Yield what an audit of so many queries takes and tells, before anyone is asked."""
    number, population = min(queries, len(scope.queries)), len(scope.queries)
    inside = scope.neighbours[PAIR_KEY].merge(scope.inside, on=PAIR_KEY)
    outside = (len(scope.neighbours) - len(inside)) / population
    is_deep = len(scope.neighbours) >= population * params.candidates.depth
    near, deep = round(min(NEAR, outside)), DEEP if is_deep else 0
    prospect = Prospect(number, population, near, deep, outside, scope.found)
    yield from describe(prospect, measure_seconds(params) or SECONDS, hourly)
