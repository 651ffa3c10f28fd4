"""Whose projects the campaign's are: each annotator's account on the server."""

from collections.abc import Iterable

from annotation.answers.answers import Owner
from annotation.label_studio.campaign import CampaignError
from annotation.label_studio.connection import Connection
from pipeline.core.tables import PRIVATE


def owners(connection: Connection, annotators: Iterable[int]) -> list[Owner]:
    """Return these annotators with the numbers of their accounts.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: nobody knows whose account an annotator's is.
    """
    accounts, numbers = connection.roster.accounts, sorted(annotators)
    unknown = [number for number in numbers if number not in accounts]
    if unknown:
        raise CampaignError(
            f"{PRIVATE}: has no account for annotator {unknown[0]}, so that nobody can tell their"
            " answers from others'; add it (an account that has left stays listed)"
        )
    users = connection.studio.users()
    return [Owner(number, users.get(accounts[number].email.lower())) for number in numbers]
