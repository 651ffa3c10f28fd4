"""Hidden checks: gold, repeated and link pairs, mixed into what people judge.

Over all that a person is given, gold and repeats make up the shares of `CheckInputs`. They come
with new votes, never alone. Gold replaces new votes of the same queries, which go to others: there
they look as gold would. Repeats that could not be given in time come later, at most at twice the
pace. When they come, and which pair, is drawn by hashes: equal tables, equal checks. Open checks
stay. Links (`links`) come before votes, and in place of none.
"""

import heapq
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from math import floor
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.assignment.gold_pool import GoldPool, OpenTasks, find_gold, group_by_person
from annotation.assignment.inputs import PlanInputs
from annotation.assignment.links import Links
from annotation.assignment.pair_states import ASSIGNMENT, PairStates
from annotation.assignment.quotas import Quota
from annotation.votes.votes import select_counting
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import rng, tables

CATCH_UP = 2
"""How much denser than their share repeats may come while some are owed."""
GOLD, REPEAT, LINK = tables.CHECKS


class Stream(NamedTuple):
    """What one person was given: earlier votes, new votes, and tasks that are already waiting."""

    before: int
    new: int
    waiting: int


class Checks(NamedTuple):
    """The checks that should be open, as `pair, annotator, kind`, and the available gold.

    `gold` counts the pairs, `unusable` those of known level that can't be shown; `without_gold`
    are people who have had less than half of the gold that they should: too few pairs of the
    queries that they judge are gold. `links` has `Links.counts`.
    """

    wanted: pd.DataFrame
    gold: int
    unusable: int
    without_gold: list[int]
    links: dict[str, int]


class HiddenChecks:
    """The hidden checks of everyone who may be asked: which stay open, and which are new."""

    def __init__(
        self, states: PairStates, campaign: PlanInputs, asked: Mapping[int, Quota]
    ) -> None:
        self._states, self._campaign, self._asked = states, campaign, asked
        self._gold = find_gold(states, campaign)
        self._links = Links(states, campaign, asked)

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
        gold, links = set(self._gold.index), set(self._links.pairs)

        def stays(pair: int, annotator: int, kind: str) -> bool:
            if annotator not in self._asked or pair in late[annotator]:
                return False
            if kind == REPEAT:
                return pair in voted[annotator] and pair not in again[annotator]
            if kind == LINK and annotator not in self._links.people:
                return False
            return pair in (links if kind == LINK else gold) and pair not in seen[annotator]

        marks = [stays(*row) for row in rows.itertuples(index=False, name=None)]
        return rows[np.array(marks, dtype=bool)]

    def add_links(self, remaining: pd.DataFrame) -> pd.DataFrame:
        """Return the open checks that `remain`, and the links that people get now."""
        return pd.concat([remaining, _frame(self._links.draw(remaining))], ignore_index=True)

    def draw_gold(
        self, votes: pd.DataFrame, old: pd.DataFrame, checks: pd.DataFrame
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the gold that comes with the `votes` that are not `old`, and what it replaces.

        All are as `pair, annotator, kind`: votes and `checks` that should be open, if there is no
        more gold.
        """
        campaign, open_tasks = self._campaign, OpenTasks(votes, old, checks)
        if campaign.checks.gold == 0 or self._gold.empty:
            return checks[:0], votes[:0]
        pool = GoldPool(self._states, campaign, self._asked, self._gold, open_tasks)
        gold: list[tuple[int, int, str]] = []
        replaced: list[tuple[int, int, str]] = []
        for annotator in self._asked:
            for seat in pool.draw(annotator):
                gold.append((seat.gold, annotator, GOLD))
                replaced.append((seat.vote, annotator, "first"))
        return _frame(gold), _frame(replaced)

    def add_repeats(
        self, votes: pd.DataFrame, remaining: pd.DataFrame, checks: pd.DataFrame
    ) -> Checks:
        """Return `checks` with the repeats that are due with new votes.

        All are as `pair, annotator, kind`: the votes and checks that should be open, and the open
        ones that `remain`.
        """
        campaign, states = self._campaign, self._states
        streams = self._streams(OpenTasks(votes, states.open_tasks, remaining))
        had, gold = self._count_had(remaining, REPEAT), self._count_had(checks, GOLD)
        past = pd.concat([states.checked, remaining])
        repeats = _Repeats(states, campaign, self._voted, past, streams)
        tasks = Counter(pd.concat([votes, checks])["annotator"].tolist())
        rows: list[tuple[int, int, str]] = []
        without = []
        for annotator, stream in streams.items():
            room = floor(self._asked[annotator].most) - tasks[annotator]
            due = _count_due(campaign, annotator, stream, had[annotator])
            pairs = repeats.draw(annotator, max(0, min(due, room)))
            rows += [(pair, annotator, REPEAT) for pair in pairs]
            wanted = floor(campaign.checks.per_vote(GOLD) * (stream.before + stream.new))
            if 2 * gold[annotator] < wanted - 1:
                without.append(annotator)
        known = campaign.checks.known[PAIR_KEY].drop_duplicates()
        wanted_checks = pd.concat([checks, _frame(rows)], ignore_index=True)
        unusable = len(known) - len(self._gold)
        return Checks(wanted_checks, len(self._gold), unusable, without, self._links.counts)

    def _count_had(self, checks: pd.DataFrame, kind: str) -> Counter[int]:
        past = _of_kind(pd.concat([self._states.checked, checks]), kind)
        return Counter(past["annotator"].tolist())

    def _streams(self, open_tasks: OpenTasks) -> Mapping[int, Stream]:
        """Return the streams of everyone with an open vote."""
        answered, votes = self._states.answered, open_tasks.votes
        voted = answered["kind"].isin(tables.VOTING)
        judged = Counter(answered.loc[voted, "annotator"].tolist())
        new = open_tasks.new
        waiting, coming = (Counter(votes.loc[of, "annotator"].tolist()) for of in (~new, new))
        checks = Counter(open_tasks.checks["annotator"].tolist())
        return {
            annotator: Stream(
                judged[annotator] + waiting[annotator],
                coming[annotator],
                waiting[annotator] + checks[annotator],
            )
            for annotator in sorted(set(votes["annotator"].tolist()) & set(self._asked))
        }


def _frame(rows: list[tuple[int, int, str]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=ASSIGNMENT)
    return frame.astype({"pair": "int64", "annotator": "int64", "kind": "str"})


def _count_due(campaign: PlanInputs, annotator: int, stream: Stream, had: int) -> int:
    """Return how many repeats come with the new votes: never more than owed."""
    rate = campaign.checks.per_vote(REPEAT)
    ends = (stream.before, stream.before + stream.new)
    begin, end = (_count_moments(rate * CATCH_UP, at, campaign.id, annotator) for at in ends)
    return max(0, min(floor(rate * ends[1] + 1e-9) - had, end - begin))


def _count_moments(rate: float, votes: int, campaign: str, annotator: int) -> int:
    """Return how many repeats' moments fall in a person's first votes: `rate` per vote, drawn."""
    last = floor(rate * votes)
    return last + (last + rng.fraction(campaign, REPEAT, annotator, last) < rate * votes)


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
