"""A campaign's votes and a machine's levels of the pairs that people were shown: pure.

Only judgments of the text and clip that people were last shown count. Levels decided by the lead
are left out of the comparison, because second looks may have led to them.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.machine.leave_one_out import Panel
from annotation.reliability.scores import campaign_scores
from annotation.votes.rule import Rounding
from annotation.votes.votes import NO_LEVEL, Ints, is_in, pair_rows
from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY, select_newest
from pipeline.judges.repeats import settle_machine


class Judged(NamedTuple):
    """The inputs of a campaign's panel, as in `pipeline.core.tables`.

    `pairs` is the ledger, `machine` its judgments.
    """

    pairs: pd.DataFrame
    judgments: pd.DataFrame
    voided: pd.DataFrame
    consensus: pd.DataFrame
    machine: pd.DataFrame


def count_answers(judged: Judged) -> dict[str, Any]:
    """Return what the machine was asked about pairs that people were shown, for JSON."""
    shown = select_newest(judged.pairs)
    answers = judged.machine[is_in(judged.machine, shown, PAIR_KEY)]
    fresh = answers[is_in(answers, shown, SHOWN_KEY)]
    reasons = fresh.loc[fresh["level"].isna(), "reason"]
    return {
        "asked": len(fresh),
        "with_level": int(fresh["level"].notna().sum()),
        "reasons": dict(sorted(Counter(reasons.tolist()).items())),
        "stale": len(answers) - len(fresh),
    }


def build_panel(judged: Judged, clips: pd.DataFrame, rounding: Rounding, batch: int) -> Panel:
    """Return people and machine on the pairs of the consensus, in order; no control yet.

    The first batch has the first `batch` ranks of each query.
    """
    shown = select_newest(judged.pairs)
    table = judged.consensus
    settled = settle_machine(select_fresh(judged))
    row = pair_rows(table, shown)
    query, names = pd.factorize(table["query_id"], sort=True)
    lengths = shown["moment_id"].map(clips.set_index("moment_id")["seconds"])
    rank = shown["rank"].to_numpy("int64")[row]
    return Panel(
        campaign_scores(judged.judgments, shown, judged.voided, table),
        query.astype(np.int64),
        len(names),
        _align_levels(settled, table),
        _levels(table["voted_level"]),
        shown["similarity"].to_numpy("float64")[row],
        rank,
        seconds=lengths.to_numpy("float64")[row],
        rounding=rounding,
        first_batch=rank <= batch,
    )


def select_fresh(judged: Judged) -> pd.DataFrame:
    """Return the machine's judgments of pairs as people were last shown them."""
    return judged.machine[is_in(judged.machine, select_newest(judged.pairs), SHOWN_KEY)]


def _align_levels(settled: pd.DataFrame, table: pd.DataFrame) -> Ints:
    level = np.full(len(table), NO_LEVEL, dtype=np.int64)
    row = pair_rows(settled, table)
    level[row[row >= 0]] = settled["level"].to_numpy("int64")[row >= 0]
    return level


def _levels(levels: pd.Series) -> Ints:
    return np.asarray(levels.astype("Int64").fillna(NO_LEVEL), dtype=np.int64)
