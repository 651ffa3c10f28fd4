"""Which queries' batches have ended, so that an audit may draw what they left out."""

from typing import NamedTuple

import pandas as pd

from annotation.assignment.extension import (
    decisions_by_judged_query,
    find_extension,
    is_further,
)
from annotation.assignment.inputs import PlanInputs
from annotation.assignment.pair_states import find_pair_states
from annotation.votes.votes import is_in
from pipeline.campaign.pairs import PAIR_KEY


class Batches(NamedTuple):
    """The judged queries, those whose batches have ended, and the pairs that are wanted.

    `wanted` has `query_id, moment_id, rank, level`; a level below 0 is none.
    """

    queries: list[str]
    ended: set[str]
    wanted: pd.DataFrame


def find_batches(campaign: PlanInputs, topup: pd.DataFrame) -> Batches:
    """Return how far each query is, whatever an audit asks for and has found.

    Its batches have ended once none of its candidates and none of `topup` waits for people, and its
    second batch is wanted, or is certain not to be.

    Raises:
        PlanError: a decision to extend names a query that does not exist.
    """
    states = find_pair_states(campaign)
    decisions = decisions_by_judged_query(campaign.extend, states.same)
    further = find_extension(states, decisions, campaign.rule)
    pairs = states.pairs.assign(level=states.consensus.level)
    query = pairs["query_id"]
    second = is_further(pairs) & query.isin(further.extended)
    wanted = (pairs["batch"] == 1) | second | is_in(pairs, topup, PAIR_KEY)
    left = {*query[wanted & states.waiting], *further.undecided}
    queries = sorted(query.unique())
    columns = [*PAIR_KEY, "rank", "level"]
    return Batches(queries, set(queries) - left, pairs.loc[wanted, columns])
