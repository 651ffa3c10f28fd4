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
from typing import Any

import pandas as pd

from annotation.label_studio import guideline, projects
from annotation.label_studio.connection import Connection, alone, connect
from annotation.label_studio.guideline import Guideline
from annotation.tasks import lock, tasks, unfinished
from annotation.tasks import projects as desks
from annotation.tasks.pairs import appended, returned
from annotation.tasks.projects import Desk
from annotation.tasks.shown import details, showing, to_judge
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import PAIR
from pipeline.core import cli, files, tables
from pipeline.core.params import Params, load

RECEIPT = tables.WORK / "push_receipt.json"


def push(
    connection: Connection, pairs: pd.DataFrame, params: Params, *, beside_others: bool = False
) -> dict[str, Any]:
    """Reconcile the server with the plan, and return the figures of it.

    `pairs` are the assignments with what is shown of each.

    Raises:
        StudioError: the server can't be reached or fails; what is done stays done.
        CampaignError: it is another campaign's, the guideline is not the campaign's, or another
            checkout pushes.
    """
    guide, studio = _guideline(connection), connection.studio
    unfinished.settle()
    projects.ours(studio, connection.campaign, beside_others=beside_others)  # the right server?
    with lock.hold(studio, connection.campaign.id) as turn:
        there = projects.ours(studio, connection.campaign, beside_others=beside_others)
        keys = tasks.keys_of(pairs, guide.version)
        for annotator in sorted(keys.keys() | there.keys()):
            found = there.get(annotator)
            turn.renew()
            there[annotator] = desks.prepared(connection, guide, annotator, found, params.clips.url)
        laid_out = []
        for annotator, project in sorted(there.items()):
            turn.renew()
            wanted = keys.get(annotator, [])
            laid_out.append(desks.laid_out(connection, annotator, project, wanted))
        _append_to_ledger(pairs, params)  # before anybody can answer
        for desk in laid_out:
            desks.close_and_reopen(connection, desk, turn.renew)
        shown = tasks.Shown(pairs, params.clips.url, params.push.batch)
        tasks.add(connection, laid_out, shown, turn.renew)
    return _figures(laid_out)


def _append_to_ledger(pairs: pd.DataFrame, params: Params) -> None:
    known = tables.PAIRS.read()
    shown = pd.concat([pairs, _shown_again(known, params)], ignore_index=True)
    tables.PAIRS.write(appended(known, shown))


def _guideline(connection: Connection) -> Guideline:
    found, wanted = guideline.current(), connection.campaign.guideline
    if found.version != wanted:
        raise CampaignError(
            f"{guideline.FILE}: is version {found.version}, but the campaign was opened with"
            f" {wanted}, and answers under two guidelines don't mix; `git restore"
            f" {guideline.FILE}`, or close this campaign and open another"
        )
    return found


def _figures(desks: Sequence[Desk]) -> dict[str, Any]:
    return {
        "projects": len(desks),
        "added": sum(len(desk.changes.add) for desk in desks),
        "closed": sum(len(desk.changes.close) for desk in desks),
        "reopened": sum(len(desk.changes.reopen) for desk in desks),
    }


def _shown_again(known: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Return what is shown of the pairs that are again as they once were."""
    changed = known.loc[known.duplicated(PAIR), PAIR].drop_duplicates()
    if changed.empty:
        return changed
    return returned(known, with_showing(changed, params))


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
    cli.log(
        f"push: {figures['added']} tasks added, {figures['closed']} closed,"
        f" {figures['reopened']} given out again, in {figures['projects']} projects"
    )
    return _receive({"server": connection.studio.url, **figures})


def _receive(figures: Mapping[str, Any]) -> None:
    files.write_json(RECEIPT, figures)


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Reads params.yaml and .env in the current folder; `dvc repro` runs it.")
    parser.add_argument(
        "--beside-others",
        action="store_true",
        help="share the server with another campaign: needed once, before the first push",
    )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
