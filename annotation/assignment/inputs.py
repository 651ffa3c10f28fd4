"""The inputs of a plan: what to judge, what was judged, by whom, and who may be asked."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import NamedTuple

import pandas as pd

from annotation.quality.stopping import Stop
from annotation.roster.annotator import Annotator, roles_of_voters
from annotation.votes.rule import Rounding
from momentrank.errors import MomentRankError
from pipeline.campaign.campaign import Reopening
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.campaign.voided import drop_voided
from pipeline.core import rng, tables

NEVER = date(1970, 1, 1)
"""The day of a campaign in which days don't matter."""


class PlanError(MomentRankError):
    """A campaign that can't continue in its present state."""


class Rule(NamedTuple):
    """When the second batch follows: a mean level over the last ranks of the first.

    `batch` is the number of candidates in the first; `rounding` is that of the levels themselves.
    `max_open` is the maximum number of tasks that a person has open, `patience` the days after
    which tasks that they don't take go to others. With `learned`, the most moments of a query,
    further batches are those that the pool has (`candidates.further`), and there is no rule.
    """

    batch: int = 20
    last_ranks: int = 5
    min_mean: float = 2.0
    rounding: Rounding = "up"
    max_open: int = 200
    patience: float = 7.0
    learned: int = 0


@dataclass(frozen=True)
class CheckInputs:
    """Hidden checks: their shares of each person's tasks, and what they are drawn from.

    A repeat comes after at least `gap` other tasks. `known` are known levels (`quality.gold`),
    `taken` (`query_id, moment_id, annotator`) says who knows them from elsewhere, such as the exam.
    `stopped` are the people whom checks have stopped. `link` is the share of decided pairs that new
    people judge again after a reopening.
    """

    gold: float = 0.0
    repeats: float = 0.0
    gap: int = 50
    known: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=[*SHOWN_KEY, "level", "source"])
    )
    taken: pd.DataFrame = field(default_factory=tables.ASSIGNMENTS.empty)
    stopped: Mapping[int, Stop] = field(default_factory=dict)
    link: float = 0.0

    def per_vote(self, kind: str) -> float:
        """Return how many checks of a kind there should be for each vote."""
        share = {"gold": self.gold, "repeat": self.repeats}[kind]
        return share / (1 - self.gold - self.repeats)


@dataclass(frozen=True)
class PlanInputs:
    """What is to be judged, what was judged, and by whom.

    `queries` has `query_id, query`: equal texts are judged once, as the query of the smallest
    id. `clips` are the moments that have one. `shown` has the hashes of what was last shown of each
    pair: judgments of anything else don't count, nor do `voided` ones. Pairs decided in
    `adjudications` are no longer asked, even if votes on them are voided. `open_tasks` are handed
    out and not answered; `consumed_slots` (`query_id, moment_id, annotator, kind`) were answered in
    a way that is not a judgment, and go to someone else. `extend` has the lead's decisions by
    query_id.
    `extra` (as `tables.WANTED`) are the pairs of audit and top-up: wanted immediately, whatever
    their rank, and ignored by the extension.
    `id` is the campaign's: its queries have one order for all. `today` (UTC) is the day of the
    plan; `overdue` (as `tables.ASSIGNMENTS`) are open tasks that nobody took in time. `barred` are
    people who are asked nothing now, with the reason; `checks` says which hidden checks there are.
    After `reopenings` new people judge decided pairs again.
    """

    queries: pd.DataFrame
    candidates: pd.DataFrame
    clips: Collection[str]
    shown: pd.DataFrame
    judgments: pd.DataFrame
    open_tasks: pd.DataFrame
    annotators: Sequence[Annotator]
    extend: Mapping[str, bool]
    rule: Rule = field(default_factory=Rule)
    consumed_slots: pd.DataFrame = field(default_factory=tables.ASSIGNMENTS.empty)
    extra: pd.DataFrame = field(default_factory=tables.WANTED.empty)
    id: str = ""
    today: date = NEVER
    overdue: pd.DataFrame = field(default_factory=tables.ASSIGNMENTS.empty)
    barred: Mapping[int, str] = field(default_factory=dict)
    voided: pd.DataFrame = field(default_factory=tables.VOIDED.empty)
    checks: CheckInputs = field(default_factory=CheckInputs)
    adjudications: pd.DataFrame = field(default_factory=tables.ADJUDICATIONS.empty)
    reopenings: Sequence[Reopening] = ()

    @cached_property
    def valid(self) -> pd.DataFrame:
        """The judgments of any kind that are not voided."""
        return drop_voided(self.judgments, self.voided)

    @cached_property
    def done(self) -> Counter[int]:
        """How many judgments each person has made, except voided ones."""
        return Counter(self.valid["annotator"].tolist())


def who_may_be_asked(campaign: PlanInputs) -> dict[int, Annotator]:
    """Return who may have tasks open today, by number.

    They are active, not lead or expert, within their days, and not barred.
    """
    today, listed = campaign.today, roles_of_voters(campaign.annotators)
    return {
        person.number: person
        for person in campaign.annotators
        if person.number in listed
        and person.number not in campaign.barred
        and (person.since is None or person.since <= today)
        and (person.until is None or today <= person.until)
    }


def query_sort_key(campaign: str, query_id: str) -> str:
    """Return a query's sort key in the campaign: queries are judged in this order."""
    return rng.draw(campaign, query_id)
