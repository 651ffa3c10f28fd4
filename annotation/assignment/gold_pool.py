"""The gold that each person can be asked, and which of it comes next."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from math import floor
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.assignment.inputs import PlanInputs
from annotation.assignment.pair_states import PairStates
from annotation.quality.gold import CLEAR, join_gold
from annotation.votes.votes import FIRST_VOTES, Bools, is_in
from pipeline.campaign.pairs import ALL_VOTES, PAIR_KEY, SHOWN_KEY
from pipeline.core import rng, tables

SPARE = 1
"""How many people must be left for a waiting pair, beyond those whose votes it may need."""

Pairs = dict[int, set[int]]
"""Rows of `PairStates.pairs`, by person."""


def group_by_person(*frames: pd.DataFrame) -> Pairs:
    """Return the pairs of rows with `pair, annotator`, by person."""
    pairs: Pairs = defaultdict(set)
    for frame in frames:
        for pair, annotator in zip(
            frame["pair"].tolist(), frame["annotator"].tolist(), strict=True
        ):
            pairs[annotator].add(pair)
    return pairs


def find_gold(states: PairStates, campaign: PlanInputs) -> pd.Series:
    """Return the source of each known level, by row of the pairs, for pairs with a clip."""
    if campaign.checks.known.empty:
        return pd.Series(dtype="str")
    pairs = states.pairs[PAIR_KEY].merge(campaign.shown[SHOWN_KEY], on=PAIR_KEY, how="left")
    source = join_gold(pairs, campaign.checks.known)["source"].set_axis(states.pairs.index)
    return source[states.clip].dropna()


class OpenTasks(NamedTuple):
    """What should be open, as `pair, annotator, kind`: votes, some of them `old`, and checks."""

    votes: pd.DataFrame
    old: pd.DataFrame
    checks: pd.DataFrame

    @property
    def new(self) -> Bools:
        """Mark the votes that are not `old`."""
        return ~is_in(self.votes, self.old, ["pair", "annotator"])


class Seat(NamedTuple):
    """A gold pair, and the new vote of the same query that it replaces: often on the same pair."""

    gold: int
    vote: int


class GoldPool:
    """Gold pairs, who knows them, and how many people each was shown to.

    Gold replaces a new vote of its query, so that neither query nor number tells it. Nobody gets
    as gold a pair that they have judged, were being asked or know from elsewhere, nor a pair that
    waits for the votes of everyone who is left. Pairs that people could not agree on come last.
    """

    def __init__(
        self,
        states: PairStates,
        campaign: PlanInputs,
        asked: Collection[int],
        gold: pd.Series,
        open_tasks: OpenTasks,
    ) -> None:
        """Take who may be asked, the available gold (`find_gold`), and what should be open."""
        rate = campaign.checks.per_vote("gold")
        self._campaign, self._share = campaign.id, rate / (1 + rate)
        self._asked = set(asked)
        self._names = list(states.pairs[PAIR_KEY].itertuples(index=False, name=None))
        self._batches = states.pairs["group"].tolist()
        sources = zip(gold.index.tolist(), gold.tolist(), strict=True)
        self._hard: dict[int, bool] = {pair: source not in CLEAR for pair, source in sources}
        self._of_query: dict[str, list[int]] = defaultdict(list)
        for pair in self._hard:
            self._of_query[self._names[pair][0]].append(pair)
        taken = campaign.checks.taken
        taken = taken.assign(pair=states.locate(taken))
        self._new = group_by_person(open_tasks.votes[open_tasks.new])
        opened = (states.open_tasks, states.open_checks, open_tasks.old, open_tasks.checks)
        self._seen = group_by_person(states.answered, *opened, taken)
        checks = pd.concat([states.checked, open_tasks.checks])
        self._shown = Counter(checks.loc[checks["kind"] == "gold", "pair"].tolist())
        certain = bool(campaign.rule.learned)
        self._needed = _count_needed(states, open_tasks.votes, certain=certain)

    def draw(self, annotator: int) -> Iterator[Seat]:
        """Yield the pairs that a person gets as gold now, and what they replace."""
        votes_of: dict[str, list[int]] = defaultdict(list)
        for vote in sorted(self._new[annotator]):
            votes_of[self._names[vote][0]].append(vote)
        for query, votes in votes_of.items():
            yield from self._draw_for(annotator, query, votes)

    def _draw_for(self, annotator: int, query: str, votes: list[int]) -> Iterator[Seat]:
        """Yield a query's gold: the share of its new votes, rounded up or down by a draw.

        So each vote is as likely to be replaced, however many the query has and whenever it comes.
        """
        rounding = rng.fraction(self._campaign, "seats", annotator, query, *votes)
        number = floor(self._share * len(votes) + rounding)
        usable = [pair for pair in self._of_query[query] if self._is_usable(annotator, pair)]
        batches = {self._batches[vote] for vote in votes}
        usable.sort(key=lambda pair: self._rank(annotator, pair, batches))
        gold = usable[:number]
        others = sorted(
            set(votes) - set(gold), key=lambda vote: self._draw("vote", annotator, vote)
        )
        for pair in gold:
            vote = pair if pair in votes else others.pop()
            self._shown[pair] += 1
            self._seen[annotator].add(pair)
            self._new[annotator].remove(vote)
            if vote in self._needed:
                self._needed[vote] += 1
            yield Seat(pair, vote)

    def _rank(
        self, annotator: int, pair: int, batches: Collection[int]
    ) -> tuple[bool, bool, int, str]:
        """Sort a query's gold: what is not of these batches is left for when its own comes."""
        drawn = self._draw("gold", annotator, pair)
        return self._hard[pair], self._batches[pair] not in batches, self._shown[pair], drawn

    def _draw(self, purpose: str, annotator: int, pair: int) -> str:
        return rng.draw(self._campaign, purpose, annotator, *self._names[pair])

    def _is_usable(self, annotator: int, pair: int) -> bool:
        if pair in self._seen[annotator]:
            return False
        others = sum(
            pair not in self._seen[other] and pair not in self._new[other]
            for other in self._asked
            if other != annotator
        )
        return others >= self._needed.get(pair, 0) + (pair in self._new[annotator])


def _count_needed(states: PairStates, votes: pd.DataFrame, *, certain: bool) -> dict[int, int]:
    """Return how many people must be left who have not seen each waiting pair.

    A second batch that nobody has begun is rarely asked: two votes must stay possible. What was
    learned is `certain` to be asked.
    """
    groups, batch = states.pairs["group"], states.pairs["batch"]
    voted = states.answered[states.answered["kind"].isin(tables.VOTING)]
    begun = groups.isin(groups.iloc[[*voted["pair"], *votes["pair"]]])
    likely = ((batch == 1) | states.pairs["extra"] | begun).to_numpy() | certain
    coming = np.bincount(votes["pair"], minlength=len(groups))
    lacking = np.where(likely, ALL_VOTES - states.consensus.scores - coming, FIRST_VOTES) + SPARE
    [waiting] = states.waiting.nonzero()
    return dict(zip(waiting.tolist(), lacking[waiting].tolist(), strict=True))
