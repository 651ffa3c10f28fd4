"""Manage annotators: list them, invite them, show their hours, void their judgments.

    python -m annotation.people list
    python -m annotation.people invite [--csv [FILE]]
    python -m annotation.people hours [--from DAY] [--to DAY] [--csv [FILE]]
    python -m annotation.people void NUMBER --from DATE [--to DATE] [--reason TEXT]

`list` shows the people in datasets/campaign/annotators.yaml, whose account is known, who has
signed up, and their exam results.

`invite` prints what to send to each person: a sign-up link, and the page with their pairs. The
link is the server's own: anyone who has it can sign up, so send it to nobody else. Only the
account in annotators.private.yaml counts as that annotator. `--csv` writes a file for mail merge.

`hours` shows what people did in each week and how long it took, for payment.

`void` withdraws an annotator's judgments from a date on. They stay in judgments.csv but no longer
count anywhere; the next `dvc repro` gives these pairs to others. Without `--to`, later answers are
voided as well, so the annotator gets no further tasks. The period is written to
datasets/campaign/voided.csv and committed: delete the row there, and the judgments count again.

Files with addresses are for you alone (mode 600), and are written only where git ignores them.
"""

import argparse
import sys
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from annotation.label_studio.connection import require_connection
from annotation.quality.standing import read_standings
from annotation.roster import roster
from annotation.votes.campaign_votes import consensus
from annotation.workforce import hours, invitations
from annotation.workforce.listing import listing
from annotation.workforce.voiding import Period, void
from momentrank.errors import UsageError
from pipeline.campaign.phases import require_campaign
from pipeline.core import cli, csv_files, files, git, tables
from pipeline.core.params import load
from pipeline.core.text import reveal

LEAD = tables.WORK / "lead"
"""It is about single people: git ignores it, and no cache stores it."""


def run_list(_options: argparse.Namespace) -> None:
    """Print who takes part."""
    connection = require_connection("annotation.people list")
    standings = read_standings(connection.roster.annotators, required=load().exam.required)
    sys.stdout.writelines(listing(connection, standings, tables.VOIDED.read()))


def run_invite(options: argparse.Namespace) -> None:
    """Print the invitations, or write them for mail merge."""
    connection = require_connection("annotation.people invite")
    invited = list(invitations.invite(connection, load()))
    if options.csv is None:
        lines = (line for invitation in invited for line in invitations.text(invitation))
        sys.stdout.writelines(f"{reveal(line)}\n" for line in lines)
        return
    write_private(options.csv, pd.DataFrame(invited, columns=invitations.Invitation._fields))
    cli.log(f"{options.csv}: {len(invited)} invitations, with addresses; only you can read it")


def run_hours(options: argparse.Namespace) -> None:
    """Print the hours, or write them to a file for payment.

    Raises:
        UsageError: the last day is before the first.
    """
    if options.since and options.until and options.until < options.since:
        raise UsageError(f"--to {options.until} is before --from {options.since}")
    pause = load().plan.pause
    done = [table.read() for table in hours.WORK]
    versions = tables.JUDGMENT_HISTORY.read()
    imported = set(versions.loc[versions["state"] == "trusted", "origin"])
    work = hours.list_work(done, tables.VOIDED.read(), _read_refused(), imported)
    table = hours.measure_hours(work, pause, options.since, options.until)
    if options.csv is None:
        sys.stdout.write(hours.text(table, pause))
        return
    accounts = roster.read_accounts()
    emails = {number: account.email for number, account in accounts.items()}
    names = {number: account.name for number, account in accounts.items()}
    named = table.assign(
        email=table["annotator"].map(emails),
        name=table["annotator"].map(names),
        per_hour=hours.rate(table),
    )
    columns = [*hours.KEY, "name", "email", "judgments", "hours", "per_hour", *hours.TOTALS[2:]]
    write_private(options.csv, named[columns].round(4))
    cli.log(f"{options.csv}: {len(named)} rows, with addresses; only you can read it")


def _read_refused() -> pd.DataFrame:
    if tables.REJECTED_JUDGMENTS.path.is_file():
        return tables.REJECTED_JUDGMENTS.read()
    cli.log(f"{tables.REJECTED_JUDGMENTS.path}: missing, so refused answers are unknown")
    return tables.REJECTED_JUDGMENTS.empty()


