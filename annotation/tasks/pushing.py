"""The reconciliation of Label Studio with a plan: what is missing is added, the rest closed."""

from functools import partial
from typing import Any

import pandas as pd

from annotation.assignment.shown import join_details, join_shown, read_pairs_to_judge
from annotation.label_studio import guideline
from annotation.label_studio.connection import Connection
from annotation.tasks import tasks
from annotation.tasks.annotator_project import ProjectSettings
from annotation.tasks.ledger import append_pairs, find_restored, find_unrecorded
from annotation.tasks.reconcile import reconcile
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables
from pipeline.core.params import Params


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
    """Append what is shown for votes, and the pairs whose present form the ledger lacks.

    Pairs that are shown only as hidden checks are not part of the collection.
    """
    ledger, pairs = tables.PAIRS.read(), pairs[pairs["kind"].isin(tables.VOTING)]
    judgments = tables.JUDGMENTS.read()
    unrecorded = find_unrecorded(ledger, judgments[judgments["kind"].isin(tables.VOTING)])
    if len(unrecorded):
        described = describe_pairs(unrecorded[PAIR_KEY].drop_duplicates(), params)
        restored = find_restored(unrecorded, described)
        pairs = pd.concat([pairs, restored], ignore_index=True)
    tables.PAIRS.write(append_pairs(ledger, pairs))


def describe_pairs(assignments: pd.DataFrame, params: Params) -> pd.DataFrame:
    """Return assignments with what is shown of each."""
    judged = read_pairs_to_judge(params.candidates.batch)
    pairs = join_shown(*judged, tables.QUERIES.read(), tables.CLIPS.read())
    return join_details(assignments.merge(pairs, on=PAIR_KEY, validate="m:1"))
