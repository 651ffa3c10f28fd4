"""The reconciliation of Label Studio with a plan: what is missing is added, the rest closed.

The table of pairs that were shown is append-only, with a permanent number for each pair.
"""

from functools import partial
from typing import Any

import pandas as pd

from annotation.assignment.shown import join_details, join_shown, read_pairs_to_judge
from annotation.label_studio import guideline
from annotation.label_studio.connection import Connection
from annotation.tasks import tasks
from annotation.tasks.annotator_project import ProjectSettings
from annotation.tasks.reconcile import reconcile
from annotation.votes.votes import is_in, last_shown
from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY
from pipeline.core import rng, tables
from pipeline.core.params import Params


def append_pairs(ledger: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """Return the ledger with a new row for each pair in `shown` that differs from its last row.

    `shown` has the ledger's columns without `pair_id`. A pair whose text or clip has changed
    gets a new number; so does one that is back to an earlier form. Old rows stay. The numbers of a
    query's pairs are in the order of a hash: they are released, and say nothing of the ranks.
    """
    distinct = shown.drop_duplicates(SHOWN_KEY)
    pairs = zip(distinct["query_id"], distinct["moment_id"], strict=True)
    shuffled = distinct.assign(order=[rng.draw("pair", *pair) for pair in pairs])
    ordered = shuffled.sort_values(["query_id", "order", "moment_id"])
    new = ordered[~is_in(ordered, last_shown(ledger), SHOWN_KEY)]
    first = 0 if ledger.empty else int(ledger["pair_id"].max()) + 1
    numbered = new.assign(pair_id=range(first, first + len(new)))[ledger.columns]
    return tables.PAIRS.check(pd.concat([ledger, numbered], ignore_index=True))


def find_unrecorded(ledger: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Return the forms (`SHOWN_KEY`) that were shown or have votes, but are not the last row.

    A pair is back to an earlier form; or its row was lost, where git could not merge two ledgers
    and one was taken.
    """
    before = pd.concat([ledger[SHOWN_KEY], votes[SHOWN_KEY]]).drop_duplicates()
    return before[~is_in(before, last_shown(ledger), SHOWN_KEY)]


def find_restored(unrecorded: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `now` that have one of these forms (`find_unrecorded`).

    Their judgments count, although nobody needs to be asked: the ledger must record this, because
    the consensus reads nothing else.
    """
    return now.merge(unrecorded, on=SHOWN_KEY).drop_duplicates(PAIR_KEY)


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
