"""What annotators are shown of each pair, and the hashes by which a change of it is known."""

import pandas as pd

from annotation.pooling.extra import with_extra
from pipeline.campaign.pairs import PAIR, query_sha
from pipeline.core import tables


def to_judge(batch: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the candidates, and what audit and top-up ask for besides (`tables.WANTED`)."""
    candidates = tables.CANDIDATES.read()
    return candidates, with_extra(candidates, tables.AUDIT.read(), tables.TOPUP.read(), batch)


def showing(
    candidates: pd.DataFrame, extra: pd.DataFrame, queries: pd.DataFrame, clips: pd.DataFrame
) -> pd.DataFrame:
    """Return every pair to judge that has a clip, with what is shown of it.

    To the columns of `candidates` come `query, clip, query_sha, clip_sha`.
    """
    pairs = pd.concat([candidates, extra]).drop_duplicates(PAIR)
    pairs = pairs.merge(queries[["query_id", "query"]], on="query_id")
    pairs = pairs.merge(clips[["moment_id", "clip", "clip_sha"]], on="moment_id")
    return pairs.assign(query_sha=pairs["query"].map(query_sha))


def details(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return pairs with what the ledger says of them besides, from the tables of the pipeline."""
    moments = tables.MOMENTS.read()[["moment_id", "video_id", "start", "end"]]
    captions = tables.CAPTIONS.read()[["moment_id", "caption"]]
    videos = tables.VIDEOS.read()[["video_id", "duration"]]
    whole = pairs.merge(moments, on="moment_id").merge(captions, on="moment_id")
    return whole.merge(videos, on="video_id").sort_values(PAIR, ignore_index=True)
