"""What a reopened campaign keeps of its release: the base of its next version.

`datasets/campaign/released/VERSION/` has the small files of the release as they were published.
"""

from pathlib import Path

import pandas as pd

from pipeline.campaign.campaign import Campaign
from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY, select_newest
from pipeline.core import csv_files, tables

BASES = tables.CAMPAIGN / "released"


def find_base(campaign: Campaign | None) -> Path | None:
    """Return the folder of the release before the newest reopening; None without one."""
    return BASES / campaign.reopenings[-1].version if campaign and campaign.reopenings else None


def keep_shown(shown: pd.DataFrame, ledger: pd.DataFrame, base: Path) -> pd.DataFrame:
    """Return what is shown of each pair (`SHOWN_KEY`), with what was judged as it was shown then.

    A pair with a level in the release keeps its votes though its video has changed, and a pair
    without a clip here, such as in a clone without the corpus, is what it was.

    Raises:
        FileError: the base's table of levels is missing, or not one.
    """
    levels = csv_files.read_csv(base / "consensus.csv", ["pair_id", "level"])
    levels = levels.dropna(subset="level")
    last = select_newest(ledger)
    now = pd.MultiIndex.from_frame(shown[PAIR_KEY])
    has_level = last["pair_id"].isin(levels["pair_id"].astype("int64"))
    kept = last.loc[has_level | ~pd.MultiIndex.from_frame(last[PAIR_KEY]).isin(now), SHOWN_KEY]
    others = shown[~now.isin(pd.MultiIndex.from_frame(kept[PAIR_KEY]))]
    return pd.concat([others, kept], ignore_index=True)
