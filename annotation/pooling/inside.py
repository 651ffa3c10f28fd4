"""Which pairs are in the judged pool, and which were judged for the audit alone."""

import pandas as pd

from annotation.votes.votes import Bools, is_in
from pipeline.campaign.design import REPLACED
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables

MOST = 0.5
"""The share of what neither audit nor run asked for, above which a second batch was judged."""


def find_inside(
    pool: pd.DataFrame, audit: pd.DataFrame, topup: pd.DataFrame, shown: pd.DataFrame
) -> pd.DataFrame:
    """Return the pairs of the pool, as `query_id, moment_id`.

    These are batch 1, learned batches that people were shown, top-ups, second batches that were
    judged, and whatever else people were `shown`, for an audit that was replaced, too. A pair that
    only the audit (`tables.AUDIT`) asked for stays outside, whatever its level; once a top-up or a
    second batch takes it, it is inside.
    """
    own = shown[~is_in(shown, audit[audit["origin"] != REPLACED], PAIR_KEY)]
    by_similarity = pool["channel"] == "similarity"
    second = pool[(pool["batch"] > 1) & by_similarity]
    asked = pd.concat([audit[PAIR_KEY], topup[PAIR_KEY]])
    others = second[~is_in(second, asked, PAIR_KEY)]
    judged = pd.Series(is_in(others, shown, PAIR_KEY), others["query_id"]).groupby(level=0).mean()
    extended = second[second["query_id"].isin(judged.index[judged > MOST])]
    first = pool[(pool["batch"] == 1) | _is_begun(pool, asked, shown)]
    pairs = pd.concat([frame[PAIR_KEY] for frame in (first, topup, own, extended)])
    return pairs.drop_duplicates(ignore_index=True)


def read_inside() -> pd.DataFrame:
    """Return the pairs of this checkout's pool; what was shown and waits is not yet in it."""
    shown = tables.CONSENSUS.read()
    decided = shown[shown["outcome"] != "waiting"]
    return find_inside(tables.POOL.read(), tables.AUDIT.read(), tables.TOPUP.read(), decided)


def _is_begun(pool: pd.DataFrame, asked: pd.DataFrame, shown: pd.DataFrame) -> Bools:
    """Mark learned batches of which anything was shown that neither audit nor run asked for."""
    own = (pool["channel"] != "similarity") & ~is_in(pool, asked, PAIR_KEY)
    seen = pd.Series(own & is_in(pool, shown, PAIR_KEY), pool.index)
    begun: Bools = seen.groupby([pool["query_id"], pool["batch"]]).transform("any").to_numpy()
    return begun
