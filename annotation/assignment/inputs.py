"""The inputs of a plan: what is judged, what was, by whom, and who may be asked."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Literal, NamedTuple

import pandas as pd

from annotation.votes.rule import Rounding
from momentrank.errors import MomentRankError
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.campaign.voided import drop_voided
from pipeline.core import tables

Role = Literal["annotator", "escalation", "lead", "expert"]
PEOPLE_NEEDED = 4
NEVER = date(1970, 1, 1)
"""The day of a campaign in which days play no role."""


class PlanError(MomentRankError):
    """A campaign that can't go on as it stands."""


DECIDING: Sequence[Role] = ("lead", "expert")
"""Who decides on disputed pairs, and is never asked for a vote."""


class Annotator(NamedTuple):
    """A person by number. A lead or an expert decides, and is never asked for a vote.

    `share` is of an equal part of the work, `per_week` the judgments a week at most; `since` and
    `until` are the first and last day (UTC). Who is `admitted` judges whatever the exam said;
    gold judged before `checked_from` is forgiven.
    """

    number: int
    role: Role
    active: bool
    share: float = 1.0
    per_week: int | None = None
    since: date | None = None
    until: date | None = None
    admitted: bool = False
    checked_from: date | None = None


def judges(annotators: Sequence[Annotator]) -> dict[int, Role]:
    """Return the roles of those who may be asked, by number."""
    return {who.number: who.role for who in annotators if who.active and who.role not in DECIDING}


class Rule(NamedTuple):
    """When the second batch follows: a mean level over the last ranks of the first.

    `batch` is the number of candidates in the first; `rounding` is of the levels themselves.
    `queue` is the number of tasks that a person has open at most, `patience` the days after which
    what they don't take goes to others.
    """

    batch: int = 20
    last_ranks: int = 5
    min_mean: float = 2.0
    rounding: Rounding = "up"
    queue: int = 200
    patience: float = 7.0


class Stop(NamedTuple):
    """Why somebody is asked no more, since when it is so, and when they last judged (UTC)."""

    reason: str
    since: datetime
    last: datetime


@dataclass(frozen=True)
class CheckInputs:
    """Hidden checks: their shares of each person's tasks, and what they are made of.

    A repeat comes when at least `gap` other tasks lie between. `known` are levels that are known
    (`quality.gold`), `taken` (`query_id, moment_id, annotator`) who knows them from somewhere
    else, such as the exam. `stopped` are the people whom checks have stopped; worth a look is
    whose hits on the last `window` gold pairs are below `min_gold`.
    """

    gold: float = 0.0
    repeats: float = 0.0
    gap: int = 50
    known: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=[*SHOWN_KEY, "level", "source"])
    )
    taken: pd.DataFrame = field(default_factory=tables.ASSIGNMENTS.empty)
    stopped: Mapping[int, Stop] = field(default_factory=dict)
    min_gold: float = 0.7
    window: int = 60

    def per_vote(self, kind: str) -> float:
        """Return how many checks of a kind there should be for each vote."""
        share = {"gold": self.gold, "repeat": self.repeats}[kind]
        return share / (1 - self.gold - self.repeats)


@dataclass(frozen=True)
class PlanInputs:
    """What is to be judged, what was, and by whom.

    `queries` holds `query_id, query`: equal texts are judged once, as the query of the smallest
    id. `clips` are the moments that have one. `shown` holds the hashes of what was last shown
    of each pair: judgments of anything else don't count, nor do `voided` ones. Of what was decided
    in `adjudications` nobody is asked any more, even if votes on it are voided. `open_tasks` are
    given out and not answered; `spent` (`query_id, moment_id, annotator, kind`) were answered in
    a way that is no judgment, and go to somebody else. `extend` holds the lead's decisions by
    query_id.
    `extra` (as `tables.WANTED`) are the pairs of audit and top-up: wanted at once, whatever their
    rank, and never asked by the extension.
    `id` is the campaign's: its queries have one order for all. `today` (UTC) is the day on which
    it is planned; `overdue` (as `tables.ASSIGNMENTS`) are open tasks that nobody took in time.
    `barred` are people who are asked nothing now, with the reason; `checks` says which hidden
    checks there are.
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
    spent: pd.DataFrame = field(default_factory=tables.ASSIGNMENTS.empty)
    extra: pd.DataFrame = field(default_factory=tables.WANTED.empty)
    id: str = ""
    today: date = NEVER
    overdue: pd.DataFrame = field(default_factory=tables.ASSIGNMENTS.empty)
    barred: Mapping[int, str] = field(default_factory=dict)
    voided: pd.DataFrame = field(default_factory=tables.VOIDED.empty)
    checks: CheckInputs = field(default_factory=CheckInputs)
    adjudications: pd.DataFrame = field(default_factory=tables.ADJUDICATIONS.empty)

    @cached_property
    def valid(self) -> pd.DataFrame:
        """The judgments that are not voided, of whatever kind."""
        return drop_voided(self.judgments, self.voided)

    @cached_property
    def done(self) -> Counter[int]:
        """How many judgments each person has made, without the voided."""
        return Counter(self.valid["annotator"].tolist())


def who_may_be_asked(campaign: PlanInputs) -> dict[int, Annotator]:
    """Return who may have tasks open today, by number.

    They are active, no lead or expert, within their days, and not barred.
    """
    today, listed = campaign.today, judges(campaign.annotators)
    return {
        who.number: who
        for who in campaign.annotators
        if who.number in listed
        and who.number not in campaign.barred
        and (who.since is None or who.since <= today)
        and (who.until is None or today <= who.until)
    }
