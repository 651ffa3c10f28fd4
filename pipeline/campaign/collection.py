"""The collection that is released: queries, pairs with their consensus, and votes."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from momentrank.errors import MomentRankError
from pipeline.campaign import design
from pipeline.campaign.campaign import Campaign
from pipeline.campaign.design import Design
from pipeline.campaign.pairs import ALL_VOTES, PAIR_KEY, select_newest
from pipeline.campaign.pool_steps import (
    CANDIDATES,
    LEARNED,
    add_learned,
    extra_pairs,
    select_learned,
)
from pipeline.campaign.voided import count_withdrawn, drop_voided
from pipeline.core import captions, tables
from pipeline.core.sections import Candidates
from pipeline.core.strata import list_strata

RELEVANT, ANSWERS, PERFECT = 1, 2, 4
"""The lowest level that gains, the lowest of a moment that answers its query, and the highest."""
SETTLED, DECIDED = ("two", "four"), ("adjudicated", "unjudgeable")
"""Outcomes of votes that give a level, and of decisions."""


class ReleaseError(MomentRankError):
    """Something that can't be released as it is."""


class Audit(NamedTuple):
    """What was drawn from outside the pool, of `queries` out of a `population` of queries.

    `pairs` has `query_id, moment_id, part, stratum, size`, and whether a run or a later batch has
    `taken` the pair into the pool since. `part` is `near`, among the `depth` most similar moments,
    or `deep`; `stratum` begins with it. `is_drawn` says whether all of the audit is drawn.
    """

    pairs: pd.DataFrame
    queries: set[str]
    population: int
    depth: int
    is_drawn: bool


@dataclass(frozen=True)
class Collection:
    """How people judged the frozen queries.

    `frozen` are the queries that are judged, one for each text, sorted by query_id. `pairs` are the
    pairs that were shown, each as it was last shown, by pair_id, with `split, level, mean,
    outcome`, the number of its `scores`, its `origin`: candidates, learned, audit, or the run that
    found it, and `second_look`, whether it was decided again although votes had given a level;
    `reported`, whether readers of a release had asked for that.
    `votes` are those that count: `pair_id, worker, level, reason`; `withdrawn` is the number that
    the lead has voided. `runs` are the results of the runs of top-ups (`tables.POOLED_RUNS`).
    `elsewhere` counts the pairs that were shown for any other query. `newest` is when people last
    judged. `learned` is what was expected of learned batches (`tables.POOL`). `audit` is how the
    last audit was drawn; None without one.
    """

    campaign: Campaign | None
    frozen: pd.DataFrame
    pairs: pd.DataFrame
    votes: pd.DataFrame
    runs: pd.DataFrame
    elsewhere: int
    newest: pd.Timestamp | None
    withdrawn: int
    learned: pd.DataFrame = field(default_factory=tables.POOL.empty)
    audit: Audit | None = None

    @cached_property
    def judged(self) -> pd.DataFrame:
        """The pairs with a level, by query and moment: their order says nothing of the ranks."""
        ordered = self.pairs.sort_values(PAIR_KEY, ignore_index=True)
        return ordered[ordered["level"].notna()].astype({"level": "int64"})

    @cached_property
    def queries(self) -> pd.DataFrame:
        """The queries with at least one moment that has a level: the ones to search for."""
        return self.frozen[self.frozen["query_id"].isin(self.judged["query_id"])]

    @cached_property
    def negatives(self) -> list[str]:
        """The queries of which all that was shown is decided, and nothing answers; by id."""
        highest = self.judged.groupby("query_id")["level"].max()
        waiting = self.pairs.loc[self.pairs["outcome"] == "waiting", "query_id"]
        return sorted(highest.index[highest < ANSWERS].difference(pd.Index(waiting)))

    @cached_property
    def strata(self) -> list[str]:
        """The strata of the judged queries, captions first; empty if there is only one."""
        return list_strata(self.queries)

    def select(self, stratum: str) -> "Collection":
        """Return what people judged for the queries of a stratum; it has no audit."""
        frozen = self.frozen[self.frozen["stratum"] == stratum]
        pairs, runs, learned = (
            rows[rows["query_id"].isin(frozen["query_id"])]
            for rows in (self.pairs, self.runs, self.learned)
        )
        votes = self.votes[self.votes["pair_id"].isin(pairs["pair_id"])]
        part = replace(self, frozen=frozen, pairs=pairs, votes=votes, runs=runs)
        return replace(part, learned=learned, audit=None)

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
            "pairs_reported": int(self.pairs["reported"].sum()),
            "pairs_reported_changed": int((self.pairs["reported"] & self.changed).sum()),
            "pairs_given_up": max(int(given_up.sum()), left),
            "pairs_of_other_queries": self.elsewhere,
            "votes": int(self.votes["level"].notna().sum()),
            "votes_without_level": int(self.votes["level"].isna().sum()),
            "votes_withdrawn": self.withdrawn,
        }

    @property
    def changed(self) -> "pd.Series[bool]":
        """Which pairs have another level, or none, since a second look."""
        levels = self.pairs["level"].fillna(-1), self.pairs["voted_level"].fillna(-1)
        return self.pairs["second_look"] & (levels[0] != levels[1])

    @property
    def complete(self) -> bool:
        """Whether judging is complete: the campaign is closed, and nothing was left unjudged."""
        left = ("queries_never_shown", "pairs_waiting", "pairs_given_up")
        return self.status == "closed" and not any(self.counts[name] for name in left)


