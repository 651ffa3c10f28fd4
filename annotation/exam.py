"""Examine people before they judge (paper, Appendix B.2).

    python -m annotation.exam push [--beside-others]
    python -m annotation.exam mark
    python -m annotation.exam feedback [--all]
    python -m annotation.exam status

`push` gives everybody the same pairs (`exam` in params.yaml), in a project of their own. The first
push chooses them for the whole campaign, and writes them to datasets/campaign/exam.csv: the pairs
of datasets/campaign/gold.csv if there are enough of them, else the first candidates of some
queries. Later ones give the exam to newcomers. The right level is the lead's gold, else the
median (of an even number the higher) of the first `exam.group` people to finish; then it is
frozen. These people are marked against it as well. Where most of the group could not judge a
pair, it counts for nobody.

An answer fails that is more than 1 away, or says no level. Who fails a larger share than
`exam.max_failed` has failed. `feedback` gives them their failed pairs once more, with the right
level, what the guideline says of it, and their first answer (`--all`: also to those who passed).
These answers replace the failed ones: that is the second attempt. After it you decide, in
datasets/campaign/annotators.yaml: `admitted: true` lets somebody judge, `active: false` parts.

`mark` fetches the answers and writes exam_answers.csv and qualifications.csv beside exam.csv;
`dvc repro` does so too. `status` only shows how everybody stands. With `exam.required`, nobody
gets other tasks before they have passed or are admitted.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from annotation.answers.exam_answers import fetch_and_mark, write
from annotation.label_studio.connection import Connection, hold_lock, require_connection
from annotation.quality.exam import choose_pairs, is_frozen
from annotation.quality.exam_text import text
from annotation.quality.marking import SECOND, Marked
from annotation.quality.standing import Standing, find_standings, read_standings
from annotation.tasks import exam_tasks
from pipeline.campaign.campaign import CampaignError
from pipeline.core import cli, git, tables
from pipeline.core.params import Params, load

TAKES: Sequence[Standing] = ("to-begin", "begun")


def push(connection: Connection, params: Params, *, beside_others: bool = False) -> str:
    """Give the exam to everybody who has not finished it; choose its pairs if nobody has yet.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: there is nothing to judge, or it is another campaign's server.
    """
    _choose_once(connection, params)
    exam, answers = tables.EXAM.read(), tables.EXAM_ANSWERS.read()
    standings = read_standings(connection.roster.annotators, required=True)
    people = [who for who, one in standings.items() if one in TAKES]
    wanted = exam_tasks.exam_tasks(exam, answers, people)
    figures = exam_tasks.push(connection, params, "exam", wanted, beside_others=beside_others)
    return (
        f"exam: {len(exam)} pairs of {exam['query_id'].nunique()} queries for {len(people)} people;"
        f" {figures['added']} tasks added, {figures['closed']} closed; next:"
        " python -m annotation.people invite"
    )


def _choose_once(connection: Connection, params: Params) -> None:
    if len(tables.EXAM.read()):
        return
    candidates = exam_tasks.read_candidates()
    chosen = choose_pairs(candidates, tables.GOLD.read(), connection.campaign.id, params.exam)
    if chosen.empty:
        raise CampaignError(
            f"{tables.CLIPS.path}: no candidate of the frozen queries has a clip, so there is"
            " nothing to examine by: dvc repro clips"
        )
    tables.EXAM.write(chosen)
    git.commit([tables.EXAM.path], "Choose the pairs of the exam")


def mark(connection: Connection, params: Params) -> Marked:
    """Fetch the answers, mark them, and write what came of it.

    Raises:
        StudioError: the server can't be reached or fails; nothing is written.
        CampaignError: there is no exam, or it is another campaign's server.
    """
    _refuse_without_exam()
    marked = fetch_and_mark(connection, params.exam)
    write(marked)
    return marked


def feedback(connection: Connection, params: Params, *, everybody: bool = False) -> str:
    """Give people their failed pairs once more.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: too few have finished for anybody's answers to be marked.
    """
    marked = mark(connection, params)
    if not is_frozen(marked.exam):
        raise CampaignError(
            f"{tables.EXAM.path}: the right levels are not known yet; they will be when"
            f" {params.exam.group} people have finished: python -m annotation.exam status"
        )
    standings = read_standings(connection.roster.annotators, required=True)
    people = [
        who
        for who, one in standings.items()
        if one == "failed" or (one == "passed" and (everybody or (who, SECOND) in marked.pages))
    ]
    wanted = exam_tasks.feedback_tasks(marked.exam, marked.answers, people)
    figures = exam_tasks.push(connection, params, "feedback", wanted)
    asked = wanted["annotator"].nunique()
    following = "; next: python -m annotation.people invite" if asked else ""
    return (
        f"exam: feedback to {asked} people: {figures['added']} tasks added,"
        f" {figures['closed']} closed{following}"
    )


def _refuse_without_exam() -> None:
    if tables.EXAM.read().empty:
        raise CampaignError(
            f"{tables.EXAM.path}: no exam was given yet: python -m annotation.exam push"
        )


def report(connection: Connection, params: Params, marked: Marked) -> str:
    """Return how everybody stands."""
    standings = find_standings(
        connection.roster.annotators, marked.exam, marked.answers, marked.results
    )
    return text(marked, params.exam, standings)


def main(options: argparse.Namespace) -> None:
    """Run the chosen command.

    Raises:
        CampaignError: no campaign is open here, or no server is configured.
    """
    connection, params = require_connection(), load()
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
    commands = parser.add_subparsers(dest="do", required=True)
    give = commands.add_parser("push", help="give the exam to everybody who has not finished it")
    give.add_argument(
        "--beside-others",
        action="store_true",
        help="share the server with another campaign: needed once, before the first push",
    )
    commands.add_parser("mark", help="fetch and mark the answers, and show the results")
    again = commands.add_parser("feedback", help="give people their failed pairs once more")
    again.add_argument("--all", action="store_true", help="also to those who have passed")
    commands.add_parser("status", help="show how everybody stands; change nothing")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
