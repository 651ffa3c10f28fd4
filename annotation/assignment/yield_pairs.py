"""A campaign's pairs, as the yield of judging counts them: what each found, and what is open."""

import numpy as np
import pandas as pd

from annotation.assignment.extension import is_further
from annotation.assignment.inputs import PlanInputs
from annotation.assignment.pair_states import PairStates
from annotation.votes.adjudication import fresh_decisions
from annotation.votes.votes import NO_LEVEL, pair_rows
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.pool_steps import CANDIDATES, extra_pairs, name_steps


def decided_pairs(
    states: PairStates, campaign: PlanInputs, audit: pd.DataFrame, topup: pd.DataFrame
) -> pd.DataFrame:
    """Return the decided pairs (`yields.PAIRS`) with the step of the pool that each came with."""
    pairs = _measured(states, campaign)
    pairs = pairs[pairs["decided"] & (pairs["judgments"] > 0)]
    deepest = max(campaign.candidates["rank"].max(), campaign.rule.batch)
    extra = extra_pairs(audit, topup, pairs, campaign.rule.batch, int(deepest))
    named = pairs.merge(extra, on=PAIR_KEY, how="left")
    origin = named["origin"].fillna(CANDIDATES)
    return named.assign(step=name_steps(named.assign(origin=origin), campaign.rule.batch))


def wanted_candidates(states: PairStates, campaign: PlanInputs, extended: set[str]) -> pd.DataFrame:
    """Return the candidates that are to be judged, as `yields.list_prospects` wants them.

    These are batch 1, and batch 2 of the `extended` queries; pairs without a clip are left out.
    """
    pairs = _measured(states, campaign)
    second = is_further(pairs) & pairs["query_id"].isin(extended)
    return pairs[((pairs["batch"] == 1) | second) & states.clip]


def _measured(states: PairStates, campaign: PlanInputs) -> pd.DataFrame:
    """Return each pair with its level, also one that was adjudicated, and its judgments."""
    decisions = fresh_decisions(campaign.adjudications, campaign.shown)
    row = pair_rows(decisions, states.pairs)
    level = pd.array(np.where(states.consensus.level == NO_LEVEL, -1, states.consensus.level))
    level[row[row >= 0]] = decisions["level"].fillna(-1).to_numpy("int64")[row >= 0]
    columns = states.pairs[[*PAIR_KEY, "rank", "batch"]]
    known = pd.Series(level, columns.index, dtype="Int64")
    return columns.assign(
        level=known.mask(known < 0),
        judgments=states.consensus.scores,
        decided=states.outcome != "waiting",
    )
