"""What audit and top-up add to a campaign: pairs that are judged besides the candidates."""

import pandas as pd

from pipeline.campaign.pairs import PAIR
from pipeline.core import tables

FIRST_EXTRA = 3
"""Batches 1 and 2 are the candidates'."""


def with_extra(
    candidates: pd.DataFrame, audit: pd.DataFrame, topup: pd.DataFrame, size: int
) -> pd.DataFrame:
    """Return the pairs to judge besides batch 1 (`tables.WANTED`), sorted by query and moment.

    What is in batch 1 is judged anyway and left out. A candidate of batch 2 keeps its batch:
    its query may never be extended, but this pair is wanted. All others form batches from 3
    on, of at most `size` pairs; the audit's own (`top` and `random` mixed, in the order of ids,
    so that no batch gives itself away as one of strangers), then each run's.
    """
    asked = pd.concat([audit.assign(source=0, run=""), topup.assign(source=1, run=topup["origin"])])
    asked = asked.drop_duplicates(PAIR).drop(columns="origin")
    known = asked.merge(candidates[[*PAIR, "batch"]], on=PAIR, how="left")
    known["batch"] = known["batch"].fillna(0).astype("int64")
    own = known[known["batch"] == 0].sort_values(["query_id", "source", "run", "moment_id"])
    own["part"] = own.groupby(["query_id", "source", "run"]).cumcount() // size
    number = own.groupby(["query_id", "source", "run", "part"]).ngroup()
    own["batch"] = FIRST_EXTRA + number - number.groupby(own["query_id"]).transform("min")
    rows = pd.concat([known[known["batch"] > 1], own])[tables.WANTED.columns]
    return tables.WANTED.check(rows.sort_values(PAIR, ignore_index=True))
