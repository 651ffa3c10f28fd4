"""The ledger of what was really shown: append-only, a number for each pair, for ever."""

import pandas as pd

from annotation.votes import SHOWN
from pipeline import tables


def appended(ledger: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Return the ledger with a row for what in `shown` it lacks; old rows stay as they are.

    `shown` has the ledger's columns without `pair_id`. A pair whose text or clip has changed
    since is shown anew, under a new number.
    """
    ordered = shown.drop_duplicates(SHOWN).sort_values(["query_id", "rank", "moment_id"])
    known = pd.MultiIndex.from_frame(ledger[SHOWN])
    new = ordered[~pd.MultiIndex.from_frame(ordered[SHOWN]).isin(known)]
    first = 0 if ledger.empty else int(ledger["pair_id"].max()) + 1
    numbered = new.assign(pair_id=range(first, first + len(new)))[ledger.columns]
    return tables.PAIRS.check(pd.concat([ledger, numbered], ignore_index=True))
