"""Every version of every judgment that was ever seen, and which of them is the judgment: pure.

A version of an answer `stands` as it is on the server now; it was `replaced` by a later version
of the same answer; its answer is now `rejected`; or it is `lost`: it went away from the server,
which has nothing of this answer, or (restored from a backup) only what was said before.
What was lost still counts: a person did judge.
"""

from typing import NamedTuple

import pandas as pd

from pipeline import tables

VERSION = ["origin", "updated_at"]
KEY = list(tables.JUDGMENTS.key)
COUNTING = ("stands", "lost")


class History(NamedTuple):
    """The table of versions, the judgments among them, and what went away since the last time."""

    versions: pd.DataFrame
    judgments: pd.DataFrame
    vanished: pd.DataFrame


def history(before: pd.DataFrame, found: pd.DataFrame, refused: pd.Series) -> History:
    """Bring what was known together with what is on the server now.

    `before` is the table of versions, `found` has its columns without `state`, and holds the
    judgments that are on the server now; `refused` are the origins of all that was rejected.
    """
    now = found.assign(state="stands")
    seen = pd.MultiIndex.from_frame(now[VERSION])
    older = before[~pd.MultiIndex.from_frame(before[VERSION]).isin(seen)]
    newest = found.groupby("origin")["updated_at"].max().reindex(older["origin"])
    valid = older["updated_at"] <= newest.set_axis(older.index)
    rejected = older["origin"].isin(set(refused)) & ~valid
    vanished = (older["state"] == "stands") & ~valid & ~rejected
    state = older["state"].mask(valid, "replaced").mask(rejected, "rejected")
    older = older.assign(state=state.mask(vanished, "lost"))
    versions = pd.concat([older, now]).sort_values([*KEY, *VERSION], ignore_index=True)
    checked = tables.JUDGMENT_HISTORY.check(versions)
    return History(checked, _judgments(checked), older[vanished])


def _judgments(versions: pd.DataFrame) -> pd.DataFrame:
    """Return each person's newest answer to a pair, as it was shown to them."""
    counting = versions[versions["state"].isin(COUNTING)]
    newest = counting.sort_values(["submitted_at", *VERSION]).drop_duplicates(KEY, keep="last")
    columns = tables.JUDGMENTS.columns
    return tables.JUDGMENTS.check(newest[columns].sort_values(KEY, ignore_index=True))
