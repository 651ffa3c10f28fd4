"""The consensus of a campaign's pairs, and the votes that it counts."""

import pandas as pd

from annotation.votes.rule import Rounding, decide
from annotation.votes.votes import NO_LEVEL, last_shown, select_counting, select_votes
from pipeline.campaign.pairs import PAIR_KEY, select_newest
from pipeline.core import tables


def consensus(
    judgments: pd.DataFrame,
    ledger: pd.DataFrame,
    voided: pd.DataFrame,
    *,
    closed: bool = False,
    rounding: Rounding = "up",
) -> pd.DataFrame:
    """Return the consensus of every pair of the ledger, sorted by query_id and moment_id.

    A pair that was shown but not judged waits, with no scores. Once the campaign is `closed`,
    waiting pairs are discarded: they have fewer than four scores. Nothing is adjudicated yet.
    """
    shown = last_shown(ledger)
    pairs = shown[PAIR_KEY].sort_values(PAIR_KEY, ignore_index=True)
    counted = select_votes(select_counting(judgments, shown, voided), pairs)
    decided = decide(counted.pair, counted.level, len(pairs), closed=closed, rounding=rounding)
    level = pd.Series(decided.level, dtype="Int64").mask(decided.level == NO_LEVEL)
    rows = pairs.assign(
        level=level,
        mean=decided.mean,
        scores=pd.Series(decided.lists(), dtype=object),
        outcome=decided.outcome,
        voted_level=level,
        voted_outcome=decided.outcome,
    )
    return tables.CONSENSUS.check(rows)


def counted_votes(
    judgments: pd.DataFrame, ledger: pd.DataFrame, voided: pd.DataFrame
) -> pd.DataFrame:
    """Return the votes that the consensus is based on, by the number of their pair as last shown.

    They are sorted by pair_id and annotator; a vote without a level has a reason instead.
    """
    pairs = select_newest(ledger)
    usable = select_counting(judgments, pairs, voided)
    counted = select_votes(usable, pairs)
    rows = usable.iloc[counted.row].assign(pair_id=pairs["pair_id"].to_numpy()[counted.pair])
    key = list(tables.COUNTED_VOTES.key)
    return tables.COUNTED_VOTES.check(
        rows[tables.COUNTED_VOTES.columns].sort_values(key, ignore_index=True)
    )
