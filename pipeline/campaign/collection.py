"""The collection that is released: queries, pairs with their consensus, and votes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.campaign.campaign import Campaign
from pipeline.campaign.pairs import ALL_VOTES, PAIR_KEY, select_newest
from pipeline.campaign.pool_steps import CANDIDATES, extra_pairs
from pipeline.campaign.voided import count_withdrawn, drop_voided
from pipeline.core import captions, tables
from pipeline.core.sections import Candidates

RELEVANT, PERFECT = 1, 4
SETTLED, DECIDED = ("two", "four"), ("adjudicated", "unjudgeable")
"""Outcomes of votes that give a level, and of decisions."""


class ReleaseError(MomentRankError):
    """Something that can't be released as it is."""


@dataclass(frozen=True)
class Collection:
    """How people judged the frozen queries.

    `frozen` are the queries that are judged, one for each text, sorted by query_id. `pairs` are
    the pairs that were shown, each as it was last shown, by pair_id, with `split, level, mean,
    outcome`, the number of its `scores`, its `origin`: candidates, audit, or the run that found
    it, and `second_look`, whether it was decided again although votes had given a level. `votes`
    are those that count: `pair_id, worker, level, reason`; `withdrawn` is the number that the lead
    has voided. `runs` are the results of the runs of top-ups (`tables.POOLED_RUNS`). `elsewhere`
    counts the pairs that were shown for any other query. `newest` is when
    people last judged.
    """

    campaign: Campaign | None
    frozen: pd.DataFrame
    pairs: pd.DataFrame
    votes: pd.DataFrame
    runs: pd.DataFrame
    elsewhere: int
    newest: pd.Timestamp | None
    withdrawn: int

    @cached_property
    def judged(self) -> pd.DataFrame:
        """The pairs with a level, by query and moment: their order says nothing of the ranks."""
        ordered = self.pairs.sort_values(PAIR_KEY, ignore_index=True)
        return ordered[ordered["level"].notna()].astype({"level": "int64"})

    @cached_property
    def queries(self) -> pd.DataFrame:
        """The queries with at least one moment that has a level: the ones to search for."""
        return self.frozen[self.frozen["query_id"].isin(self.judged["query_id"])]

    @property
    def rehearsal(self) -> bool:
        """Whether judgments may be simulated."""
        return self.campaign is not None and self.campaign.rehearsal

    @property
    def status(self) -> str:
        """The campaign's status: `not opened`, `open` or `closed`."""
        if self.campaign is None:
            return "not opened"
        return "closed" if self.campaign.closed else "open"

    @property
    def date(self) -> str | None:
        """The day (UTC) on which it was closed, or else that of the newest judgment."""
        if self.campaign and self.campaign.closed_at:
            return self.campaign.closed_at[:10]
        return None if self.newest is None else str(self.newest.date())

    @cached_property
    def counts(self) -> dict[str, Any]:
        """The progress of judging, in numbers.

        `given_up` are discarded pairs that never got their four levels, and those that nobody was
        ever shown.
        """
        outcome = self.pairs["outcome"]
        given_up = (outcome == "discarded") & (self.pairs["scores"] != ALL_VOTES)
        left = 0 if self.campaign is None else self.campaign.given_up
        never = ~self.frozen["query_id"].isin(self.pairs["query_id"])
        return {
            "campaign": self.status,
            "queries": len(self.frozen),
            "queries_never_shown": int(never.sum()),
            "queries_without_level": len(self.frozen) - len(self.queries),
            "pairs": len(self.pairs),
            "pairs_with_level": len(self.judged),
            **{f"pairs_{name}": int((outcome == name).sum()) for name in tables.OUTCOMES},
            "pairs_second_look": int(self.pairs["second_look"].sum()),
            "pairs_given_up": max(int(given_up.sum()), left),
            "pairs_of_other_queries": self.elsewhere,
            "votes": int(self.votes["level"].notna().sum()),
            "votes_without_level": int(self.votes["level"].isna().sum()),
            "votes_withdrawn": self.withdrawn,
        }

    @property
    def complete(self) -> bool:
        """Whether judging is complete: the campaign is closed, and nothing was left unjudged."""
        left = ("queries_never_shown", "pairs_waiting", "pairs_given_up")
        return self.status == "closed" and not any(self.counts[name] for name in left)


