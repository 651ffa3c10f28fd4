"""This checkout's pool: what people have said of it, and what there is to choose from."""

from typing import NamedTuple

import pandas as pd

from annotation.pooling.channels import score_ranks
from annotation.pooling.kept_channels import read_admitted
from annotation.pooling.learned_pool import Limits, Source
from annotation.votes.adjudication import adjudicate, fresh_decisions
from annotation.votes.campaign_votes import consensus
from annotation.votes.votes import last_shown
from momentrank.errors import MomentRankError
from pipeline.campaign.campaign import Campaign
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables
from pipeline.core.params import Params
from pipeline.retrieval.embeddings import Embeddings


class PoolError(MomentRankError):
    """A pool that can't be continued as it is."""


class Answered(NamedTuple):
    """What people have said of the pairs that the campaign keeps, and what they were shown."""

    judgments: pd.DataFrame
    adjudications: pd.DataFrame
    ledger: pd.DataFrame
    voided: pd.DataFrame

    @classmethod
    def read(cls, campaign: Campaign) -> "Answered":
        """Return them all."""
        kept = tables.JUDGMENTS, tables.ADJUDICATIONS, tables.PAIRS
        judgments, adjudications, ledger = (campaign.select_kept(table.read()) for table in kept)
        return cls(judgments, adjudications, ledger, tables.VOIDED.read())

    def until(self, instant: pd.Timestamp) -> "Answered":
        """Return those of an earlier time."""
        judgments, adjudications = (
            rows[rows["submitted_at"] <= instant] for rows in (self.judgments, self.adjudications)
        )
        return self._replace(judgments=judgments, adjudications=adjudications)

    def newest(self) -> str:
        """Return when the newest was given (UTC)."""
        instants = pd.concat([self.judgments["submitted_at"], self.adjudications["submitted_at"]])
        return str(instants.max().isoformat())

    def judge(self, pool: pd.DataFrame, params: Params) -> pd.DataFrame:
        """Return the pool with the `level` of each pair, and whether it still `waits` for people.

        A pair that can't be shown, for want of a clip, waits for nobody.
        """
        rounding = params.consensus.rounding
        voted = consensus(self.judgments, self.ledger, self.voided, closed=False, rounding=rounding)
        decided = adjudicate(voted, fresh_decisions(self.adjudications, last_shown(self.ledger)))
        rows = pool.merge(decided[[*PAIR_KEY, "level", "outcome"]], on=PAIR_KEY, how="left")
        failed = tables.FAILED_CLIPS.read_or_empty()["moment_id"]
        left = rows["outcome"].fillna("waiting") == "waiting"
        waits = left & ~rows["moment_id"].isin(failed)
        return rows.assign(waits=waits).drop(columns="outcome")


def read_source(moments: pd.Series, depth: int) -> Source:
    """Return what can be chosen from; `moments` are those in the pool.

    Raises:
        EmbeddingsError: a caption has not been embedded.
        ChannelError: a channel is not as it was admitted.
        PoolError: a moment has no caption.
    """
    neighbours, embedded = tables.NEIGHBOURS.read(), Embeddings.open()
    channels = {
        name: listed.assign(
            score=score_ranks(listed["rank"].to_numpy("float64"), depth), rank=depth + 1
        )
        for name, listed in read_admitted().items()
    }
    captions = tables.CAPTIONS.read().set_index("moment_id")["caption"]
    listed = (frame["moment_id"] for frame in channels.values())
    needed = pd.concat([neighbours["moment_id"], moments, *listed]).unique()
    if (gone := ~pd.Index(needed).isin(captions.index)).any():
        raise PoolError(
            f"{tables.CAPTIONS.path}: the moment {needed[gone][0]!r} of {tables.NEIGHBOURS.path} or"
            f" {tables.POOL.path} has no caption: dvc repro"
        )
    texts = captions.loc[needed]
    rows = pd.Series(embedded.rows(texts), texts.index)
    return Source(neighbours, embedded.vectors, rows, channels)


def limits(params: Params) -> Limits:
    """Return how large a learned batch and a pool may be."""
    return Limits(params.pool.learned_batch, params.candidates.top, params.candidates.min_yield)
