"""Which pairs are in the judged pool, and which were judged for the audit alone."""

import pandas as pd

from annotation.pooling.design import REPLACED
from annotation.votes.votes import is_in
from pipeline.campaign.pairs import PAIR_KEY

MOST = 0.5
"""The share of what neither audit nor run asked for, above which a second batch was judged."""


def find_inside(
    candidates: pd.DataFrame, audit: pd.DataFrame, topup: pd.DataFrame, shown: pd.DataFrame
) -> pd.DataFrame:
    """Return the pairs of the pool, as `query_id, moment_id`.

    These are batch 1, top-ups, second batches that were judged, and whatever else people were
    `shown`, for an audit that was replaced, too. A pair that only the audit (`tables.AUDIT`) asked
    for stays outside, whatever its level; once a top-up or a second batch takes it, it is inside.
    """
    own = shown[~is_in(shown, audit[audit["origin"] != REPLACED], PAIR_KEY)]
    second = candidates[candidates["batch"] > 1]
    asked = pd.concat([audit[PAIR_KEY], topup[PAIR_KEY]])
    others = second[~is_in(second, asked, PAIR_KEY)]
    judged = pd.Series(is_in(others, shown, PAIR_KEY), others["query_id"]).groupby(level=0).mean()
    extended = second[second["query_id"].isin(judged.index[judged > MOST])]
    first = candidates[candidates["batch"] == 1]
    pairs = pd.concat([frame[PAIR_KEY] for frame in (first, topup, own, extended)])
    return pairs.drop_duplicates(ignore_index=True)
