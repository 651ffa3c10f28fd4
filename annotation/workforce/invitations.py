"""Invitations: what to send to whom, so that people sign up and find their page."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from annotation.assignment.inputs import DECIDING, Annotator
from annotation.label_studio import projects
from annotation.label_studio.connection import Connection
from annotation.label_studio.records import Purpose
from annotation.label_studio.roster import PUBLIC
from annotation.quality.standing import MAY_JUDGE, Standing, read_standings
from pipeline.campaign.campaign import CampaignError
from pipeline.core.params import Params
from pipeline.core.tables import PRIVATE

EXAM_PAGES: Mapping[Standing, tuple[Purpose, str]] = {
    "to-begin": ("exam", "Take the exam first"),
    "begun": ("exam", "Finish the exam first"),
    "failed": ("feedback", "Look at your exam again"),
}
"""Which project people should see to before they judge, by how they stand."""
NO_PAIRS = {
    False: "no pairs yet: `dvc repro` makes the page on which they judge",
    True: "pairs to judge come when they have passed the exam",
}
"""What is said where somebody has no page yet: whether the exam keeps them from it."""
NOTHING_TO_DECIDE = (
    "no pairs to decide on yet: `python -m annotation.campaign adjudicate` makes their page, and"
    " prints its address"
)
"""What is said of an expert, who judges on no other page."""


class Invitation(NamedTuple):
    """What to send to an annotator; an empty `sign_up` means that they have signed up.

    `page` is empty until they have pairs, and so is `exam_page`, with what to do there in
    `exam`, where there is nothing to do. `language` is of the pages and the guideline, `remark`
    says why there is no page.
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
        CampaignError: somebody's account is not known, or there is nobody to invite.
    """
    studio, link = connection.studio, connection.studio.invite_path()
    users, own = studio.users(), projects.find_projects(studio, connection.campaign)
    required = params.exam.required
    standings = read_standings(connection.roster.annotators, required=required)
    exams = _exam_pages(connection, standings)
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
            *exams.get(who.number, ("", "")),
            projects.page_url(studio, project) if project else "",
            params.annotation.language,
            "" if project else _explain_no_page(who, standings, required=required),
        )


def _explain_no_page(who: Annotator, standings: Mapping[int, Standing], *, required: bool) -> str:
    if who.role in DECIDING:
        return NOTHING_TO_DECIDE
    return NO_PAIRS[required and standings.get(who.number) not in MAY_JUDGE]


def _exam_pages(
    connection: Connection, standings: Mapping[int, Standing]
) -> dict[int, tuple[str, str]]:
    """Return what people should do with the exam before they judge, and where, by number."""
    studio, campaign = connection.studio, connection.campaign
    pages = {
        (purpose, number): projects.page_url(studio, project)
        for purpose in ("exam", "feedback")
        for number, project in (
            projects.find_projects(studio, campaign, purpose).items() if standings else ()
        )
    }
    todo = {who: EXAM_PAGES[name] for who, name in standings.items() if name in EXAM_PAGES}
    return {
        who: (what, pages[purpose, who])
        for who, (purpose, what) in todo.items()
        if (purpose, who) in pages
    }


def text(one: Invitation) -> Iterator[str]:
    """Yield an invitation as lines."""
    yield f"To: {one.email} (annotator {one.number})"
    if one.sign_up:
        yield f"  Sign up, with this address: {one.sign_up}"
    if one.exam_page:
        yield f"  {one.exam}: {one.exam_page}"
    if not one.page:
        yield f"  ({one.remark})"
        return
    yield f"  Judge here: {one.page}"
    yield "  Bookmark this page: more pairs come there, for as long as the campaign runs."
