"""Examine people before they judge (paper, Appendix B.2).

    python -m annotation.exam push [--beside-others]
    python -m annotation.exam mark
    python -m annotation.exam feedback [--all]
    python -m annotation.exam status

`push` gives everyone the same pairs (`exam` in params.yaml), each in their own project. The first
push chooses the pairs for the whole campaign, and writes them to datasets/campaign/exam.csv: the
pairs of datasets/campaign/gold.csv if there are enough, else the first candidates of some queries.
Later pushes give the exam to newcomers. The right level is the lead's gold, else the median (the
higher one of an even number) of the first `exam.group` people to finish; then it is frozen. These
people are marked against it as well. A pair that half of the group or more could not judge
counts for nobody.

An answer fails if it is more than 1 away, or has no level. A person fails if the share of failed
answers exceeds `exam.max_failed`. `feedback` gives them their failed pairs again, with the right
level, its meaning in the guideline, and their first answer (`--all`: also to people who passed).
These answers replace the failed ones: that is the second attempt. After it you decide, in
datasets/campaign/annotators.yaml: `admitted: true` lets a person judge, `active: false` ends their
participation.

`mark` fetches the answers and writes exam_answers.csv and qualifications.csv next to exam.csv;
`dvc repro` does the same. `status` only shows everyone's results. With `exam.required`, people
get no other tasks until they have passed or are admitted.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from annotation.answers.exam_answers import fetch_and_mark, write
from annotation.label_studio.connection import Connection, hold_lock, require_connection
from annotation.quality.exam_pairs import choose_pairs, is_frozen
from annotation.quality.exam_text import text
from annotation.quality.marking import SECOND, Marked
from annotation.quality.standing import Standing, find_standings, read_standings
from annotation.tasks import exam_tasks
from pipeline.campaign.campaign import CampaignError
from pipeline.core import cli, git, tables
from pipeline.core.params import Params, load

TAKES: Sequence[Standing] = ("to-begin", "begun")


def push(connection: Connection, params: Params, *, beside_others: bool = False) -> str:
    """Give the exam to everyone who has not finished it; choose its pairs on the first call.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: there is nothing to judge, or it is another campaign's server.
    """
    _choose_once(connection, params)
    exam, answers = tables.EXAM.read(), tables.EXAM_ANSWERS.read()
    standings = read_standings(connection.roster.annotators, required=True)
    people = [number for number, standing in standings.items() if standing in TAKES]
    wanted = exam_tasks.exam_tasks(exam, answers, people)
    counts = exam_tasks.push(connection, params, "exam", wanted, beside_others=beside_others)
    return (
        f"exam: {len(exam)} pairs of {exam['query_id'].nunique()} queries for {len(people)} people;"
        f" {counts['added']} tasks added, {counts['closed']} closed; next:"
        " python -m annotation.people invite"
    )


def _choose_once(connection: Connection, params: Params) -> None:
    if len(tables.EXAM.read()):
        return
    candidates = exam_tasks.read_candidates()
    chosen = choose_pairs(candidates, tables.GOLD.read(), connection.campaign.id, params.exam)
    if chosen.empty:
        raise CampaignError(
            f"{tables.CLIPS.path}: no candidate of the frozen queries has a clip, so there are"
            " no pairs for an exam; make clips: dvc repro clips"
        )
    tables.EXAM.write(chosen)
    git.commit([tables.EXAM.path], "Choose the pairs of the exam")


def mark(connection: Connection, params: Params) -> Marked:
    """Fetch the answers, mark them, and write the results.

    Raises:
        StudioError: the server can't be reached or fails; nothing is written.
        CampaignError: there is no exam, or it is another campaign's server.
    """
    _refuse_without_exam()
    marked = fetch_and_mark(connection, params.exam)
    write(marked)
    return marked


def feedback(connection: Connection, params: Params, *, everybody: bool = False) -> str:
    """Give people their failed pairs again.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: too few have finished for any answers to be marked.
    """
    marked = mark(connection, params)
    if not is_frozen(marked.exam):
        raise CampaignError(
            f"{tables.EXAM.path}: the right levels are not known until"
            f" {params.exam.group} people have finished: python -m annotation.exam status"
        )
    standings = read_standings(connection.roster.annotators, required=True)
    people = [
        number
        for number, standing in standings.items()
        if standing == "failed"
        or (standing == "passed" and (everybody or (number, SECOND) in marked.pages))
    ]
    wanted = exam_tasks.feedback_tasks(marked.exam, marked.answers, people)
    counts = exam_tasks.push(connection, params, "feedback", wanted)
    asked = wanted["annotator"].nunique()
    following = "; next: python -m annotation.people invite" if asked else ""
    return (
        f"exam: feedback to {asked} people: {counts['added']} tasks added,"
        f" {counts['closed']} closed{following}"
    )


def _refuse_without_exam() -> None:
    if tables.EXAM.read().empty:
        raise CampaignError(
            f"{tables.EXAM.path}: no exam has been given yet: python -m annotation.exam push"
        )


def report(connection: Connection, params: Params, marked: Marked) -> str:
    """Return everyone's results."""
    standings = find_standings(
        connection.roster.annotators, marked.exam, marked.answers, marked.results
    )
    return text(marked, params.exam, standings)


def main(options: argparse.Namespace) -> None:
    """Run the chosen command.

    Raises:
        CampaignError: the campaign is in no state for it, or no server is configured.
    """
    connection, params = require_connection(f"annotation.exam {options.do}"), load()
    with hold_lock("exam"):
        match options.do:
            case "push":
                cli.log(push(connection, params, beside_others=options.beside_others))
            case "feedback":
                cli.log(feedback(connection, params, everybody=options.all))
            case "mark":
                sys.stdout.write(report(connection, params, mark(connection, params)))
            case _:
                _refuse_without_exam()
                marked = fetch_and_mark(connection, params.exam)
                sys.stdout.write(report(connection, params, marked))


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, with the campaign that is open there.")
    commands = parser.add_subparsers(dest="do", required=True, metavar="VERB")
    give = commands.add_parser("push", help="give the exam to everyone who has not finished it")
    give.add_argument(
        "--beside-others",
        action="store_true",
        help="share the server with another campaign: needed once, for the first push",
    )
    commands.add_parser("mark", help="fetch and mark the answers, and show the results")
    again = commands.add_parser("feedback", help="give people their failed pairs again")
    again.add_argument("--all", action="store_true", help="include people who passed")
    commands.add_parser("status", help="show everyone's results; change nothing")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
