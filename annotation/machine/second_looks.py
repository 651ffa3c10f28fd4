"""Pairs for a second look: a confident machine is far from people, or it is not, as a control.

The machine chooses pairs here, and so could shape people's levels. Whoever decides therefore sees
neither level, nor which pairs are doubted; as many pairs that nobody doubts are among them; and
only a machine in which no fault was found gets to choose. Levels and remark are told afterwards.
"""

from typing import Any

import pandas as pd

from annotation.reliability.scores import number
from annotation.votes.votes import is_in
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import rng, tables

FILE = tables.WORK / "lead" / "second_looks.csv"
NOTE = "by calibration"
"""The note of these pairs in `tables.SECOND_LOOK`; it does not tell controls from others."""
SURE = 0.25
"""The maximum distance of a confident machine's expected level from its level."""
DOUBTED, CONTROL = "doubted", "control"
TOLD = ["why", "voted_level", "scores", "machine", "expected", "remark"]
"""What is told once a pair is decided."""
COLUMNS = [*PAIR_KEY, "query", "video_id", "start", "end", "clip", "decided", *TOLD]


def is_confident(machine: pd.DataFrame) -> "pd.Series[bool]":
    """Mark the levels a machine is sure of: all repeats agree, or the expected level is near.

    `machine` has `levels`, how many levels a pair got, `span`, how far apart they are, and
    `expected`, null if the machine does not report it. A single level, without an expected one,
    does not show how sure it is.
    """
    agree = (machine["levels"] > 1) & (machine["span"] == 0)
    near = (machine["expected"] - machine["level"]).abs() <= SURE
    return (agree | near) & (machine["span"] == 0)


def list_second_looks(
    pairs: pd.DataFrame, machine: pd.DataFrame, own: pd.DataFrame, difference: int
) -> pd.DataFrame:
    """Return the pairs to look at as `COLUMNS`, in random order; `TOLD` is null until decided.

    `pairs` are those with a level by votes (`query_id, moment_id, voted_level, scores, query,
    video_id, start, end, clip`, and `decided`: the level after the second look, `unjudgeable`, or
    null). `machine` has one row per pair (see `is_confident`, and its `remark`). Sure levels that
    are `difference` or more apart are doubted. Controls are nearer, except the lead's `own` doubts.
    """
    sure = machine.assign(sure=is_confident(machine)).rename(columns={"level": "machine"})
    both = pairs.merge(sure, on=PAIR_KEY)
    keys = zip(both["query_id"], both["moment_id"], strict=True)
    both = both.assign(drawn=[rng.draw("second look", *key) for key in keys]).sort_values("drawn")
    near = (both["machine"] - both["voted_level"]).abs() < difference
    doubted = both[~near & both["sure"]].assign(why=DOUBTED)
    controls = both[near & ~is_in(both, own, PAIR_KEY)].head(len(doubted)).assign(why=CONTROL)
    rows = pd.concat([doubted, controls]).sort_values("drawn", ignore_index=True)
    rows["scores"] = [" ".join(map(str, levels)) for levels in rows["scores"]]
    rows[TOLD] = rows[TOLD].astype("object").mask(rows["decided"].isna())
    return rows[COLUMNS]


def summarize_decided(looks: pd.DataFrame) -> dict[str, Any]:
    """Return for `doubted` and `control` how many are decided, and changed by that, for JSON.

    `mean_change` is the mean of the new level minus the voted one, null without any.
    """
    figures = {}
    for why in (DOUBTED, CONTROL):
        rows = looks[looks["why"] == why]
        change = pd.to_numeric(rows["decided"], errors="coerce") - rows["voted_level"].astype(float)
        figures[why] = {
            "decided": len(rows),
            "changed": int((change != 0).sum()),
            "mean_change": number(change.mean()),
        }
    return figures
