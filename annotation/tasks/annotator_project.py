"""One annotator's project on the server, and the changes it needs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from annotation.answers import deviations, reader
from annotation.answers.history import first_pairs
from annotation.answers.judgments import is_owners
from annotation.answers.reader import owners
from annotation.label_studio import page, projects, storage
from annotation.label_studio.connection import Connection
from annotation.label_studio.guideline import Guideline
from annotation.label_studio.keys import Key
from annotation.label_studio.records import Project, Purpose, Task
from annotation.label_studio.setup import find_differences, seal_settings
from annotation.tasks import unfinished
from annotation.tasks.changes import Changes, compare_tasks, find_doubtful
from pipeline.core import cli, tables
from pipeline.core.progress import progress

Step = Callable[[], None]
"""Called before each write: it raises if this push may no longer write."""


class ProjectSettings(NamedTuple):
    """What the projects of one purpose have in common; `clips` is `clips.url`.

    `beside_others`: the server has another campaign's projects as well, intentionally.
    """

    purpose: Purpose
    guideline: Guideline
    clips: str
    beside_others: bool = False


class ProjectDiff(NamedTuple):
    """One annotator's project, and the changes to make in it."""

    project: Project
    changes: Changes


def ensure_project(
    connection: Connection,
    common: ProjectSettings,
    annotator: int,
    project: Project | None,
    left: int,
) -> Project:
    """Return an annotator's project as it should be; create it if there is none.

    `left` is how many tasks will wait in it. The description is completed last, which shows that
    everything else is done.
    """
    campaign, studio, purpose = connection.campaign, connection.studio, common.purpose
    clips = storage.location(common.clips)
    expected = deviations.expected_settings(connection, common.guideline, purpose, annotator)
    settings = seal_settings(
        connection.signer,
        {
            **expected,
            "description": projects.description(campaign.id, annotator, clips, purpose),
            "expert_instruction": page.instruction(
                common.guideline, project.answers if project else 0, left
            ),
        },
    )
    if project is None:
        mark = projects.mark(campaign.id, annotator, purpose)
        marked = {"title": settings["title"], "description": mark}
        with unfinished.pending_write(f"the project {settings['title']!r}"):
            project = studio.create(marked)
    found = find_differences(connection, project, common.clips, expected)
    whose = annotator, purpose
    if found.texts:
        deviated = deviations.open_period(deviations.read(), whose, found.texts, connection)
        tables.DEVIATIONS.write(deviated)
        cli.log(f"push: restore {project.title!r}: {'; '.join(found.texts)}")
        if project.predictions:
            studio.delete_predictions(project)
    for attachment in found.foreign:
        studio.detach(attachment)
    if found.texts or project.settings != settings:
        storage.attach(studio, project, clips)
        studio.change(project, settings)
    if found.texts:
        tables.DEVIATIONS.write(deviations.close(deviations.read(), whose, studio.now()))
    return project


def diff_tasks(
    connection: Connection, annotator: int, project: Project, keys: Sequence[Key]
) -> ProjectDiff:
    """Compare a project with the keys that its annotator should have open.

    A task without an answer of theirs does not count as answered; if it is wanted, a fresh one is
    added: Label Studio would not offer it again.
    """
    tasks = list(connection.studio.tasks(project)) if project.tasks else []
    read = connection.signer.read_shown
    doubtful = find_doubtful(tasks, read, keys)
    strange = _answered_by_others(connection, annotator, project) if doubtful else set()
    away = {task.id for task in doubtful} & strange

    def read_own(task: Task) -> Key | None:
        return None if task.id in away else read(task)

    return ProjectDiff(project, compare_tasks(keys, tasks, read_own))


def _answered_by_others(connection: Connection, annotator: int, project: Project) -> set[int]:
    [owner] = owners(connection, [annotator])
    tasks = reader.read(connection.studio, project)
    known_pairs = first_pairs(tables.JUDGMENT_HISTORY.read())
    keys = {number: connection.signer.read(task.pair) for number, task in tasks.items()}
    return {
        number
        for number, task in tasks.items()
        if not any(is_owners(answer, owner, keys[number], known_pairs) for answer in task.answers)
    }


def close_and_reopen(connection: Connection, diff: ProjectDiff, step: Step) -> None:
    """Take tasks out of the stream that are no longer wanted, and put back those that are."""
    name = diff.project.title
    for tasks, closed in ((diff.changes.close, True), (diff.changes.reopen, False)):
        what = f"{name}: {'close' if closed else 'reopen'}"
        for task in progress(what, tasks, total=len(tasks), unit="tasks"):
            step()
            connection.studio.set_closed(task, closed)
