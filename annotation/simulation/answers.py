"""What simulated annotators answer: the true level, with their own bias and noise: pure."""

import secrets
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from annotation.label_studio import settings
from annotation.roster.annotator import PEOPLE_NEEDED, Role
from annotation.roster.roster import Account, Person
from pipeline.campaign.campaign import CampaignError
from pipeline.core import rng

BIAS, NOISE = 0.3, 0.5
UNPLAYABLE = 0.002
SECONDS, SPREAD = 19.0, 0.5
"""The paper's median time for a judgment, and the spread of its logarithm."""
SEED = 1

Truth = Callable[[str, str], int]
"""The true level of a query and a moment, by their ids."""


class SimulatedAnswer(NamedTuple):
    """An answer: a level, or None for a clip that would not play; and how long it took."""

    level: int | None
    seconds: float


def usual_bias(seed: int, annotator: int) -> float:
    """Return how many levels higher than others a rehearsal's annotator judges."""
    return rng.generator(seed, annotator).normal(0, BIAS)


def judge(seen: float, noise: float, random: np.random.Generator) -> SimulatedAnswer:
    """Return the answer of a person to whom a pair looks about as relevant as `seen`."""
    level = int(np.clip(round(seen + random.normal(0, noise)), 0, 4))
    seconds = float(np.round(SECONDS * random.lognormal(0, SPREAD), 1))
    return SimulatedAnswer(None if random.random() < UNPLAYABLE else level, seconds)


ESCALATION = 2


def create_people(number: int) -> tuple[dict[int, Person], dict[int, Account]]:
    """Return `number` people and their accounts; the last two judge pairs others disagree on.

    Annotator 1 has the account of the local server's first user, if there is one.

    Raises:
        CampaignError: there are fewer than four people.
    """
    if number < PEOPLE_NEEDED:
        raise CampaignError(f"--people {number}: at least {PEOPLE_NEEDED} people are needed")
    escalation = min(ESCALATION, number - PEOPLE_NEEDED)
    people, accounts = {}, {}
    for annotator in range(1, number + 1):
        role: Role = "escalation" if annotator > number - escalation else "annotator"
        people[annotator] = Person(role=role, active=True)
        accounts[annotator] = Account(
            email=f"annotator{annotator}@example.org", name=None, password=secrets.token_urlsafe(12)
        )
    user, password = settings.value(settings.USERNAME), settings.value(settings.PASSWORD)
    if user and password:
        accounts[1] = Account(email=user, name=None, password=password)
    return people, accounts
