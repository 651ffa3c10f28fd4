"""What a machine's repeats on a pair come to, and which of them are of what people saw."""

import numpy as np
import pandas as pd

from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY, select_newest


def drop_stale(judgments: pd.DataFrame, ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the judgments without those of another text or clip than people were last shown.

    Pairs that no person was shown have no such text: their judgments stay.
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

    `levels` is how many repeats gave one, and `span` how far they lie apart. Their median is the
    `level`, between two levels the higher one; `expected` is the mean, null where one is not known.
    """
    given = machine[machine["level"].notna()].sort_values([*PAIR_KEY, "repeat"])
    by = given.groupby(PAIR_KEY, sort=True)
    expected = by["expected"]
    known = expected.count() == by.size()
    rows = pd.DataFrame(
        {
            "level": np.ceil(by["level"].median().astype("float64")).astype("int64"),
            "levels": by.size(),
            "span": (by["level"].max() - by["level"].min()).astype("int64"),
            "expected": expected.mean().where(known),
            "remark": by["remark"].first(),
        }
    )
    return rows.reset_index()