class CollectionTables(NamedTuple):
    """The tables that a release is made of.

    `votes` are the ones that count; `judgments` are all that were made, some of which the lead has
    `voided`. `audit`, `topup` (with what was learned) and `runs` are what was judged besides the
    candidates: ranks up to `batch`, and up to `top` for queries that were extended.
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
    learned: pd.DataFrame
    batch: int
    top: int
    audit_strata: pd.DataFrame
    design: Design | None
    second_look: pd.DataFrame

    @classmethod
    def read(cls, candidates: Candidates) -> "CollectionTables":
        """Read them in the current folder."""
        pool = tables.POOL.read()
        return cls(
            tables.FROZEN_QUERIES.read(),
            tables.PAIRS.read(),
            tables.CONSENSUS.read(),
            tables.COUNTED_VOTES.read(),
            tables.JUDGMENTS.read(),
            tables.VOIDED.read(),
            tables.AUDIT.read(),
            add_learned(tables.TOPUP.read(), pool),
            tables.POOLED_RUNS.read(),
            select_learned(pool),
            candidates.batch,
            candidates.top,
            tables.AUDIT_STRATA.read_or_empty(),
            design.find(),
            tables.SECOND_LOOK.read(),
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
    reported = source.second_look[source.second_look["origin"] == tables.REPORTED]
    is_reported = pd.MultiIndex.from_frame(pairs[PAIR_KEY]).isin(
        pd.MultiIndex.from_frame(reported[PAIR_KEY])
    )
    pairs["reported"] = pairs["second_look"] & is_reported
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
        learned=source.learned,
        audit=_describe_audit(source),
    )


def _describe_audit(source: CollectionTables) -> Audit | None:
    """Return how the audit was drawn; None without one of this version."""
    plan = source.design
    if plan is None:
        return None
    drawn = source.audit[source.audit["origin"].isin(("near", "deep"))]
    pairs = drawn[[*PAIR_KEY, "origin"]].rename(columns={"origin": "part"})
    pairs = pairs.merge(source.audit_strata, on=PAIR_KEY, how="left", validate="one_to_one")
    if pairs["stratum"].isna().any():
        raise ReleaseError(
            f"{tables.AUDIT_STRATA.path}: lacks pairs of {tables.AUDIT.path}: restore the file as"
            " it was committed"
        )
    pairs["stratum"] = pairs["part"] + " " + pairs["stratum"]
    taken = pd.MultiIndex.from_frame(source.topup[PAIR_KEY])
    pairs["taken"] = pd.MultiIndex.from_frame(pairs[PAIR_KEY]).isin(taken)
    queries = {*pairs["query_id"], *plan.whole}
    return Audit(pairs, queries, plan.queries, plan.depth, len(queries) >= plan.drawn)


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
    """Return how many moments of level `lowest` or higher each query has.

    Only pairs with a level count, and none from an audit or a run, which cover only some queries.
    """
    counted = judged["origin"].isin((CANDIDATES, LEARNED)) & (judged["level"] >= lowest)
    return counted.groupby(judged["query_id"]).sum()
