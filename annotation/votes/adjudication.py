"""The decisions of the lead or an expert on pairs that votes could not settle: pure.

A decision is about a pair as it was shown: once its query or clip has changed, the decision is
stale and no longer counts. A decision that the pair can't be judged leaves it without a level.
"""

import pandas as pd

from annotation.votes.votes import is_in, pair_rows
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.core import tables


def fresh_decisions(adjudications: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Return the decisions on pairs as they were last shown (`shown`, as `SHOWN_KEY`)."""
    return adjudications[is_in(adjudications, shown, SHOWN_KEY)].reset_index(drop=True)


def adjudicate(voted: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Return a consensus (`tables.CONSENSUS`) with the decisions on its pairs applied.

    `voted_level` and `voted_outcome` keep the result of the votes. Decided pairs have no mean.
    `decisions` are fresh.
    """
    row = pair_rows(decisions, voted)
    decided = decisions[row >= 0].set_index(voted.index[row[row >= 0]])
    rows = voted.copy()
    rows.loc[decided.index, "level"] = decided["level"]
    rows.loc[decided.index, "mean"] = float("nan")
    judged = decided["level"].notna()
    rows.loc[decided.index, "outcome"] = judged.map({True: "adjudicated", False: "unjudgeable"})
    return tables.CONSENSUS.check(rows)
