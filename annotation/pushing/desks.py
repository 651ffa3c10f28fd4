"""One annotator's project on the server, and what must change in it."""

from collections.abc import Sequence
from typing import NamedTuple

from tqdm import tqdm

from annotation import page
from annotation.connection import Connection
from annotation.guideline import Guideline
from annotation.keys import Key
from annotation.pushing import journal, media
from annotation.pushing.changes import Changes, changes
from annotation.studio import projects
from annotation.studio.records import Project


class Desk(NamedTuple):
    """One annotator's project, and what is to be changed in it."""

    project: Project
    changes: Changes


def prepared(
    connection: Connection,
    guideline: Guideline,
    annotator: int,
    found: Project | None,
    clips: str,
) -> Project:
    """Return an annotator's project as it should be; make it if there is none.

    The description is finished last, and says that all before it is done.
    """
    campaign, studio = connection.campaign, connection.studio
    place = media.place(clips)
    settings = {
        **page.OPTIONS,
        "title": projects.title(campaign.name, annotator),
        "description": projects.description(campaign.id, annotator, place),
        "label_config": page.label_config(guideline),
        "expert_instruction": guideline.html,
    }
    if found is None:
        mark = projects.mark(campaign.id, annotator)
        marked = {"title": settings["title"], "description": mark}
        with journal.noted(f"the project of annotator {annotator}"):
            found = studio.create(marked)
    if any(getattr(found, name) != settings[name] for name in projects.COMPARED):
        media.serve(studio, found, place)
        studio.change(found, settings)
    return found


def laid_out(connection: Connection, project: Project, keys: Sequence[Key]) -> Desk:
    """Compare a project with the keys that its annotator should have open."""
    found = list(connection.studio.tasks(project)) if project.tasks else []
    return Desk(project, changes(keys, found, connection.signer.read))


def close_and_reopen(connection: Connection, desk: Desk) -> None:
    """Take out of the stream what is not wanted any more, and give out again what is."""
    name = desk.project.title
    for tasks, closed in ((desk.changes.close, True), (desk.changes.reopen, False)):
        what = f"{name}: {'close' if closed else 'reopen'}"
        for task in tqdm(tasks, what, unit=" tasks", disable=None if tasks else True):
            connection.studio.set_closed(task, closed)
