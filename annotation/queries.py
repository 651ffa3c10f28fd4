"""Have people who don't know the corpus write queries, and choose among them.

    python -m annotation.queries ask [--recall | --unanswerable] [--writers N ...] [--about TEXT]
    python -m annotation.queries pull [--after HOURS]
    python -m annotation.queries add FILE.csv
    python -m annotation.queries check
    python -m annotation.queries accept (ID ... | --all) [--anyway] [--split val]
    python -m annotation.queries refuse (ID ... | --all) [--reason TEXT]

A caption describes a moment that exists, in the words of somebody who has just seen it. People who
search do neither. `ask` gives each writer a page in Label Studio that says what the collection is,
with ten pictures, and asks for five things that they would search for. With `--unanswerable` they
write what is probably not in it, and with `--recall` they see one clip; `pull` asks what it was,
from memory, once a day has passed (24 hours, or `--after`).

Writers are the active people of datasets/campaign/annotators.yaml, except the lead; `--writers`
names others, such as people with `active: false`, who write and never judge. `ask` prints the
addresses of their pages, and the link at which to sign up. `add` reads queries from a file: the
column `query`, and, if you like, split, stratum, origin and note.

`pull` fetches what was written, checks it, and writes datasets/campaign/asked_queries.csv; `check`
checks it again, and prints it. A fault (a name, too long, the same text again) forbids a query. A
doubt (nearly a caption or another query, another language) you may accept with `--anyway`.
`accept` writes datasets/campaign/written_queries.csv, which `dvc repro split` reads. All of this is
possible until the campaign is opened, which freezes its queries, and again once it is reopened:
then accepted queries join the frozen ones, for good.
"""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pandas as pd

from annotation.label_studio import settings
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.connection import NO_SERVER, hold_lock
from annotation.roster.roster import read_roster
from annotation.writing import asked_queries, asking, writer_page
from annotation.writing.asking import Desk
from pipeline.campaign.campaign import CampaignError, load_open_campaign
from pipeline.campaign.phases import check_state
from pipeline.core import cli, git, tables
from pipeline.core.params import Params, load
from pipeline.core.tables import ASKED_QUERIES, FROZEN_QUERIES, WRITTEN_QUERIES
from pipeline.core.text import reveal

NEXT = {
    "ask": "when they have written: python -m annotation.queries pull",
    "check": "next: python -m annotation.queries accept IDS, or --all",
    "accept": "next: dvc repro split",
}


def open_desk(params: Params) -> Desk:
    """Return the server and the people who may write.

    Raises:
        CampaignError: no server is configured.
        MomentRankError: the list of people is not valid.
    """
    endpoint = settings.endpoint()
    if endpoint is None:
        raise CampaignError(f"{NO_SERVER}; or read a file: python -m annotation.queries add FILE")
    studio = LabelStudio(endpoint, params.pull.page)
    return Desk(studio, read_roster(), writer_page.texts_of(params.annotation.language))


def run_ask(options: argparse.Namespace, params: Params) -> None:
    """Give writers a page, and print its address.

    Raises:
        CampaignError: a writer is unknown, or there is no clip to show.
        StudioError: the server can't be reached or fails; what was done stays done.
    """
    desk = open_desk(params)
    writers = asking.choose_writers(desk.roster, options.writers)
    if options.recall:
        lines = asking.ask_to_watch(desk, writers, params)
    else:
        corpus = asking.describe_corpus(params, options.about)
        kind: writer_page.Kind = "unanswerable" if options.unanswerable else "person"
        lines = asking.ask(desk, kind, writers, corpus, params.clips.url)
    link = f"{settings.public_address(desk.studio.url)}{desk.studio.invite_path()}"
    cli.log("\n".join([f"sign up: {link}", *lines, NEXT["ask"]]))


def run_pull(options: argparse.Namespace, params: Params) -> None:
    """Fetch and check what was written, and ask for what was seen a day ago.

    Raises:
        StudioError: the server can't be reached or fails; nothing is written.
    """
    desk = open_desk(params)
    pages = asking.find_pages(desk.studio)
    answers = asking.read_answers(desk, pages, "person", "unanswerable", "recall")
    before = ASKED_QUERIES.read()
    asked = asked_queries.merge(before, asked_queries.list_answered(answers))
    _write_checked(asked, params)
    cli.log(f"pull: {len(asked)} queries, {max(0, len(asked) - len(before))} of them new")
    after = timedelta(hours=options.after)
    recalls = asking.ask_for_seen(desk, desk.studio.now(), after)
    if recalls.asked:
        cli.log(f"recall: {recalls.asked} descriptions asked for")
    if recalls.next:
        cli.log(
            f"recall: {recalls.waiting} clips were seen too lately; pull again after"
            f" {recalls.next:%Y-%m-%d %H:%M} UTC"
        )


def run_add(options: argparse.Namespace, params: Params) -> None:
    """Add the queries of a file, and check all.

    Raises:
        MomentRankError: the file can't be read, or is no list of queries.
    """
    before = ASKED_QUERIES.read()
    asked = asked_queries.add_file(before, asked_queries.read_file(options.file, datetime.now(UTC)))
    _write_checked(asked, params)
    cli.log(f"add: {len(asked) - len(before)} new queries")


