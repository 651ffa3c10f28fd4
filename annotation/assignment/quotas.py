"""Quotas: how much each person may have open today, given the roster and their work so far."""

import math
from collections import Counter
from datetime import timedelta
from typing import NamedTuple

import pandas as pd

from annotation.assignment.inputs import PlanInputs, who_may_be_asked
from annotation.roster.annotator import Annotator, Role

WEEK = timedelta(days=7)


class Quota(NamedTuple):
    """What one person may have open.

    `queue` votes and gold, unless a single batch is larger, and never more than `week`: what
    `per_week` leaves, given the last seven days. In addition there is room for repeats, up to
    `most` tasks in all. `done` is the number of their judgments.
    A person who is `over` has done more than their share, and is asked only if nobody else is left.
    One who is `idle` has judged nothing for `patience` days: one batch waits until they come back.
    """

    role: Role
    queue: float
    week: float
    most: float
    share: float
    done: int
    over: bool
    idle: bool

    def room(self, load: int, size: int) -> int:
        """Return how many of a batch of `size` a person with `load` open votes takes.

        All or none, so that a batch is not split; someone with none takes what the week leaves.
        """
        left = int(min(self.week - load, size))
        if load and load + size > self.queue:
            return 0
        return left if left == size or not load else 0


def find_quotas(campaign: PlanInputs) -> dict[int, Quota]:
    """Return the quotas of everyone who may be asked today, by number."""
    asked, done = who_may_be_asked(campaign), campaign.done
    recent = _judged_last_week(campaign)
    idle = find_idle(campaign)
    whole = sum(person.share for person in asked.values())
    per_share = sum(done[number] for number in asked) / whole if asked else 0.0
    queue = campaign.rule.max_open
    votes = 1 - campaign.checks.repeats  # the share of votes and gold, which replaces them

    def quota(number: int, person: Annotator) -> Quota:
        most = person.share * queue
        week = math.inf if person.per_week is None else max(person.per_week - recent[number], 0)
        return Quota(
            person.role,
            queue=min(most * votes, campaign.rule.batch if number in idle else math.inf),
            week=week if week == math.inf else math.ceil(week * votes),
            most=min(most, week),
            share=person.share,
            done=done[number],
            over=person.share < 1 and done[number] > person.share * (per_share + queue),
            idle=number in idle,
        )

    return {number: quota(number, person) for number, person in sorted(asked.items())}


def find_idle(campaign: PlanInputs) -> set[int]:
    """Return who has judged nothing for `patience` days, although they could and others did."""
    if campaign.judgments.empty:
        return set()
    times = campaign.judgments.groupby("annotator")["submitted_at"]
    last = {number: when.date() for number, when in times.max().items()}
    began = times.min().min().date()
    patience = timedelta(days=campaign.rule.patience)
    days = {
        person.number: max(began, person.since or began, last.get(person.number, began))
        for person in campaign.annotators
    }
    return {number for number, day in days.items() if campaign.today - day > patience}


def _judged_last_week(campaign: PlanInputs) -> Counter[int]:
    """Return each person's number of judgments on `today` and the six days before."""
    tomorrow = pd.Timestamp(campaign.today, tz="UTC") + pd.Timedelta(days=1)
    judgments = campaign.judgments
    return Counter(
        judgments.loc[judgments["submitted_at"] >= tomorrow - WEEK, "annotator"].tolist()
    )
