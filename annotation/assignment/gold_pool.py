"""The gold that each person can be asked, and which of it comes next."""

import heapq
from collections import Counter, defaultdict
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.assignment.inputs import PlanInputs
from annotation.assignment.pair_states import PairStates
from annotation.quality.gold import CLEAR, join_gold
from annotation.votes.votes import FIRST_VOTES
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
    """What should be open, as `pair, annotator, kind`: the votes, and the checks that stay."""

    votes: pd.DataFrame
    checks: pd.DataFrame


class GoldPool:
    """Gold pairs, who knows them, and how many people each was shown to.

    Nobody gets as gold a pair that they have judged, are being asked or know from elsewhere, nor a
    pair that waits for the votes of everyone who is left.
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
        self._campaign, self._asked = campaign.id, set(asked)
        self._names = list(states.pairs[PAIR_KEY].itertuples(index=False, name=None))
        sources = zip(gold.index.tolist(), gold.tolist(), strict=True)
        self._hard: dict[int, bool] = {pair: source not in CLEAR for pair, source in sources}
        taken = campaign.checks.taken
        taken = taken.assign(pair=states.locate(taken))
        opened = (states.open_tasks, states.open_checks)
        self._seen = group_by_person(states.answered, *opened, *open_tasks, taken)
        self._votes = group_by_person(open_tasks.votes)
        checks = pd.concat([states.checked, open_tasks.checks])
        self._shown = Counter(checks.loc[checks["kind"] == "gold", "pair"].tolist())
        self._needed = _count_needed(states, open_tasks.votes)

    def draw(self, annotator: int, number: int) -> list[int]:
        """Return up to `number` pairs that a person gets as gold now.

        The least shown come first, and pairs of queries that the person is asked about anyway;
        pairs that people could not agree on come last.
        """
        queries = {self._names[pair][0] for pair in self._votes[annotator]}

        def order(pair: int) -> tuple[bool, int, bool, str]:
            name = self._names[pair]
            drawn = rng.draw(self._campaign, "gold", annotator, *name)
            return self._hard[pair], self._shown[pair], name[0] not in queries, drawn

        usable = [pair for pair in self._hard if self._is_usable(annotator, pair)] if number else []
        chosen = heapq.nsmallest(number, usable, key=order)
        self._shown.update(chosen)
        self._seen[annotator].update(chosen)
        return chosen

    def _is_usable(self, annotator: int, pair: int) -> bool:
        if pair in self._seen[annotator]:
            return False
        others = sum(pair not in self._seen[other] for other in self._asked if other != annotator)
        return others >= self._needed.get(pair, 0)


def _count_needed(states: PairStates, votes: pd.DataFrame) -> dict[int, int]:
    """Return how many people must be left who have not seen each waiting pair.

    A second batch that nobody has begun is rarely asked: two votes must stay possible.
    """
    groups, batch = states.pairs["group"], states.pairs["batch"]
    voted = states.answered[states.answered["kind"].isin(tables.VOTING)]
    begun = groups.isin(groups.iloc[[*voted["pair"], *votes["pair"]]])
    likely = ((batch == 1) | states.pairs["extra"] | begun).to_numpy()
    coming = np.bincount(votes["pair"], minlength=len(groups))
    lacking = np.where(likely, ALL_VOTES - states.consensus.scores - coming, FIRST_VOTES) + SPARE
    [waiting] = states.waiting.nonzero()
    return dict(zip(waiting.tolist(), lacking[waiting].tolist(), strict=True))
