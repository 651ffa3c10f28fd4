"""Let simulated annotators answer the open tasks of a rehearsal.

    python -m annotation.simulate [--share 0.5] [--seed 1]

Each has their own bias and noise around the true levels of the sample corpus, or answers according
to the `kind` of their account in annotators.private.yaml (lazy, contrary, random). They answer as a
browser would, logged in through the form: this works with a server from `make label-studio`, and
with one behind HTTPS, whatever tokens it issues. Then run `dvc repro` again, until the plan is
empty. It refuses unless campaign.yaml says that this is a rehearsal: in a real campaign only
people judge.
"""

import argparse
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import NamedTuple

from annotation.label_studio import page
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.connection import Connection, require_connection
from annotation.label_studio.keys import Key
from annotation.label_studio.projects import find_projects
from annotation.label_studio.records import Project, Purpose
from annotation.roster.roster import Account
from annotation.simulation.accounts import Visitor
from annotation.simulation.answers import SEED, Truth
from annotation.simulation.kinds import answer, answer_again, create_simulated
from annotation.simulation.truth import truth
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.guideline import ReasonName
from pipeline.core import cli
from pipeline.core.progress import progress
from pipeline.core.tables import PRIVATE

TOGETHER = 2
"""More in parallel are slower: Django's own server uses one core, and SQLite has one writer."""


ANSWERED: tuple[Purpose, ...] = ("exam", "feedback", "campaign")


class Work(NamedTuple):
    """A task, and whose it is."""

    annotator: int
    task: int
    key: Key


def simulate(connection: Connection, level: Truth, share: float, seed: int) -> int:
    """Answer a share of each person's open tasks, in order; return how many.

    Raises:
        StudioError: the server can't be reached, refuses or fails.
        CampaignError: this is not a rehearsal.
    """
    if not connection.campaign.rehearsal:
        raise CampaignError(
            f"the campaign {connection.campaign.name!r} is not a rehearsal: only people judge"
            " in it. For a rehearsal, use a separate checkout:"
            " python -m annotation.campaign open --rehearsal --people 6 --name Rehearsal"
        )
    # The accounts of active, simulated people: those whose password is known.
    active = {person.number for person in connection.roster.annotators if person.active}
    accounts = connection.roster.accounts.items()
    people = {
        number: account for number, account in accounts if number in active and account.password
    }
    projects = [
        (number, project)
        for purpose in ANSWERED
        for number, project in find_projects(connection, purpose).items()
        if number in people
    ]
    judging = {number: people[number] for number in sorted({number for number, _ in projects})}
    work = [
        Work(number, task, key)
        for number, project in sorted(projects)
        for task, key in _open(connection, project, share)
    ]
    simulated = create_simulated(people, seed)
    labels = connection.campaign.guidelines[-1].labels
    with _log_in(connection.studio, judging) as visitors, ThreadPoolExecutor(TOGETHER) as pool:

        def send(job: Work) -> None:
            pair = (job.key.query_id, job.key.moment_id)
            answer_as_asked = answer_again if job.key.kind == "feedback" else answer
            answered = answer_as_asked(simulated[job.annotator], level(*pair), *pair)
            reason: ReasonName | None = "broken-clip" if answered.level is None else None
            result = page.result_of(labels, answered.level, reason)
            visitors[job.annotator].answer(job.task, result, answered.seconds)

        done = pool.map(send, work)
        list(progress("judge", done, total=len(work), unit="pairs"))
    return len(work)


@contextmanager
def _log_in(studio: LabelStudio, people: Mapping[int, Account]) -> Iterator[dict[int, Visitor]]:
    with ExitStack() as stack:
        invite = studio.invite_path()
        yield {
            number: stack.enter_context(closing(Visitor(studio.url, invite, account)))
            for number, account in people.items()
        }


def _open(connection: Connection, project: Project, share: float) -> list[tuple[int, Key]]:
    tasks = connection.studio.tasks(project)
    keys = [(task.id, connection.signer.read(task.pair)) for task in tasks if task.waits]
    open_tasks = [(task, key) for task, key in keys if key is not None]
    return open_tasks[: round(share * len(open_tasks))]


def main(options: argparse.Namespace) -> None:
    """Answer, and log how many tasks."""
    done = simulate(require_connection("annotation.simulate"), truth(), options.share, options.seed)
    more = "" if done else f"; is everyone's account in {PRIVATE}, and has `dvc repro` run?"
    cli.log(f"simulate: {done} tasks answered{more}")


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder, with the campaign that is open there.")
    parser.add_argument(
        "--share", type=cli.parse_share, default=1.0, help="share of each person's open tasks (1.0)"
    )
    parser.add_argument("--seed", type=int, default=SEED, help=f"seed of people's noise ({SEED})")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
