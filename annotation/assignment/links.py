"""Link judgments: decided pairs that new people judge again in a reopened campaign.

They tell how far new people's votes lie from the old ones (`reliability.drift`), and are never
votes. Which pairs is drawn by hashes within each level: equal tables, equal links.
"""

from collections import Counter
from collections.abc import Mapping
from math import ceil

import numpy as np
import pandas as pd

from annotation.assignment.gold_pool import group_by_person
from annotation.assignment.inputs import PlanInputs
from annotation.assignment.pair_states import PairStates
from annotation.assignment.quotas import Quota
from annotation.votes.votes import FIRST_VOTES
from pipeline.campaign.campaign import parse_instant
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import rng
from pipeline.core.tables import LINK, VOTING

LEAST = 10
"""Pairs of each level that are asked at least, where it has them: so rare levels are present, and
fifty pairs can tell half a level."""
PART = 4
"""At most one in so many tasks that a person may have open is a link."""


class Links:
    """The `pairs` to judge again, in order, and the new `people` who may be asked.

    A new person has given no vote before the newest reopening. A pair is asked if its votes decided
    its level before then and what they showed, clip included, is still there.
    """

    def __init__(
        self, states: PairStates, campaign: PlanInputs, asked: Mapping[int, Quota]
    ) -> None:
        self._states, self._campaign = states, campaign
        self._answered = campaign.valid[:0]
        self.pairs: list[int] = []
        self.people: dict[int, Quota] = {}
        if campaign.reopenings and campaign.checks.link:
            since = parse_instant(campaign.reopenings[-1].at)
            later = campaign.valid[campaign.valid["submitted_at"] >= since]
            votes = campaign.judgments[campaign.judgments["kind"].isin(VOTING)]
            voters = set(votes.loc[votes["submitted_at"] < since, "annotator"])
            self._answered = later[later["kind"] == LINK]
            self.pairs = self._draw_pairs(later[later["kind"].isin(VOTING)])
            self.people = {who: quota for who, quota in asked.items() if who not in voters}

    @property
    def counts(self) -> dict[str, int]:
        """How many pairs are asked, and of how many new people; and the judgments made."""
        sizes = len(self.pairs), len(self.people), len(self._answered)
        return dict(zip(("pairs", "people", "made"), sizes, strict=True))

    def _draw_pairs(self, later: pd.DataFrame) -> list[int]:
        """Return the rows of a share of each level's pairs, without those voted on `later`."""
        states = self._states
        usable = states.clip & np.isin(states.outcome, ("two", "four"))
        located = states.locate(later)
        usable[located[located >= 0]] = False
        names = list(states.pairs[PAIR_KEY].itertuples(index=False, name=None))
        rows = sorted(usable.nonzero()[0].tolist(), key=lambda row: self._draw(*names[row]))
        level = states.consensus.level[rows]
        share = self._campaign.checks.link
        number = np.array([max(LEAST, ceil(share * pairs)) for pairs in np.bincount(level)])
        nth = pd.Series(level).groupby(level).cumcount()
        return np.array(rows)[nth < number[level]].tolist() if rows else []

    def draw(self, checks: pd.DataFrame) -> list[tuple[int, int, str]]:
        """Return what new people are asked, as `pair, annotator, kind`, beside the open `checks`.

        A pair goes to those with most room; as many judge it as give its first votes.
        """
        states, taken = self._states, self._campaign.checks.taken
        known = taken.assign(pair=states.locate(taken))
        opened = (states.open_tasks, states.open_checks, states.overdue)
        seen = group_by_person(states.answered, *opened, known)
        links = checks[checks["kind"] == LINK]
        load = Counter(links["annotator"].tolist())
        had = Counter([*states.locate(self._answered).tolist(), *links["pair"].tolist()])
        room = {
            who: 0 if quota.idle else ceil(quota.most / PART) - load[who]
            for who, quota in self.people.items()
        }
        rows: list[tuple[int, int, str]] = []
        for pair in self.pairs:
            free = [who for who in room if room[who] > 0 and pair not in seen[who]]
            order = sorted(free, key=lambda who: (-room[who], self._draw(who, pair)))
            for who in order[: max(0, FIRST_VOTES - had[pair])]:
                room[who] -= 1
                rows.append((pair, who, LINK))
        return rows

    def _draw(self, *names: object) -> str:
        return rng.draw(self._campaign.id, LINK, len(self._campaign.reopenings), *names)
