"""Hidden checks: gold pairs and repeated pairs, mixed into what people judge.

Over all that a person is given, they make up the shares of `CheckInputs`. They come with new
votes, never alone; checks that could not be given in time come later, at most at twice the pace.
When they come, and which pair, is drawn by hashes: equal tables, equal checks. Open checks stay.
"""

import heapq
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from math import floor
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.assignment.allocation import PERSON
from annotation.assignment.gold_pool import GoldPool, OpenTasks, find_gold, group_by_person
from annotation.assignment.inputs import PlanInputs
from annotation.assignment.pair_states import ASSIGNMENT, PairStates
from annotation.assignment.quotas import Quota
from annotation.votes.votes import is_in, select_counting
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import rng, tables

CATCH_UP = 2
"""How much denser than their share checks may come while some are owed."""
GOLD, REPEAT = tables.CHECKS


class Stream(NamedTuple):
    """What one person was given: earlier votes, new votes, and tasks that are already waiting."""

    before: int
    new: int
    waiting: int


class Checks(NamedTuple):
    """The checks that should be open, as `pair, annotator, kind`, and the available gold.

    `gold` counts the pairs, `unusable` those of known level that can't be shown; `without_gold`
    are people who should get more than is available.
    """

    wanted: pd.DataFrame
    gold: int
    unusable: int
    without_gold: list[int]


class HiddenChecks:
    """The hidden checks of everyone who may be asked: which stay open, and which are new."""

    def __init__(
        self, states: PairStates, campaign: PlanInputs, asked: Mapping[int, Quota]
    ) -> None:
        self._states, self._campaign, self._asked = states, campaign, asked
        self._gold = find_gold(states, campaign)

    @cached_property
    def _voted(self) -> pd.DataFrame:
        return _votes_with_level(self._states, self._campaign)

    def keep(self) -> pd.DataFrame:
        """Return the open checks to keep: of people who may be asked, if they are still checks."""
        rows = self._states.open_checks.drop_duplicates(ASSIGNMENT)
        if rows.empty:
            return rows
        late, seen = group_by_person(self._states.overdue), group_by_person(self._states.answered)
        voted = group_by_person(self._voted)
        again = group_by_person(_of_kind(self._states.checked, REPEAT))
        gold = set(self._gold.index)

        def stays(pair: int, annotator: int, kind: str) -> bool:
            if annotator not in self._asked or pair in late[annotator]:
                return False
            if kind == REPEAT:
                return pair in voted[annotator] and pair not in again[annotator]
            return pair in gold and pair not in seen[annotator]

        marks = [stays(*row) for row in rows.itertuples(index=False, name=None)]
        return rows[np.array(marks, dtype=bool)]

    def add(self, votes: pd.DataFrame, remaining: pd.DataFrame) -> Checks:
        """Return the `remaining` checks, and the new ones that are due with `votes`.

        Both are as `pair, annotator, kind`: the votes that should be open, and the open checks
        that stay.
        """
        rows, without = self._draw(votes, remaining)
        new = pd.DataFrame(rows, columns=ASSIGNMENT).astype(remaining.dtypes.to_dict())
        wanted = pd.concat([remaining, new], ignore_index=True)
        gold, pairs = len(self._gold), self._campaign.checks.known[PAIR_KEY].drop_duplicates()
        return Checks(wanted, gold, len(pairs) - gold, without)

    def _draw(
        self, votes: pd.DataFrame, remaining: pd.DataFrame
    ) -> tuple[list[tuple[int, int, str]], list[int]]:
        """Return the new checks as rows, and who should get more gold than is available."""
        states, campaign, asked = self._states, self._campaign, self._asked
        if campaign.checks.gold + campaign.checks.repeats == 0:
            return [], []
        pool = GoldPool(states, campaign, asked, self._gold, OpenTasks(votes, remaining))
        streams = _streams(states, votes, remaining)
        past = pd.concat([states.checked, remaining])
        had = Counter(zip(past["annotator"].tolist(), past["kind"].tolist(), strict=True))
        repeats = _Repeats(states, campaign, self._voted, past, streams)
        rows: list[tuple[int, int, str]] = []
        without = []
        for annotator in sorted(streams.keys() & set(asked)):
            room = (
                floor(asked[annotator].most) - streams[annotator].waiting - streams[annotator].new
            )
            due = {
                kind: _count_due(
                    campaign, annotator, kind, streams[annotator], had[annotator, kind]
                )
                for kind in (GOLD, REPEAT)
            }
            gold = pool.draw(annotator, max(0, min(due[GOLD], room)))
            again = repeats.draw(annotator, max(0, min(due[REPEAT], room - len(gold))))
            rows += [(pair, annotator, GOLD) for pair in gold] + [
                (pair, annotator, REPEAT) for pair in again
            ]
            if len(gold) < min(due[GOLD], room):
                without.append(annotator)
        return rows, without


