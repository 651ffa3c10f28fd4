"""Pairs worth a second look: people agree, but a confident machine is far away.

Either may be wrong. Nothing changes automatically: the lead looks, and may have a pair adjudicated.
"""

import shlex

import pandas as pd

from annotation.votes.votes import is_in
from pipeline.campaign.pairs import PAIR_KEY

SURE = 0.25
"""The maximum distance of a confident machine's expected level from its level."""
COLUMNS = [
    *PAIR_KEY,
    *("query", "video_id", "start", "end", "level", "scores", "machine", "expected"),
    *("apart", "remark", "clip", "adjudicate"),
]


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
    pairs: pd.DataFrame, machine: pd.DataFrame, settled: pd.DataFrame, difference: int
) -> pd.DataFrame:
    """Return the pairs to look at as `COLUMNS`, the farthest apart first.

    `pairs` are those with a consensus (`query_id, moment_id, level, scores, query, video_id, start,
    end, clip`), `machine` has one row per pair (see `is_confident`, and its `remark`). `settled`
    pairs, listed for a second look or adjudicated, are left out. `adjudicate` is the command that
    has the lead decide in Label Studio.
    """
    sure = machine.loc[is_confident(machine), [*PAIR_KEY, "level", "expected", "remark"]]
    both = pairs.merge(sure.rename(columns={"level": "machine"}), on=PAIR_KEY)
    both = both[~is_in(both, settled, PAIR_KEY)]
    apart = (both["machine"] - both["level"]).abs()
    rows = both.assign(apart=apart)[apart >= difference]
    commands = [
        _command(query, moment, int(people), int(level))
        for query, moment, people, level in zip(
            rows["query_id"], rows["moment_id"], rows["level"], rows["machine"], strict=True
        )
    ]
    scores = [" ".join(map(str, levels)) for levels in rows["scores"]]
    rows = rows.assign(adjudicate=pd.Series(commands, rows.index, dtype="str"), scores=scores)
    return rows.sort_values(["apart", *PAIR_KEY], ascending=[False, True, True])[
        COLUMNS
    ].reset_index(drop=True)


def _command(query: str, moment: str, people: int, machine: int) -> str:
    note = f"people {people}, machine {machine}"
    words = ["python", "-m", "annotation.adjudicate", "--pair", query, moment]
    return shlex.join([*words, "--note", note])
