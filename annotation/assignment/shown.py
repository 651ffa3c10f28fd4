"""What annotators are shown of each pair, and the hashes that detect changes."""

import pandas as pd

from pipeline.campaign.campaign import load_campaign
from pipeline.campaign.pairs import PAIR_KEY, query_sha
from pipeline.core import tables


def read_pairs_to_judge(batch: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the pool's pairs, as candidates, and those of audit and top-up (`tables.WANTED`).

    In a pilot, both are limited to its queries.
    """
    campaign, candidates = load_campaign(), tables.POOL.read()[tables.CANDIDATES.columns]
    extra = extra_pairs(candidates, tables.AUDIT.read(), tables.TOPUP.read(), batch)
    if campaign is None:
        return candidates, extra
    return campaign.select_asked(candidates), campaign.select_asked(extra)


def join_shown(
    candidates: pd.DataFrame, extra: pd.DataFrame, queries: pd.DataFrame, clips: pd.DataFrame
) -> pd.DataFrame:
    """Return every pair to judge that has a clip, with what is shown of it.

    The columns are those of `candidates`, plus `query, clip, query_sha, clip_sha`.
    """
    pairs = pd.concat([candidates, extra]).drop_duplicates(PAIR_KEY)
    pairs = pairs.merge(queries[["query_id", "query"]], on="query_id")
    pairs = pairs.merge(clips[["moment_id", "clip", "clip_sha"]], on="moment_id")
    return pairs.assign(query_sha=pairs["query"].map(query_sha))


def join_details(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs with the ledger's further columns, from the tables of the pipeline."""
    moments = tables.MOMENTS.read()[["moment_id", "video_id", "start", "end"]]
    captions = tables.CAPTIONS.read()[["moment_id", "caption"]]
    videos = tables.VIDEOS.read()[["video_id", "duration"]]
    whole = pairs.merge(moments, on="moment_id").merge(captions, on="moment_id")
    return whole.merge(videos, on="video_id").sort_values(PAIR_KEY, ignore_index=True)


FIRST_EXTRA = 1001
"""Lower batches are the pool's."""


def extra_pairs(
    candidates: pd.DataFrame, audit: pd.DataFrame, topup: pd.DataFrame, size: int
) -> pd.DataFrame:
    """Return the pairs to judge in addition to batch 1 (`tables.WANTED`), by query and moment.

    Pairs in batch 1 are judged anyway and left out. A candidate of batch 2 keeps its batch: its
    query may never be extended, but this pair is wanted. All others form batches of their own, of
    at most `size` pairs: first those of the audit (`near` and `deep` mixed, in the order of ids, so
    that no batch consists visibly of deep pairs), then those of each run.
    """
    asked = pd.concat([audit.assign(source=0, run=""), topup.assign(source=1, run=topup["origin"])])
    asked = asked.drop_duplicates(PAIR_KEY).drop(columns="origin")
    joined = asked.merge(candidates[[*PAIR_KEY, "batch"]], on=PAIR_KEY, how="left")
    joined["batch"] = joined["batch"].fillna(0).astype("int64")
    extra = joined[joined["batch"] == 0].sort_values(["query_id", "source", "run", "moment_id"])
    extra["part"] = extra.groupby(["query_id", "source", "run"]).cumcount() // size
    number = extra.groupby(["query_id", "source", "run", "part"]).ngroup()
    extra["batch"] = FIRST_EXTRA + number - number.groupby(extra["query_id"]).transform("min")
    rows = pd.concat([joined[joined["batch"] > 1], extra])[tables.WANTED.columns]
    return tables.WANTED.check(rows.sort_values(PAIR_KEY, ignore_index=True))
