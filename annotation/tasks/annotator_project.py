"""One annotator's project on the server, and the changes it needs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from pipeline.core import cli, tables
from pipeline.core.progress import progress

Read = Callable[[Task], Key | None]
"""Return a task's key, if it is ours and the task shows what it says."""


class Changes(NamedTuple):
    """Keys to add, and numbers of tasks to take out of the stream or to put back."""

    add: list[Key]
    close: list[int]
    reopen: list[int]


def compare_tasks(wanted: Iterable[Key], tasks: Sequence[Task], read: Read) -> Changes:
    """Compare what one annotator should have open with the tasks of their project.

    Nothing is ever deleted, and an answered task is never reopened. If a task appears twice, one
    is kept: an answered one, else an open one, else the older.
    """
    by_identity = group_by_identity(tasks, read)
    asked = {key.identity: key for key in wanted}
    reopen, keep = [], set()
    for identity in asked.keys() & by_identity.keys():
        holder = min(
            by_identity[identity], key=lambda task: (task.answers == 0, task.closed, task.id)
        )
        keep.add(holder.id)
        if holder.closed and not holder.answers:
            reopen.append(holder.id)
    close = [task.id for task in tasks if not task.closed and task.id not in keep]
    add = [key for identity, key in asked.items() if identity not in by_identity]
    return Changes(add, sorted(close), sorted(reopen))


def group_by_identity(tasks: Iterable[Task], read: Read) -> Mapping[object, list[Task]]:
    """Group our tasks by what they show and to whom: usually one each."""
    by_identity: dict[object, list[Task]] = defaultdict(list)
    for task in tasks:
        key = read(task)
        if key is not None:
            by_identity[key.identity].append(task)
    return by_identity


def find_doubtful(tasks: Iterable[Task], read: Read, wanted: Iterable[Key]) -> list[Task]:
    """Return the tasks whose number of answers may mislead: whose they are must be looked up.

    They are wanted although they count as answered, or appear more than once. Label Studio goes on
    counting an answer that was moved to another task.
    """
    asked = {key.identity for key in wanted}
    groups = group_by_identity(tasks, read).items()
    doubtful = (group for identity, group in groups if len(group) > 1 or identity in asked)
    return [task for group in doubtful for task in group if task.answers]


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
        deviated = deviations.open_period(
            tables.DEVIATIONS.read_or_empty(), whose, found.texts, connection
        )
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
        tables.DEVIATIONS.write(
            deviations.close(tables.DEVIATIONS.read_or_empty(), whose, studio.now())
        )
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
