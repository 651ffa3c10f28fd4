"""Who may be asked: active annotators, and the people for escalated pairs."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from momentrank.errors import MomentRankError
from pipeline import tables

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


def refuse_too_few(asked: Mapping[int, Role]) -> None:
    """Stop where a pair that two people disagree on could not go to two others.

    Raises:
        PlanError: fewer than four people may be asked.
    """
    if len(asked) < NEEDED:
        raise PlanError(
            f"{tables.CAMPAIGN / 'annotators.yaml'}: {len(asked)} active people can judge, but"
            f" {NEEDED} are needed (two vote, and two others where these disagree); add people"
            " with the role annotator or escalation, or set some active"
        )