def _streams(
    states: PairStates, votes: pd.DataFrame, remaining: pd.DataFrame
) -> Mapping[int, Stream]:
    """Return the streams of everyone with an open vote."""
    voted = states.answered["kind"].isin(tables.VOTING)
    judged = Counter(states.answered.loc[voted, "annotator"].tolist())
    old = is_in(votes, states.open_tasks, PERSON)
    waiting, new = (Counter(votes.loc[of, "annotator"].tolist()) for of in (old, ~old))
    checks = Counter(remaining["annotator"].tolist())
    return {
        annotator: Stream(
            judged[annotator] + waiting[annotator],
            new[annotator],
            waiting[annotator] + checks[annotator],
        )
        for annotator in sorted(set(votes["annotator"].tolist()))
    }


def _count_due(campaign: PlanInputs, annotator: int, kind: str, stream: Stream, had: int) -> int:
    """Return how many checks of a kind come with the new votes: never more than owed."""
    rate = campaign.checks.per_vote(kind)
    owed = floor(rate * (stream.before + stream.new) + 1e-9) - had
    ends = (stream.before, stream.before + stream.new)
    begin, end = (_count_moments(rate * CATCH_UP, at, campaign.id, kind, annotator) for at in ends)
    return max(0, min(owed, end - begin))


def _count_moments(rate: float, votes: int, *whose: object) -> int:
    """Return how many check moments fall in a person's first votes: `rate` per vote, drawn."""
    last = floor(rate * votes)
    drawn = int(rng.draw(*whose, last)[:8], 16) / 16**8
    return last + (last + drawn < rate * votes)


class _Repeats:
    """What people can be asked again: what they judged long enough ago, with a level."""

    def __init__(
        self,
        states: PairStates,
        campaign: PlanInputs,
        votes: pd.DataFrame,
        past: pd.DataFrame,
        streams: Mapping[int, Stream],
    ) -> None:
        self._campaign = campaign.id
        self._names = states.pairs[PAIR_KEY]
        waiting = votes["annotator"].map(
            {annotator: stream.waiting for annotator, stream in streams.items()}
        )
        ripe = votes[votes["later"] + waiting.fillna(0) >= campaign.checks.gap]
        consumed = campaign.consumed_slots.assign(pair=states.locate(campaign.consumed_slots))
        again = group_by_person(_of_kind(past, REPEAT), consumed)
        self._ripe = {
            annotator: pairs - again[annotator]
            for annotator, pairs in group_by_person(ripe).items()
        }

    def draw(self, annotator: int, number: int) -> list[int]:
        """Return up to `number` pairs to ask a person again now."""

        def order(pair: int) -> str:
            return rng.draw(self._campaign, REPEAT, annotator, *self._names.iloc[pair])

        return heapq.nsmallest(number, self._ripe.get(annotator, ()) if number else (), key=order)


def _votes_with_level(states: PairStates, campaign: PlanInputs) -> pd.DataFrame:
    """Return the votes with a level that count, as `pair, annotator, later`.

    `later` is how many answers of any kind their annotators have given since.
    """
    ordered = campaign.judgments.sort_values(["submitted_at", "origin"])
    later = ordered.groupby("annotator").cumcount(ascending=False)
    counting = select_counting(ordered.assign(later=later), campaign.shown, campaign.voided)
    judged = counting[counting["level"].notna()]
    judged = judged.assign(pair=states.locate(judged))
    return judged.loc[judged["pair"] >= 0, ["pair", "annotator", "later"]]


def _of_kind(checks: pd.DataFrame, kind: str) -> pd.DataFrame:
    return checks[checks["kind"] == kind]
