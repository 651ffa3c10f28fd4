"""What a machine's repeats on a pair come to, and which of them are of what people saw."""

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


def settle_repeats(judgments: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each pair with a level: `PAIR_KEY, level`.

    The level is the median of those that its repeats gave; between two levels the higher one.
    """
    given = judgments[judgments["level"].notna()]
    median = given.groupby(PAIR_KEY)["level"].median().astype("float64")
    return median.add(0.5).floordiv(1).astype("int64").reset_index()
