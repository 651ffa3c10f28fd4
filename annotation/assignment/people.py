"""Who may be asked: active annotators, and the people for escalated pairs."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from momentrank.errors import MomentRankError

Role = Literal["annotator", "escalation", "lead"]
NEEDED = 4


class PlanError(MomentRankError):
    """A campaign that can't go on as it stands."""


class Annotator(NamedTuple):
    """A person by number. A lead decides, and is never asked to judge."""

    number: int
    role: Role
    active: bool


def judges(annotators: Sequence[Annotator]) -> dict[int, Role]:
    """Return the roles of those who may be asked, by number."""
    return {who.number: who.role for who in annotators if who.active and who.role != "lead"}
