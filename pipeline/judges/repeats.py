"""A machine's repeats on a pair: which concern what people saw, and the level they amount to."""

import numpy as np
import pandas as pd

from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY, select_newest


def drop_stale(judgments: pd.DataFrame, ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments without those on a text or clip other than people were last shown.

    Judgments of pairs that people were never shown stay.
    """
    shown = select_newest(ledger)[SHOWN_KEY]
    keyed = judgments[PAIR_KEY].merge(shown, on=PAIR_KEY, how="left")
    same = [
        (keyed[name].isna() | (keyed[name] == judgments[name].to_numpy())).to_numpy()
        for name in ("query_sha", "clip_sha")
    ]
    return judgments[same[0] & same[1]]


def settle_machine(machine: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each pair with a level: `PAIR_KEY, level, levels, span, expected, remark`.

    `levels` is how many repeats gave a level, and `span` their range. `level` is their median, the
    higher one if it is between two; `expected` is the mean, null if any is unknown.
    """
    answered = machine[machine["level"].notna()].sort_values([*PAIR_KEY, "repeat"])
    by = answered.groupby(PAIR_KEY, sort=True)
    expected = by["expected"]
    complete = expected.count() == by.size()
    rows = pd.DataFrame(
        {
            "level": np.ceil(by["level"].median().astype("float64")).astype("int64"),
            "levels": by.size(),
            "span": (by["level"].max() - by["level"].min()).astype("int64"),
            "expected": expected.mean().where(complete),
            "remark": by["remark"].first(),
        }
    )
    return rows.reset_index()
