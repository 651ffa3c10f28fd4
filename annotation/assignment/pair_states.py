"""The state of each pair: who saw it, its consensus so far, and how many votes are missing."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.assignment.inputs import PlanInputs
from annotation.votes import votes
from annotation.votes.adjudication import fresh_decisions
from annotation.votes.rule import Consensus, decide
from annotation.votes.votes import FIRST_VOTES, Bools, Ints
from pipeline.campaign.pairs import ALL_VOTES, PAIR_KEY
from pipeline.core import captions, tables

ASSIGNMENT = ["pair", "annotator", "kind"]
_NOBODY = pd.DataFrame({"pair": [], "annotator": [], "kind": []}).astype(
    {"pair": "int64", "annotator": "int64", "kind": "str"}
)


class PairStates(NamedTuple):
    """The pairs of distinct queries in order, and the state of each, row by row.

    `keys` is the index of `pairs` by query and moment; `same` maps every query to the one that is
    judged for it. `group` in `pairs` numbers the batches of all queries: the same people judge all
    pairs of a group. `extra` there marks the pairs of audit and top-up, including candidates of
    batch 2. `answered` and `open_tasks` are answers and open tasks as `pair, annotator, kind`: a
    row of `pairs` and a person; `overdue` are those that nobody took in time. `answered` includes
    answers that don't count: nobody is asked the same pair again. `outcome` is that of the
    consensus, unless the pair was adjudicated.
    """

    pairs: pd.DataFrame
    keys: pd.MultiIndex
    same: dict[str, str]
    clip: Bools
    consensus: Consensus
    answered: pd.DataFrame
    open_tasks: pd.DataFrame
    checked: pd.DataFrame
    open_checks: pd.DataFrame
    overdue: pd.DataFrame
    outcome: npt.NDArray[np.str_]

    def locate(self, frame: pd.DataFrame) -> Ints:
        """Return for each row of `frame` the row of its pair, or -1."""
        return votes.pair_rows(_one_query(frame, self.same), self.keys)

    @property
    def waiting(self) -> Bools:
        """Mark the pairs that people can and should still judge; adjudicated ones are decided."""
        waiting: Bools = self.clip & (self.outcome == "waiting")
        return waiting

    @property
    def missing(self) -> Ints:
        """Return how many votes each waiting pair lacks, if all future ones have a level."""
        scores = self.consensus.scores
        whole = np.where(scores >= FIRST_VOTES, ALL_VOTES, FIRST_VOTES)
        return np.where(self.waiting, whole - scores, 0)

    @property
    def escalated(self) -> Bools:
        """Mark the pairs whose first two levels are too far apart."""
        apart: Bools = (self.consensus.scores >= FIRST_VOTES) & (self.consensus.outcome != "two")
        return apart


def judged_queries(queries: pd.DataFrame) -> dict[str, str]:
    """Return for each query_id the smallest query_id with equal text."""
    ordered = queries.sort_values("query_id")
    smallest = ordered.groupby(captions.text_key(ordered["query"]))["query_id"].transform("first")
    return dict(zip(ordered["query_id"], smallest, strict=True))


def find_pair_states(campaign: PlanInputs, *, closed: bool = False) -> PairStates:
    """Return the state of each pair; in a `closed` campaign, waiting pairs are discarded."""
    same = judged_queries(campaign.queries)
    pairs = _pairs(campaign.candidates, campaign.extra, same)
    index = pd.MultiIndex.from_frame(pairs[PAIR_KEY])
    fresh = votes.select_counting(campaign.judgments, campaign.shown, campaign.voided)
    counting = votes.select_votes(_one_query(fresh, same), index)
    votes_open = campaign.open_tasks["kind"].isin(tables.VOTING)
    checked = campaign.judgments[~campaign.judgments["kind"].isin(tables.VOTING)]
    rounding = campaign.rule.rounding
    votes_given = counting.pair, counting.level, len(pairs)
    consensus = decide(*votes_given, closed=closed, rounding=rounding)
    return PairStates(
        pairs,
        index,
        same,
        clip=pairs["moment_id"].isin(list(campaign.clips)).to_numpy(),
        consensus=consensus,
        answered=_assignments(_one_query(_answers(campaign), same), index),
        open_tasks=_assignments(_one_query(campaign.open_tasks[votes_open], same), index),
        checked=_assignments(_one_query(checked, same), index),
        open_checks=_assignments(_one_query(campaign.open_tasks[~votes_open], same), index),
        overdue=_assignments(_one_query(campaign.overdue, same), index),
        outcome=_adjudicated(campaign, pairs, consensus),
    )


def _adjudicated(
    campaign: PlanInputs, pairs: pd.DataFrame, consensus: Consensus
) -> npt.NDArray[np.str_]:
    decisions = fresh_decisions(campaign.adjudications, campaign.shown)
    row = votes.pair_rows(decisions, pairs)
    outcome = consensus.outcome.astype(object)
    decided = np.where(decisions["level"].notna(), "adjudicated", "unjudgeable")
    outcome[row[row >= 0]] = decided[row >= 0]
    return outcome.astype(np.str_)


def _answers(campaign: PlanInputs) -> pd.DataFrame:
    columns = tables.ASSIGNMENTS.columns
    both = pd.concat([campaign.judgments[columns], campaign.consumed_slots[columns]])
    voting = both["kind"].isin(tables.VOTING)
    votes_first = pd.concat([both[voting], both[~voting]])
    return votes_first.drop_duplicates([*PAIR_KEY, "annotator"])


def _pairs(candidates: pd.DataFrame, extra: pd.DataFrame, same: Mapping[str, str]) -> pd.DataFrame:
    wanted = pd.concat([candidates, extra]).drop_duplicates(PAIR_KEY)
    judged = wanted["query_id"] == _one_query(wanted, same)["query_id"]
    pairs = wanted[judged].sort_values(["query_id", "batch", "moment_id"], ignore_index=True)
    return pairs.assign(
        group=pairs.groupby(["query_id", "batch"]).ngroup(),
        extra=votes.pair_rows(pairs, extra) >= 0,
    )


def _one_query(frame: pd.DataFrame, same: Mapping[str, str]) -> pd.DataFrame:
    if all(query == query_id for query, query_id in same.items()):  # as in most campaigns
        return frame
    query_id = frame["query_id"].map(same)
    return frame.assign(query_id=query_id.where(query_id.notna(), frame["query_id"]))


def _assignments(frame: pd.DataFrame, index: pd.MultiIndex) -> pd.DataFrame:
    if frame.empty:
        return _NOBODY.copy()
    rows = frame.assign(pair=votes.pair_rows(frame, index))[ASSIGNMENT]
    return rows[rows["pair"] >= 0]
