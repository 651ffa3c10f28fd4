"""An annotator: number, role, share of the work and days."""

from collections.abc import Sequence
from datetime import date
from typing import Literal, NamedTuple

Role = Literal["annotator", "escalation", "lead", "expert"]
PEOPLE_NEEDED = 4
DECIDING: Sequence[Role] = ("lead", "expert")
"""The roles that decide disputed pairs, and are never asked for a vote."""


class Annotator(NamedTuple):
    """A person by number. A lead or an expert decides, and is never asked for a vote.

    `share` is relative to an equal part of the work, `per_week` the maximum of judgments a week;
    `since` and `until` are the first and last day (UTC). Anyone `admitted` judges whatever the exam
    result; gold judged before `checked_from` is forgiven.
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


def roles_of_voters(annotators: Sequence[Annotator]) -> dict[int, Role]:
    """Return the roles of people who may be asked, by number."""
    return {
        person.number: person.role
        for person in annotators
        if person.active and person.role not in DECIDING
    }