def run_void(options: argparse.Namespace) -> None:
    """Void an annotator's judgments, commit that, and log the consequences.

    Raises:
        CampaignError: no campaign was opened here, or there is nothing like that to void.
        UsageError: the period ends before it begins.
    """
    campaign = require_campaign("annotation.people void")
    if options.until and options.until.instant <= options.since:
        raise UsageError(
            f"--to {options.until.typed} is not after --from {options.since:%Y-%m-%d %H:%M} (UTC)"
        )
    people = {person.number: person for person in roster.read_people()}
    until = options.until and options.until.instant
    period = Period(options.number, options.since, until, options.reason)
    judgments, now = tables.JUDGMENTS.read(), datetime.now(UTC)
    before = tables.VOIDED.read()
    result = void(before, judgments, people, period, now)
    tables.VOIDED.write(result.voided)
    annotator = f"annotator {period.annotator}"
    git.commit([tables.VOIDED.path], f"Void the judgments of {annotator} {period.text}")
    cli.log(
        f"{annotator}: {result.judgments:,} of {result.of_annotator:,} judgments,"
        f" on {result.pairs:,} pairs, are voided, {period.text}"
        if result.judgments
        else f"{annotator}: no judgment {period.text} has been pulled; any pulled later is voided"
    )
    listed = people.get(period.annotator)
    if period.until is None and listed is not None and listed.active:
        cli.log(f"{annotator} gets no further tasks; set active: false in {roster.PUBLIC}")
    if campaign.closed:
        ledger, rounding = tables.PAIRS.read(), load().consensus.rounding
        with_level, still = (
            consensus(judgments, ledger, voided, closed=True, rounding=rounding)["level"].notna()
            for voided in (before, result.voided)
        )
        lost = int((with_level & ~still).sum())
        cli.log(
            f"the campaign is closed, so nobody else is asked, and {lost:,} pairs lose their level;"
            " next: dvc repro release report"
        )
    else:
        cli.log("next: dvc repro, which gives these pairs to others")


def write_private(path: Path, frame: pd.DataFrame) -> None:
    """Write a CSV file that names people, for its owner alone.

    Raises:
        FileError: git would commit it.
    """
    if not git.ignores(path):
        raise files.FileError(
            f"{path}: git would commit it, and it contains people's addresses; choose a path"
            f" outside the checkout, or one that git ignores, such as {LEAD / path.name}"
        )
    with files.unfinished(path, private=True) as stream:
        stream.write(csv_files.csv_text(frame))


def main(options: argparse.Namespace) -> None:
    """Run the chosen command."""
    commands = {"list": run_list, "invite": run_invite, "hours": run_hours, "void": run_void}
    commands[options.do](options)


def parse_day(text: str) -> date:
    """Parse a day."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day, such as 2026-11-23") from None


def parse_begin(text: str) -> datetime:
    """Parse a day, or a day and time; without an offset it is UTC."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        formats = "a day such as 2026-11-23, nor a day and time such as 2026-11-23T14:30"
        raise argparse.ArgumentTypeError(f"{text!r} is neither {formats}") from None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


class End(NamedTuple):
    """The end of a period (exclusive), and how it was typed."""

    instant: datetime
    typed: str


def parse_end(text: str) -> End:
    """Parse the end of a period: a day is included, a time is not."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return End(parse_begin(text), text)
    return End(datetime.combine(day + timedelta(days=1), time(), UTC), text)


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, with the campaign that was opened there.")
    commands = parser.add_subparsers(dest="do", required=True, metavar="VERB")
    commands.add_parser("list", help="show who takes part")
    inviting = commands.add_parser("invite", help="print what to send to each person")
    paying = commands.add_parser("hours", help="show what people did, and how long it took")
    for command, name in ((inviting, "invitations"), (paying, "hours")):
        path = LEAD / f"{name}.csv"
        command.add_argument(
            "--csv",
            type=Path,
            nargs="?",
            const=path,
            metavar="FILE",
            help=f"write a CSV file ({path})",
        )
    for name, other, word in (("--from", "since", "first"), ("--to", "until", "last")):
        paying.add_argument(
            name, dest=other, type=parse_day, metavar="DAY", help=f"the {word} day (UTC)"
        )
    voiding = commands.add_parser("void", help="withdraw an annotator's judgments")
    add = voiding.add_argument
    add("number", type=cli.parse_positive, metavar="NUMBER", help="the annotator")
    add("--from", dest="since", type=parse_begin, required=True, metavar="DATE",
        help="a day, or a day and time, such as 2026-11-23T14:30 (UTC)")  # fmt: skip
    add("--to", dest="until", type=parse_end, metavar="DATE",
        help="end, same format; a bare day is inclusive (default: no end)")  # fmt: skip
    add("--reason", metavar="TEXT", help="why, for your records: committed, never released")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
