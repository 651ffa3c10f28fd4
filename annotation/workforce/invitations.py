"""Invitations: what to send to whom, so that people sign up and find their page."""

from collections.abc import Iterator
from typing import NamedTuple

from annotation.label_studio import projects
from annotation.label_studio.connection import Connection
from annotation.label_studio.roster import PUBLIC
from pipeline.campaign.campaign import CampaignError
from pipeline.core.tables import PRIVATE


class Invitation(NamedTuple):
    """What to send to an annotator; an empty `sign_up` means that they have signed up.

    `page` is empty until they have pairs. `language` is of the page and the guideline.
    """

    email: str
    name: str
    number: int
    sign_up: str
    page: str
    language: str


def invite(connection: Connection, language: str) -> Iterator[Invitation]:
    """Yield what to send to each active annotator.

    Raises:
        CampaignError: somebody's account is not known, or there is nobody to invite.
    """
    studio, link = connection.studio, connection.studio.invite_path()
    users, own = studio.users(), projects.find_projects(studio, connection.campaign)
    judging = [who for who in connection.roster.annotators if who.active and who.role != "lead"]
    if not judging:
        raise CampaignError(f"{PUBLIC}: nobody listed is active and judges")
    for who in judging:
        account = connection.roster.accounts.get(who.number)
        if account is None:
            raise CampaignError(
                f"{PRIVATE}: has no account for annotator {who.number}; write their address there"
            )
        project = own.get(who.number)
        yield Invitation(
            account.email,
            account.name or "",
            who.number,
            "" if account.email.lower() in users else f"{studio.url}{link}",
            projects.page_url(studio, project) if project else "",
            language,
        )


def text(one: Invitation) -> Iterator[str]:
    """Yield an invitation as lines."""
    yield f"To: {one.email} (annotator {one.number})"
    if one.sign_up:
        yield f"  Sign up, with this address: {one.sign_up}"
    if not one.page:
        yield "  (no pairs yet: `dvc repro` makes the page on which they judge)"
        return
    yield f"  Judge here: {one.page}"
    yield "  Bookmark this page: more pairs come there, for as long as the campaign runs."
