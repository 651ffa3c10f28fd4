"""Reconcile the projects of one purpose with the tasks that should be open in them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from annotation.label_studio import projects
from annotation.label_studio.connection import Connection
from annotation.label_studio.keys import Key
from annotation.tasks import lock, tasks, unfinished
from annotation.tasks.annotator_project import (
    ProjectSettings,
    close_and_reopen,
    diff_tasks,
    ensure_project,
)

Keys = Mapping[int, Sequence[Key]]
"""The keys of the tasks that each annotator should have open."""


def reconcile(
    connection: Connection,
    common: ProjectSettings,
    keys: Keys,
    data_of: tasks.TaskData,
    record: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Add missing tasks, close those no longer wanted, and return the figures.

    Everyone with keys gets a project. It can be interrupted at any moment and run again, with the
    same result. `record` writes down what will be shown, before anyone can answer.

    Raises:
        StudioError: the server can't be reached or fails; what was done stays done.
        CampaignError: it is another campaign's, or another checkout is pushing.
    """
    studio, campaign = connection.studio, connection.campaign
    unfinished.wait_for_pending()
    find = partial(
        projects.find_projects, connection, common.purpose, beside_others=common.beside_others
    )
    find()  # the right server?
    with lock.hold(studio, campaign.id) as turn:
        found_projects = find()
        for annotator in sorted(keys.keys() | found_projects.keys()):
            turn.renew()
            project, left = found_projects.get(annotator), len(keys.get(annotator, []))
            found_projects[annotator] = ensure_project(connection, common, annotator, project, left)
        diffs = []
        for annotator, project in sorted(found_projects.items()):
            turn.renew()
            diffs.append(diff_tasks(connection, annotator, project, keys.get(annotator, [])))
        record()
        for diff in diffs:
            close_and_reopen(connection, diff, turn.renew)
        tasks.add(connection, diffs, data_of, turn.renew)
    counts = {"added": "add", "closed": "close", "reopened": "reopen"}
    return {"projects": len(diffs)} | {
        name: sum(len(getattr(diff.changes, kind)) for diff in diffs)
        for name, kind in counts.items()
    }
