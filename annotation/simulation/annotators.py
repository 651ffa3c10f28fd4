"""The people of a rehearsal: you are annotator 1, the others are simulated."""

import secrets

from annotation.assignment.people import NEEDED, Role
from annotation.label_studio import settings
from annotation.label_studio.campaign import CampaignError
from annotation.label_studio.roster import Account, Person

ESCALATION = 2


def rehearsing(number: int) -> tuple[dict[int, Person], dict[int, Account]]:
    """Return `number` people and their accounts; the last two judge what others disagree on.

    Annotator 1 has the account of the local server's first user, where there is one.

    Raises:
        CampaignError: fewer than four people can't judge.
    """
    if number < NEEDED:
        raise CampaignError(f"--people {number}: {NEEDED} people are needed")
    escalation = min(ESCALATION, number - NEEDED)
    people, accounts = {}, {}
    for one in range(1, number + 1):
        role: Role = "escalation" if one > number - escalation else "annotator"
        people[one] = Person(role=role, active=True)
        accounts[one] = Account(
            email=f"annotator{one}@example.org", name=None, password=secrets.token_urlsafe(12)
        )
    user, password = settings.value(settings.USERNAME), settings.value(settings.PASSWORD)
    if user and password:
        accounts[1] = Account(email=user, name=None, password=password)
    return people, accounts
