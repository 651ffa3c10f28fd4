"""Read a project's answers: all of them the first time, then only changes.

Label Studio reports which tasks were changed after a given time, and how many tasks and answers
there are. If the numbers do not match, something disappeared unnoticed, and all is read again.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import orjson
import pandas as pd

from annotation.answers.judgments import Owner
from annotation.label_studio.client import LabelStudio
from annotation.label_studio.connection import Connection
from annotation.label_studio.records import AnsweredTask, Project
from pipeline.campaign.campaign import CampaignError
from pipeline.core import files
from pipeline.core.tables import PRIVATE

CACHE = Path(".cache/campaign/answers")
OVERLAP = timedelta(minutes=1)
"""So that answers written shortly before they became readable are not missed."""
TRIES = 3

Tasks = Mapping[int, AnsweredTask]


def read(studio: LabelStudio, project: Project, *, full: bool = False) -> Tasks:
    """Return the project's tasks by number, and cache them for the next time.

    Raises:
        StudioError: the server can't be reached or fails; then nothing is cached.
    """
    tasks = {} if full else _load(project)
    for _ in range(TRIES if tasks else 0):
        since = max(task.updated_at for task in tasks.values()) - OVERLAP
        tasks = {**tasks, **_by_number(studio.answers(project, since))}
        if _is_complete(tasks, studio.project(project.id)):
            break
    else:
        tasks = _by_number(studio.answers(project, None))
    _save(project, tasks)
    return tasks


def _by_number(tasks: Iterable[AnsweredTask]) -> dict[int, AnsweredTask]:
    return {task.id: task for task in tasks}


def _is_complete(tasks: Tasks, project: Project) -> bool:
    answers = sum(len(task.answers) for task in tasks.values())
    return (len(tasks), answers) == (project.tasks, project.answers)


def _file(project: Project) -> Path:
    return CACHE / f"{project.id}.json"


def _save(project: Project, tasks: Tasks) -> None:
    entry = {"made": project.created_at, "tasks": [list(task) for task in tasks.values()]}
    try:
        content = orjson.dumps(entry)
    except orjson.JSONEncodeError:  # an answer contains what our page never sends: half a character
        content = b"{}"  # nothing: next time all is read again
    with files.unfinished(_file(project), "wb") as stream:
        stream.write(content)


def _load(project: Project) -> dict[int, AnsweredTask]:
    """Return what is cached for exactly this project; nothing after a server was wiped."""
    try:
        entry = orjson.loads(_file(project).read_bytes())
        if entry["made"] != project.created_at:
            return {}
        tasks = (AnsweredTask._make(row) for row in entry["tasks"])
        return _by_number(
            task._replace(updated_at=datetime.fromisoformat(str(task.updated_at))) for task in tasks
        )
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def date_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Return answers with `submitted_at` as instants."""
    instants = pd.to_datetime(answers["submitted_at"], format="ISO8601", utc=True)
    return answers.assign(submitted_at=instants)


def owners(connection: Connection, annotators: Iterable[int]) -> list[Owner]:
    """Return these annotators with the numbers of their accounts.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: an annotator's account is not known.
    """
    accounts, numbers = connection.roster.accounts, sorted(annotators)
    unknown = [number for number in numbers if number not in accounts]
    if unknown:
        raise CampaignError(
            f"{PRIVATE}: has no account for annotator {unknown[0]}, so their answers can't be"
            " identified; add it (accounts of people who left stay listed)"
        )
    users = connection.studio.users()
    numbers_of = {number: users.get(entry.email.lower()) for number, entry in accounts.items()}
    people = {account: number for number, account in numbers_of.items() if account is not None}
    return [Owner(number, numbers_of[number], people=people) for number in numbers]