class CollectionTables(NamedTuple):
    """The tables that a release is made of.

    `votes` are the ones that count; `judgments` are all that were made, some of which the lead has
    `voided`. `audit`, `topup` and `runs` are what was judged besides the candidates, which are
    ranks up to `batch`, and up to `top` for queries that were extended.
    """

    queries: pd.DataFrame
    pairs: pd.DataFrame
    consensus: pd.DataFrame
    votes: pd.DataFrame
    judgments: pd.DataFrame
    voided: pd.DataFrame
    audit: pd.DataFrame
    topup: pd.DataFrame
    runs: pd.DataFrame
    batch: int
    top: int

    @classmethod
    def read(cls, candidates: Candidates) -> "CollectionTables":
        """Read them in the current folder."""
        return cls(
            tables.FROZEN_QUERIES.read(),
            tables.PAIRS.read(),
            tables.CONSENSUS.read(),
            tables.COUNTED_VOTES.read(),
            tables.JUDGMENTS.read(),
            tables.VOIDED.read(),
            tables.AUDIT.read(),
            tables.TOPUP.read(),
            tables.POOLED_RUNS.read(),
            candidates.batch,
            candidates.top,
        )


def collect(campaign: Campaign | None, source: CollectionTables) -> Collection:
    """Assemble what is released.

    Raises:
        ReleaseError: a validation and a test query have the same text, or the consensus is for
            other pairs.
    """
    queries = source.queries if campaign is None else campaign.select_kept(source.queries)
    captions.refuse_shared_texts(queries, tables.FROZEN_QUERIES.path)
    frozen = select_distinct_texts(queries)
    shown = select_newest(source.pairs)
    by_split = shown.merge(frozen[["query_id", "split"]], on="query_id").sort_values("pair_id")
    consensus = source.consensus.assign(scores=source.consensus["scores"].map(len))
    pairs = by_split.merge(consensus, on=PAIR_KEY, how="left", validate="one_to_one")
    extra = extra_pairs(source.audit, source.topup, pairs, source.batch, source.top)
    pairs = pairs.merge(extra, on=PAIR_KEY, how="left", validate="one_to_one")
    pairs["origin"] = pairs["origin"].fillna(CANDIDATES)
    pairs["second_look"] = is_decided_again(pairs)
    if pairs["outcome"].isna().any():
        raise ReleaseError(
            f"{tables.CONSENSUS.path}: lacks pairs of {tables.PAIRS.path}: dvc repro consensus"
        )
    counted = source.votes[source.votes["pair_id"].isin(pairs["pair_id"])]
    ordered = counted.sort_values(["pair_id", "annotator"], ignore_index=True)
    votes = ordered.rename(columns={"annotator": "worker"})
    return Collection(
        campaign,
        frozen,
        pairs.reset_index(drop=True),
        votes,
        source.runs,
        elsewhere=len(shown) - len(by_split),
        newest=_find_newest(source),
        withdrawn=_count_withdrawn(campaign, source),
    )


def is_decided_again(consensus: pd.DataFrame) -> "pd.Series[bool]":
    """Mark the pairs with a level by votes that a second look decided again, changed or not."""
    return consensus["voted_outcome"].isin(SETTLED) & consensus["outcome"].isin(DECIDED)


def _find_newest(source: CollectionTables) -> pd.Timestamp | None:
    newest = drop_voided(source.judgments, source.voided)["submitted_at"].max()
    return None if pd.isna(newest) else newest


def _count_withdrawn(campaign: Campaign | None, source: CollectionTables) -> int:
    """Return the number of voided votes, except those of a pilot that was not taken over."""
    judgments = source.judgments
    selected = judgments if campaign is None else campaign.select_kept(judgments)
    return sum(count_withdrawn(selected, source.voided).values())


def select_distinct_texts(queries: pd.DataFrame) -> pd.DataFrame:
    """Return the queries that are judged: of those with equal texts, the smallest query_id."""
    ordered = queries.sort_values("query_id")
    return ordered[~captions.text_key(ordered["query"]).duplicated()].reset_index(drop=True)


def per_query(judged: pd.DataFrame, lowest: int = RELEVANT) -> pd.Series:
    """Return how many candidates of level `lowest` or higher each query has.

    Only pairs with a level count, and none from an audit or a run, which cover only some queries.
    """
    counted = (judged["origin"] == CANDIDATES) & (judged["level"] >= lowest)
    return counted.groupby(judged["query_id"]).sum()
