"""Bring Label Studio in line with the plan: add missing tasks, close those no longer wanted.

reads   datasets/work/assignments.parquet, and what is shown of each pair
writes  datasets/campaign/pairs.csv (the ledger of what was shown), datasets/work/push_receipt.json,
        and one project for each annotator in Label Studio

It checks what is there, and adds only what is missing: it can be interrupted at any moment and run
again, with the same result. Nothing is ever deleted. A task that is no longer wanted is closed;
an answer to it is still pulled.
"""

import argparse
from functools import partial
from typing import Any

import pandas as pd

from annotation.label_studio import guideline
from annotation.label_studio.connection import Connection, connect, hold_lock
from annotation.tasks import tasks
from annotation.tasks.pairs import append_pairs, find_restored
from annotation.tasks.projects import ProjectSettings
from annotation.tasks.reconcile import reconcile
from annotation.tasks.shown import join_details, join_shown, read_pairs_to_judge
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import cli, files, tables
from pipeline.core.params import Params, load

RECEIPT = tables.WORK / "push_receipt.json"


def push(
    connection: Connection, pairs: pd.DataFrame, params: Params, *, beside_others: bool = False
) -> dict[str, Any]:
    """Reconcile the server with the plan, and return the figures.

    `pairs` are the assignments with what is shown of each.

    Raises:
        StudioError: the server can't be reached or fails; what was done stays done.
        CampaignError: it is another campaign's, the guideline is not the campaign's, or another
            checkout is pushing.
    """
    guide, clips = guideline.of_campaign(connection.campaign, params.annotation), params.clips.url
    return reconcile(
        connection,
        ProjectSettings("campaign", guide, clips, beside_others),
        tasks.keys_by_annotator(pairs, guide.version),
        tasks.TaskData(pairs, clips, params.push.batch),
        partial(_record_shown, pairs, params),
    )


def _record_shown(pairs: pd.DataFrame, params: Params) -> None:
    """Append what is shown for votes, and the pairs that are back to an earlier form.

    Pairs that are shown only as hidden checks are not part of the collection.
    """
    ledger, pairs = tables.PAIRS.read(), pairs[pairs["kind"].isin(tables.VOTING)]
    changed = ledger.loc[ledger.duplicated(PAIR_KEY), PAIR_KEY].drop_duplicates()
    if len(changed):
        restored = find_restored(ledger, describe_pairs(changed, params))
        pairs = pd.concat([pairs, restored], ignore_index=True)
    tables.PAIRS.write(append_pairs(ledger, pairs))


def describe_pairs(assignments: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Return assignments with what is shown of each."""
    judged = read_pairs_to_judge(params.candidates.batch)
    pairs = join_shown(*judged, tables.QUERIES.read(), tables.CLIPS.read())
    return join_details(assignments.merge(pairs, on=PAIR_KEY, validate="m:1"))


def main(options: argparse.Namespace) -> None:
    """Push, if a campaign is open and a server is configured."""
    params = load()
    connection = connect("push")
    if connection is None:
        tables.PAIRS.write(tables.PAIRS.read())
        return files.write_json(RECEIPT, {"server": None})
    pairs = describe_pairs(tables.ASSIGNMENTS.read(), params)
    with hold_lock("push"):
        figures = push(connection, pairs, params, beside_others=options.beside_others)
    cli.log(
        f"push: {figures['added']} tasks added, {figures['closed']} closed,"
        f" {figures['reopened']} reopened, in {figures['projects']} projects"
    )
    return files.write_json(RECEIPT, {"server": connection.studio.url, **figures})


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Reads params.yaml and .env in the current folder; `dvc repro` runs it.")
    parser.add_argument(
        "--beside-others",
        action="store_true",
        help="share the server with another campaign: needed once, for the first push",
    )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
