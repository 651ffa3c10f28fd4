"""Invitations: what to send to each person, so that they sign up and find their page."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from annotation.label_studio import projects, settings
from annotation.label_studio.connection import Connection
from annotation.label_studio.records import Purpose
from annotation.quality.standing import MAY_JUDGE, Standing, read_standings
from annotation.roster.annotator import DECIDING, Annotator
from annotation.roster.roster import PUBLIC, Account
from pipeline.campaign.campaign import CampaignError
from pipeline.core.params import Params
from pipeline.core.tables import PRIVATE

EXAM_PAGES: Mapping[Standing, tuple[Purpose, str]] = {
    "to-begin": ("exam", "Take the exam first"),
    "begun": ("exam", "Finish the exam first"),
    "failed": ("feedback", "Look at your exam again"),
}
"""Which project people should complete before they judge, by their exam standing."""
NO_PAIRS = {
    False: "no pairs yet: `dvc repro` creates the page on which they judge",
    True: "they get pairs to judge once they have passed the exam",
}
"""The remark for a person who has no page yet, by whether the exam is the reason."""
NOTHING_TO_DECIDE = (
    "no pairs to decide yet: `python -m annotation.adjudicate` creates their page, and"
    " prints its address"
)
"""The remark for an expert, who has no other page."""


class Invitation(NamedTuple):
    """What to send to an annotator; an empty `sign_up` means that they have signed up.

    `page` is empty until they have pairs. `exam` says what to do on `exam_page`; both are empty if
    there is nothing to do. `language` is that of the pages and the guideline, `remark` says why
    there is no page.
    """

    email: str
    name: str
    number: int
    sign_up: str
    exam: str
    exam_page: str
    page: str
    language: str
    remark: str = ""


def invite(connection: Connection, params: Params) -> Iterator[Invitation]:
    """Yield what to send to each active annotator.

    Raises:
        CampaignError: a person's account is not known, or there is nobody to invite.
    """
    studio, link = connection.studio, connection.studio.invite_path()
    address = settings.public_address(studio.url)
    users, pages = studio.users(), _pages(connection, "campaign")
    required = params.exam.required
    standings = read_standings(connection.roster.annotators, required=required)
    exams = _exam_pages(connection, standings)
    judging = [
        person for person in connection.roster.annotators if person.active and person.role != "lead"
    ]
    if not judging:
        raise CampaignError(
            f"{PUBLIC}: there is no active annotator to invite; add people, or set some active"
        )
    for person in judging:
        account = _account(connection, person.number)
        page, (exam, exam_page) = pages.get(person.number, ""), exams.get(person.number, ("", ""))
        yield Invitation(
            account.email,
            account.name or "",
            person.number,
            "" if account.email.lower() in users else f"{address}{link}",
            exam,
            exam_page,
            page,
            params.annotation.language,
            "" if page else _explain_no_page(person, standings, required=required),
        )


def _account(connection: Connection, annotator: int) -> Account:
    account = connection.roster.accounts.get(annotator)
    if account is None:
        raise CampaignError(
            f"{PRIVATE}: has no account for annotator {annotator}; add their email address there"
        )
    return account


def _explain_no_page(
    person: Annotator, standings: Mapping[int, Standing], *, required: bool
) -> str:
    if person.role in DECIDING:
        return NOTHING_TO_DECIDE
    return NO_PAIRS[required and standings.get(person.number) not in MAY_JUDGE]


def _exam_pages(
    connection: Connection, standings: Mapping[int, Standing]
) -> dict[int, tuple[str, str]]:
    """Return what people should do about the exam before they judge, and where, by number."""
    todo = {number: EXAM_PAGES[name] for number, name in standings.items() if name in EXAM_PAGES}
    purposes = {purpose for purpose, _ in todo.values()}
    pages = {purpose: _pages(connection, purpose) for purpose in sorted(purposes)}
    return {
        number: (what, pages[purpose][number])
        for number, (purpose, what) in todo.items()
        if number in pages[purpose]
    }


def _pages(connection: Connection, purpose: Purpose) -> dict[int, str]:
    """Return the pages where people judge for a purpose, by number."""
    by_annotator = projects.find_projects(connection, purpose)
    page_url = connection.studio.page_url
    return {number: page_url(project) for number, project in by_annotator.items()}


def text(invitation: Invitation) -> Iterator[str]:
    """Yield an invitation as lines."""
    yield f"To: {invitation.email} (annotator {invitation.number})"
    if invitation.sign_up:
        yield f"  Sign up here, with this email address: {invitation.sign_up}"
    if invitation.exam_page:
        yield f"  {invitation.exam}: {invitation.exam_page}"
    if not invitation.page:
        yield f"  ({invitation.remark})"
        return
    yield f"  Judge here, at a computer, not on a phone: {invitation.page}"
    yield "  Bookmark this page: more pairs appear there for as long as the campaign runs."
