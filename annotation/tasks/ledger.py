"""The table of pairs that were shown: append-only, with a permanent number for each pair."""

import pandas as pd

from annotation.votes.votes import is_in, last_shown
from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY
from pipeline.core import rng, tables


def append_pairs(ledger: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Return the ledger with a new row for each pair in `shown` that differs from its last row.

    `shown` has the ledger's columns without `pair_id`. A pair whose text or clip has changed
    gets a new number; so does one that is back to an earlier form. Old rows stay. The numbers of a
    query's pairs are in the order of a hash: they are released, and say nothing of the ranks.
    """
    distinct = shown.drop_duplicates(SHOWN_KEY)
    pairs = zip(distinct["query_id"], distinct["moment_id"], strict=True)
    shuffled = distinct.assign(order=[rng.draw("pair", *pair) for pair in pairs])
    ordered = shuffled.sort_values(["query_id", "order", "moment_id"])
    new = ordered[~is_in(ordered, last_shown(ledger), SHOWN_KEY)]
    first = 0 if ledger.empty else int(ledger["pair_id"].max()) + 1
    numbered = new.assign(pair_id=range(first, first + len(new)))[ledger.columns]
    return tables.PAIRS.check(pd.concat([ledger, numbered], ignore_index=True))


def find_unrecorded(ledger: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Return the forms (`SHOWN_KEY`) that were shown or have votes, but are not the last row.

    A pair is back to an earlier form; or its row was lost, where git could not merge two ledgers
    and one was taken.
    """
    before = pd.concat([ledger[SHOWN_KEY], votes[SHOWN_KEY]]).drop_duplicates()
    return before[~is_in(before, last_shown(ledger), SHOWN_KEY)]


def find_restored(unrecorded: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `now` that have one of these forms (`find_unrecorded`).

    Their judgments count, although nobody needs to be asked: the ledger must record this, because
    the consensus reads nothing else.
    """
    return now.merge(unrecorded, on=SHOWN_KEY).drop_duplicates(PAIR_KEY)