def _check(asked: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Return the queries with what is wrong with each now."""
    from annotation.writing.query_checks import check_queries  # noqa: PLC0415  (--help needs none)

    return ASKED_QUERIES.check(check_queries(asked, params))


def _write_checked(asked: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Check the queries, write them, and print those that are not decided."""
    checked = _check(asked, params)
    ASKED_QUERIES.write(checked)
    _print(checked[checked["decision"] == "open"])
    return checked


def _print(asked: pd.DataFrame) -> None:
    sys.stdout.writelines(f"{reveal(line)}\n" for line in asked_queries.describe(asked))


def run_check(_: argparse.Namespace, params: Params) -> None:
    """Check all queries again, and print those that are not decided."""
    checked = _write_checked(ASKED_QUERIES.read(), params)
    counts = checked["decision"].value_counts()
    said = ", ".join(f"{counts.get(name, 0)} {name}" for name in ("open", "accepted", "refused"))
    cli.log(f"queries: {said}; {NEXT['check']}")


def run_accept(options: argparse.Namespace, params: Params) -> None:
    """Accept queries, and say which can't be.

    Raises:
        CampaignError: an id is unknown.
    """
    asked = _check(ASKED_QUERIES.read(), params)
    marked = asked_queries.select(asked, options.ids)
    decided = asked_queries.accept(asked, marked, anyway=options.anyway, split=options.split)
    _write_decided(decided, f"Accept queries: {int(marked.sum())} chosen")
    left = decided[marked & (decided["decision"] != "accepted")]
    _print(left)
    why = "; with doubts alone: --anyway" if left["faults"].isna().any() else ""
    remark = f"; {len(left)} are not (see above{why})" if len(left) else ""
    cli.log(f"accept: {int(marked.sum()) - len(left)} accepted{remark}; {NEXT['accept']}")


def run_refuse(options: argparse.Namespace, _: Params) -> None:
    """Refuse queries; one that was accepted is no longer written for `split`.

    Raises:
        CampaignError: an id is unknown.
    """
    asked = ASKED_QUERIES.read()
    marked = asked_queries.select(asked, options.ids)
    if load_open_campaign() is not None:
        asked_queries.refuse_frozen(asked[marked], FROZEN_QUERIES.read())
    _write_decided(asked_queries.refuse(asked, marked, options.reason), "Refuse queries")
    cli.log(f"refuse: {int(marked.sum())} refused; {NEXT['accept']}")


def _write_decided(asked: pd.DataFrame, message: str) -> None:
    written = asked_queries.write_accepted(WRITTEN_QUERIES.read(), asked)
    if load_open_campaign() is not None:  # reopened: they join those that people judge
        FROZEN_QUERIES.write(asked_queries.freeze(FROZEN_QUERIES.read(), written))
    WRITTEN_QUERIES.write(written)
    ASKED_QUERIES.write(asked)
    git.commit([WRITTEN_QUERIES.path, ASKED_QUERIES.path, FROZEN_QUERIES.path], message)


def main(options: argparse.Namespace) -> None:
    """Run the chosen command.

    Raises:
        CampaignError: the campaign has been opened, and its queries are frozen.
    """
    check_state(f"annotation.queries {options.do}")
    commands = {
        "ask": run_ask,
        "pull": run_pull,
        "add": run_add,
        "check": run_check,
        "accept": run_accept,
        "refuse": run_refuse,
    }
    with hold_lock("queries"):
        commands[options.do](options, load())


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, before the campaign is opened there.")
    commands = parser.add_subparsers(dest="do", required=True, metavar="VERB")
    give = commands.add_parser("ask", help="give writers a page")
    kinds = give.add_mutually_exclusive_group()
    kinds.add_argument(
        "--recall", action="store_true", help="show one clip, which a later pull asks for"
    )
    kinds.add_argument(
        "--unanswerable", action="store_true", help="ask for what is probably not there"
    )
    give.add_argument(
        "--writers", type=cli.parse_positive, nargs="+", default=[], metavar="N", help="who writes"
    )
    give.add_argument("--about", default="", metavar="TEXT", help="tell them what is in the videos")
    fetch = commands.add_parser("pull", help="fetch what was written, and ask for what was seen")
    fetch.add_argument(
        "--after",
        type=cli.parse_non_negative,
        default=round(asking.DAY / timedelta(hours=1)),
        metavar="HOURS",
        help="ask for a clip that was seen so long ago (default: %(default)s)",
    )
    add = commands.add_parser("add", help="read queries from a CSV file")
    add.add_argument("file", type=Path, metavar="FILE.csv")
    commands.add_parser("check", help="check all queries again, and show the open ones")
    for name, what in (("accept", "take queries into the collection"), ("refuse", "don't")):
        decide = commands.add_parser(name, help=what)
        decide.add_argument("ids", nargs="*", metavar="ID", help="as `check` prints them")
        decide.add_argument("--all", action="store_true", help="all that are open")
        if name == "accept":
            decide.add_argument("--anyway", action="store_true", help="those with doubts, too")
            decide.add_argument("--split", choices=tables.JUDGED_SPLITS, help="of all of these")
        else:
            decide.add_argument("--reason", metavar="TEXT", help="written beside them")
    options = parser.parse_args()
    if options.do in {"accept", "refuse"} and bool(options.ids) == options.all:
        parser.error(f"{options.do} needs the ids of queries, or --all")
    return options


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
