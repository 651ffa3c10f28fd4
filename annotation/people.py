"""Who takes part, and how they come in.

    python -m annotation.people list
    python -m annotation.people invite

`list` shows who is listed in datasets/campaign/annotators.yaml, whose account is known, and who
has signed up. `invite` prints for each what to send them: a link to sign up with, and the page on
which their pairs are. The link is the server's own: whoever has it can sign up, so send it to
nobody else. Only the account that stands in annotators.private.yaml counts as that annotator.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from functools import partial

from annotation.label_studio import projects
from annotation.label_studio.connection import Connection, connect
from annotation.label_studio.records import Purpose
from annotation.label_studio.roster import PUBLIC
from annotation.quality.standing import MAY_JUDGE, Standing, read_standings
from pipeline.campaign.campaign import CampaignError
from pipeline.core import cli
from pipeline.core.params import load
from pipeline.core.tables import PRIVATE

EXAM_PAGES: Mapping[Standing, tuple[Purpose, str]] = {
    "to-begin": ("exam", "Take the exam first"),
    "begun": ("exam", "Finish the exam first"),
    "failed": ("feedback", "Look at your exam again"),
}
"""Which project people should see to before they judge, by how they stand."""
NO_PAIRS = {
    False: "  (no pairs yet: `dvc repro` makes the page on which they judge)",
    True: "  (pairs to judge come when they have passed the exam)",
}
"""What is said where somebody has no page yet: whether the exam keeps them from it."""


def listing(connection: Connection) -> Iterator[str]:
    """Yield a line for each annotator."""
    users = connection.studio.users()
    for who in connection.roster.annotators:
        account = connection.roster.accounts.get(who.number)
        email = account.email if account else f"no account in {PRIVATE}"
        joined = account is not None and account.email.lower() in users
        membership = "signed up" if joined else "not signed up"
        active = "active" if who.active else "inactive"
        yield f"{who.number:>3}  {who.role:10}  {active:8}  {membership:13}  {email}"


def invitations(connection: Connection) -> Iterator[str]:
    """Yield what to send to each active annotator.

    Raises:
        CampaignError: somebody's account is not known.
    """
    url, link = connection.studio.url, connection.studio.invite_path()
    users = connection.studio.users()
    own = projects.find_projects(connection.studio, connection.campaign)
    required = load().exam.required
    standings = read_standings(connection.roster.annotators, required=required)
    pages = {
        (purpose, number): project
        for purpose, _ in (EXAM_PAGES.values() if standings else ())
        for number, project in projects.find_projects(
            connection.studio, connection.campaign, purpose
        ).items()
    }
    judging = [who for who in connection.roster.annotators if who.active and who.role != "lead"]
    if not judging:
        raise CampaignError(f"{PUBLIC}: nobody listed is active and judges")
    for who in judging:
        account = connection.roster.accounts.get(who.number)
        if account is None:
            raise CampaignError(
                f"{PRIVATE}: has no account for annotator {who.number}; write their address there"
            )
        yield f"To: {account.email} (annotator {who.number})"
        if account.email.lower() not in users:
            yield f"  Sign up, with this address: {url}{link}"
        project, standing = own.get(who.number), standings.get(who.number, "passed")
        purpose, what = EXAM_PAGES.get(standing, ("campaign", ""))
        if page := pages.get((purpose, who.number)):
            yield f"  {what}: {projects.page_url(connection.studio, page)}"
        yield (
            f"  Judge here: {projects.page_url(connection.studio, project)}"
            if project
            else NO_PAIRS[required and standing not in MAY_JUDGE]
        )


def main(options: argparse.Namespace) -> None:
    """Print the list or the invitations."""
    connection = connect("people")
    if connection is None:
        raise CampaignError("no campaign or no server")
    lines = {"list": listing, "invite": invitations}[options.do](connection)
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, with the campaign that is open there.")
    parser.add_argument("do", choices=["list", "invite"])
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
