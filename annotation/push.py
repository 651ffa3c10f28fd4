"""Bring Label Studio to what the plan wants: add what is missing, close what is not wanted.

reads   datasets/work/assignments.parquet, and what is shown of each pair
writes  datasets/campaign/pairs.csv (the ledger of what was shown), datasets/work/push_receipt.json,
        and one project for each annotator in Label Studio

It looks at what is there, and adds only what is not: stopped at any moment and run again, the
result is the same. Nothing is ever deleted; a task that is no longer wanted is closed, and an
answer to it is still pulled.
"""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from tqdm import tqdm

from annotation import page
from annotation.connection import Connection, alone, connect
from annotation.keys import Key
from annotation.opened import CampaignError
from annotation.page import Guideline
from annotation.pushing import journal, ledger, media
from annotation.pushing.changes import Changes, changes
from annotation.pushing.order import shuffled
from annotation.showing import details, showing, to_judge
from annotation.studio import projects
from annotation.studio.client import Project
from pipeline import clip_store, files, stage, tables
from pipeline.params import Params, load

RECEIPT = tables.WORK / "push_receipt.json"
KEY = list(Key._fields)


class Desk(NamedTuple):
    """One annotator's project, and what is to be changed in it."""

    project: Project
    changes: Changes


def push(
    connection: Connection, pairs: pd.DataFrame, params: Params, *, beside_others: bool = False
) -> dict[str, Any]:
    """Reconcile the server with the plan, and return the figures of it.

    `pairs` are the assignments with what is shown of each.

    Raises:
        StudioError: the server can't be reached or fails; what is done stays done.
        CampaignError: it is another campaign's, or the guideline is not the campaign's.
    """
    guideline = _guideline(connection)
    journal.settle()
    there = projects.ours(connection.studio, connection.campaign, beside_others=beside_others)
    keys = keys_of(pairs, guideline.version)
    for annotator in sorted(keys.keys() | there.keys()):
        found = there.get(annotator)
        there[annotator] = _project(connection, guideline, annotator, found, params.clips.url)
    desks = [
        _desk(connection, project, keys.get(annotator, []))
        for annotator, project in sorted(there.items())
    ]
    tables.PAIRS.write(ledger.appended(tables.PAIRS.read(), pairs))  # before anybody can answer
    for desk in desks:
        _close_and_reopen(connection, desk)
    _add(connection, desks, Shown(pairs, params.clips.url), params.push.batch)
    return _figures(desks)


def _guideline(connection: Connection) -> Guideline:
    found, wanted = page.guideline(), connection.campaign.guideline
    if found.version != wanted:
        raise CampaignError(
            f"{page.GUIDELINE}: is version {found.version}, but the campaign was opened with"
            f" {wanted}, and answers under two guidelines don't mix; `git restore"
            f" {page.GUIDELINE}`, or close this campaign and open another"
        )
    return found


def keys_of(pairs: pd.DataFrame, guideline: str) -> dict[int, list[Key]]:
    """Return the keys of assignments by annotator."""
    rows = pairs.assign(guideline=guideline)[KEY]
    return {
        annotator: [Key(*row) for row in rows[rows["annotator"] == annotator].to_numpy().tolist()]
        for annotator in sorted(set(rows["annotator"].tolist()))
    }


def _project(
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


def _desk(connection: Connection, project: Project, keys: Sequence[Key]) -> Desk:
    found = list(connection.studio.tasks(project)) if project.tasks else []
    return Desk(project, changes(keys, found, connection.signer.read))


def _close_and_reopen(connection: Connection, desk: Desk) -> None:
    name = desk.project.title
    for tasks, closed in ((desk.changes.close, True), (desk.changes.reopen, False)):
        what = f"{name}: {'close' if closed else 'reopen'}"
        for task in tqdm(tasks, what, unit=" tasks", disable=None if tasks else True):
            connection.studio.set_closed(task, closed)


class Shown:
    """The data of tasks, by key."""

    def __init__(self, pairs: pd.DataFrame, setting: str) -> None:
        """Take pairs with what is shown of each, and `clips.url`."""
        rows = pairs.drop_duplicates(["query_id", "moment_id"])
        ids = zip(rows["query_id"], rows["moment_id"], strict=True)
        self._of = dict(zip(ids, zip(rows["query"], rows["clip"], strict=True), strict=True))
        self._setting = setting

    def data(self, key: Key, signed: str) -> Mapping[str, str]:
        """Return the data of a key's task."""
        query, clip = self._of[key.query_id, key.moment_id]
        return page.task_data(query, clip_store.url_of(clip, self._setting), signed)


def _add(connection: Connection, desks: Sequence[Desk], shown: Shown, batch: int) -> None:
    campaign, signer = connection.campaign.id, connection.signer
    total = sum(len(desk.changes.add) for desk in desks)
    with tqdm(total=total, desc="push", unit=" tasks", disable=None if total else True) as bar:
        for desk in desks:
            keys = shuffled(desk.changes.add, campaign)
            for begin in range(0, len(keys), batch):
                some = keys[begin : begin + batch]
                data = [shown.data(key, signer.sign(key)) for key in some]
                with journal.noted(f"{len(data)} tasks into {desk.project.title!r}"):
                    connection.studio.add(desk.project, data)
                bar.update(len(some))


def _figures(desks: Sequence[Desk]) -> dict[str, Any]:
    return {
        "projects": len(desks),
        "added": sum(len(desk.changes.add) for desk in desks),
        "closed": sum(len(desk.changes.close) for desk in desks),
        "reopened": sum(len(desk.changes.reopen) for desk in desks),
    }


def with_showing(assignments: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Return assignments with what is shown of each."""
    judged = to_judge(params.candidates.batch)
    pairs = showing(*judged, tables.QUERIES.read(), tables.CLIPS.read())
    return details(assignments.merge(pairs, on=["query_id", "moment_id"], validate="m:1"))


def main(options: argparse.Namespace) -> None:
    """Push, if a campaign is open and a server is configured."""
    params = load()
    connection = connect("push")
    if connection is None:
        tables.PAIRS.write(tables.PAIRS.read())
        return _receive({"server": None})
    pairs = with_showing(tables.ASSIGNMENTS.read(), params)
    with alone("push"):
        figures = push(connection, pairs, params, beside_others=options.beside_others)
    stage.say(
        f"push: {figures['added']} tasks added, {figures['closed']} closed,"
        f" {figures['reopened']} given out again, in {figures['projects']} projects"
    )
    return _receive({"server": connection.studio.url, **figures})


def _receive(figures: Mapping[str, Any]) -> None:
    files.write_json(RECEIPT, figures)


def _arguments() -> argparse.Namespace:
    parser = stage.parser("Reads params.yaml and .env in the current folder; `dvc repro` runs it.")
    parser.add_argument(
        "--beside-others",
        action="store_true",
        help="share the server with another campaign: needed once, before the first push",
    )
    return parser.parse_args()


if __name__ == "__main__":
    stage.report(partial(main, _arguments()))
