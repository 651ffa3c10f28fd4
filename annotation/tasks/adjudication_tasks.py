"""The tasks in which the lead or an expert decides: which pairs, for whom, what they show."""

from collections.abc import Mapping, Sequence

import pandas as pd

from annotation.answers.adjudications import fetch_decisions
from annotation.label_studio import guideline
from annotation.label_studio.connection import Connection
from annotation.label_studio.guideline import Guideline
from annotation.roster.annotator import DECIDING, Annotator
from annotation.roster.roster import PUBLIC, Roster
from annotation.tasks.annotator_project import ProjectSettings
from annotation.tasks.pushing import describe_pairs
from annotation.tasks.reconcile import reconcile
from annotation.tasks.tasks import Remarks, TaskData, keys_by_annotator
from pipeline.campaign.campaign import CampaignError
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import cli, rng, tables
from pipeline.core.params import Params
from pipeline.core.tables import PRIVATE

VoteTexts = Mapping[tuple[str, str], str]
"""The votes on pairs in words, by query_id and moment_id."""
UNSETTLED = ("discarded", "unjudgeable")


def find_unsettled(voted: pd.DataFrame, second_look: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs to decide, as `PAIR_KEY, why`: unsettled by votes, or listed.

    `voted` is the consensus of the votes alone.

    Raises:
        CampaignError: a listed pair has not been decided by votes.
    """
    outcomes = voted[[*PAIR_KEY, "voted_outcome"]].rename(columns={"voted_outcome": "why"})
    listed = second_look[PAIR_KEY].merge(outcomes, how="left", on=PAIR_KEY)
    unknown = listed[listed["why"].isna() | (listed["why"] == "waiting")]
    if len(unknown):
        query, moment, _ = unknown.iloc[0]
        raise CampaignError(
            f"{tables.SECOND_LOOK.path}: line {unknown.index[0] + 2}: people have not decided the"
            f" pair of query {query} and moment {moment}; correct or delete the line"
        )
    unsettled = outcomes[outcomes["why"].isin(UNSETTLED)]
    extra = listed[~listed["why"].isin(UNSETTLED)].drop_duplicates().assign(why="listed")
    return pd.concat([unsettled, extra]).sort_values(PAIR_KEY, ignore_index=True)


def find_deciders(people: Roster) -> list[int]:
    """Return who decides: the experts, or if there are none, the leads.

    Raises:
        CampaignError: there is nobody, or one of them has no account.
    """
    active = [person for person in people.annotators if person.active and person.role in DECIDING]
    experts = [person for person in active if person.role == "expert"] or active
    if not experts:
        raise CampaignError(
            f"{PUBLIC}: nobody has the role expert or lead; add a person who decides, such as"
            " `7: {role: expert, active: true}`, and their account to"
            f" {PRIVATE}"
        )
    _refuse_without_account(experts, people)
    return [person.number for person in experts]


def _refuse_without_account(experts: Sequence[Annotator], people: Roster) -> None:
    missing = [person.number for person in experts if person.number not in people.accounts]
    if missing:
        raise CampaignError(
            f"{PRIVATE}: annotator {missing[0]} decides, but has no account; add a line such as"
            f" `{missing[0]}: {{email: eva@example.org}}`"
        )


def give_to(pairs: pd.DataFrame, people: Sequence[int], campaign: str) -> pd.DataFrame:
    """Return pairs with the `annotator` who decides each: always the same one.

    A pair changes hands only if its annotator is no longer among them, or a newcomer draws it.
    """
    rows = zip(pairs["query_id"], pairs["moment_id"], strict=True)
    chosen = [
        min(people, key=lambda annotator: rng.draw(campaign, "adjudication", annotator, *pair))
        for pair in rows
    ]
    return pairs.assign(annotator=pd.Series(chosen, pairs.index, dtype="int64"))


def describe_votes(
    counted: pd.DataFrame, ledger: pd.DataFrame, guide: Guideline
) -> dict[tuple[str, str], str]:
    """Return the votes on each pair in words, in rising order, so that they stay anonymous.

    `counted` is `tables.COUNTED_VOTES`.
    """
    votes = counted.merge(ledger[["pair_id", *PAIR_KEY]], on="pair_id")
    names = {name: reason.name for name, reason in guide.reasons.items()}
    texts = {}
    for pair, rows in votes.groupby(PAIR_KEY):
        levels = [str(level) for level in sorted(rows["level"].dropna())]
        reasons = [
            f"{guide.page.cant_judge}: {names[code]}" for code in sorted(rows["reason"].dropna())
        ]
        texts[str(pair[0]), str(pair[1])] = "; ".join(filter(None, [", ".join(levels), *reasons]))
    return texts


def push(
    connection: Connection,
    params: Params,
    wanted: pd.DataFrame,
    votes: VoteTexts,
) -> dict[str, int]:
    """Reconcile the projects of those who decide with `wanted`: the pairs that are left.

    `wanted` are assignments with what is shown of each.

    Raises:
        StudioError: the server can't be reached or fails; what is done stays done.
        CampaignError: it is another campaign's, or the guideline is not the campaign's.
    """
    guide = guideline.of_campaign(connection.campaign, params.annotation)
    remarks: Remarks = {
        (query, moment, annotator): {
            "votes": f"{guide.page.votes} {votes.get((query, moment)) or '-'}"
        }
        for query, moment, annotator in wanted[[*PAIR_KEY, "annotator"]].itertuples(index=False)
    }
    common = ProjectSettings("adjudication", guide, params.clips.url)
    keys = keys_by_annotator(wanted.assign(kind="adjudication"), guide.version)
    data = TaskData(wanted, params.clips.url, params.push.batch, remarks)
    return reconcile(connection, common, keys, data)


def withdraw_open_tasks(connection: Connection, params: Params) -> None:
    """Take undecided tasks out of the stream, if there are any, and log how many."""
    open_tasks = fetch_decisions(connection, tables.DEPARTURES.read()).left.total()
    if open_tasks:
        nobody = describe_pairs(tables.ASSIGNMENTS.empty(), params)
        push(connection, params, nobody, {})
        cli.log(f"close: {open_tasks} pairs awaiting adjudication stay as people voted")
