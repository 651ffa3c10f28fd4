"""Every version of every judgment that was ever seen, and which of them is the judgment: pure.

A version of an answer has one state. `stands`: it is on the server now. `replaced`: its annotator
has changed the answer since. `rejected`: its annotator withdrew it. `tampered`: someone else has
changed the answer or its task since. `lost`: it disappeared from the server, which has nothing of
this answer, or (restored from a backup) only an earlier version. `trusted`: it was imported, and
the lead accepted it. Lost and tampered versions count: a person did judge.

Label Studio can rewrite the labels of all answers without a new time or name (`/api/labels/bulk`).
So a version that is not what it was when it was pulled was tampered with.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.answers.judgments import FirstPairs
from annotation.label_studio.keys import PAIR_FIELDS
from annotation.votes.votes import is_in
from pipeline.core import tables

VERSION = ["origin", "updated_at"]
KEY = list(tables.JUDGMENTS.key)
COUNTING = ("stands", "lost", "tampered", "trusted")
STATES = (*COUNTING, "replaced", "rejected")
REFUSED = [*VERSION, "takes_back"]
SAID = ["level", "reason"]


class History(NamedTuple):
    """The table of versions, the judgments among them, and what disappeared since the last pull."""

    versions: pd.DataFrame
    judgments: pd.DataFrame
    vanished: pd.DataFrame

    def keep(self, final: pd.DataFrame) -> "History":
        """Return it with further versions, which stay as they are."""
        versions = pd.concat([final, self.versions]).sort_values([*KEY, *VERSION])
        checked = tables.JUDGMENT_HISTORY.check(versions.reset_index(drop=True))
        return self._replace(versions=checked, judgments=_judgments(checked))


def history(before: pd.DataFrame, current: pd.DataFrame, refused: pd.DataFrame) -> History:
    """Merge the versions seen earlier with what is on the server now.

    `before` is the table of versions; `current` has the same form, with the judgments that are on
    the server now. `refused` has the columns `REFUSED` for every answer that was rejected.
    """
    rewritten = is_in(current, before, VERSION) & ~is_in(current, before, [*VERSION, *SAID])
    none = current.loc[rewritten, VERSION].assign(takes_back="none")
    refused, current = pd.concat([refused, none]), current[~rewritten]
    older = before[~is_in(before, current, VERSION)]
    newest = current.groupby("origin")["updated_at"].max().reindex(older["origin"])
    valid = older["updated_at"] <= newest.set_axis(older.index)
    now = refused.set_index("origin").reindex(older["origin"]).set_axis(older.index)
    refused_now = now["takes_back"].notna() & ~valid
    same = now["updated_at"] == older["updated_at"]
    taken_back = refused_now & (now["takes_back"] == np.where(same, "version", "all"))
    stands = taken_back | (now["takes_back"] == "kept")
    tampered = refused_now & ~stands & older["state"].isin(["stands", "lost"])
    vanished = older["state"].isin(["stands", "tampered"]) & ~valid & ~refused_now
    state = older["state"].mask(valid, "replaced").mask(taken_back, "rejected")
    older = older.assign(state=state.mask(tampered, "tampered").mask(vanished, "lost"))
    versions = pd.concat([older, current]).sort_values([*KEY, *VERSION], ignore_index=True)
    checked = tables.JUDGMENT_HISTORY.check(versions)
    return History(checked, _judgments(checked), older[vanished])


def first_pairs(versions: pd.DataFrame) -> FirstPairs:
    """Return the pair that each answer, by its origin, was for when it was first pulled."""
    first = versions.sort_values("updated_at").drop_duplicates("origin")
    pairs = first[PAIR_FIELDS].itertuples(index=False, name=None)
    return dict(zip(first["origin"], pairs, strict=True))


def _judgments(versions: pd.DataFrame) -> pd.DataFrame:
    """Return each person's newest answer to a pair, as it was shown to them."""
    counting = versions[versions["state"].isin(COUNTING)]
    newest = counting.sort_values(["submitted_at", *VERSION]).drop_duplicates(KEY, keep="last")
    columns = tables.JUDGMENTS.columns
    return tables.JUDGMENTS.check(newest[columns].sort_values(KEY, ignore_index=True))
