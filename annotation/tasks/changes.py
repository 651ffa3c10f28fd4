"""The difference between a project's tasks and those in the plan: pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from annotation.label_studio.keys import Key
from annotation.label_studio.records import Task

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
