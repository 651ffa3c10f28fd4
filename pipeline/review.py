"""What people decide about captions: `datasets/campaign/review.csv`, a line per moment.

The column `caption` holds the wording that is to be used, or the word `drop`. Decisions are
committed and win over whatever rewriting says.
"""

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline import tables

DROP = "drop"


class ReviewError(MomentRankError):
    """A decision about a moment that is not there."""


def decide(captions: pd.DataFrame, decisions: pd.DataFrame) -> pd.DataFrame:
    """Return the captions with people's decisions put in; `moment_id` is the key of both.

    A decided wording has the source `review`, no scores, and the status `reviewed`; a dropped
    moment keeps its last caption, with the status `dropped`.

    Raises:
        ReviewError: a decision names a moment that the corpus does not have.
    """
    unknown = decisions[~decisions["moment_id"].isin(captions["moment_id"])]
    if len(unknown):
        raise ReviewError(
            f"{tables.REVIEW.path}: there is no moment {unknown['moment_id'].iloc[0]!r};"
            " remove the line"
        )
    decided = dict(zip(decisions["moment_id"], decisions["caption"], strict=True))
    wording = captions["moment_id"].map(decided).astype(object)
    dropped = wording.map(_is_drop)
    worded = wording.notna() & ~dropped
    result = captions.assign(
        caption=captions["caption"].mask(worded, wording),
        source=captions["source"].mask(worded, "review"),
        status=captions["status"].mask(worded, "reviewed").mask(dropped, "dropped"),
    )
    result.loc[worded, ["model", "prompt", "similarity", "name_score"]] = None
    return result


def _is_drop(decision: object) -> bool:
    return isinstance(decision, str) and decision.strip().casefold() == DROP


def for_review(captions: pd.DataFrame, moments: pd.DataFrame, failed: pd.DataFrame) -> pd.DataFrame:
    """Return what people should look at: repaired captions and those that still fail.

    `failed` says of each such moment which check it failed last and with which score:
    `moment_id, check, score`.
    """
    listed = captions[captions["status"].isin(["repaired", "failed"])]
    joined = listed.merge(moments[["moment_id", "description"]], on="moment_id")
    joined = joined.merge(failed, on="moment_id", how="left")
    columns = ["moment_id", "status", "check", "score", "description", "caption"]
    return joined[columns].sort_values(["status", "moment_id"], ignore_index=True)
