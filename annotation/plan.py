"""Plan who should judge what next: a pure function (paper, section 3.2; design, section 3).

reads   datasets/campaign/{campaign,annotators}.yaml, extend.csv, judgments.csv;
        datasets/work/{candidates,queries}.parquet, clips.csv, open_tasks.parquet,
        rejected_judgments.csv; datasets/campaign/{audit,topup}.csv; the time
writes  datasets/work/assignments.parquet, campaign_state.json

Two annotators judge a query's batch, the same two all its pairs. Pairs whose two levels differ
by more than 1 go to two others; a vote without a level brings in one more. The second batch
follows where the last ranks of the first are relevant; what audit and top-up ask for is judged
at once, in batches too, and does not touch that rule. The plan says what should be open now;
what it names and is open already stays as it is.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.assignment import allocation
from annotation.assignment import progress as state
from annotation.assignment.extension import extension, of_judged_queries
from annotation.assignment.inputs import (
    PEOPLE_NEEDED,
    Annotator,
    PlanError,
    PlanInputs,
    Role,
    Rule,
    judges,
)
from annotation.assignment.pace import progress
from annotation.assignment.pairs import Standing, standing
from annotation.label_studio import roster, settings
from annotation.tasks.shown import showing, to_judge
from annotation.votes.votes import Ints, fresh
from pipeline.campaign.campaign import running
from pipeline.campaign.next_step import Situation, next_steps
from pipeline.campaign.pairs import PAIR, SHOWN
from pipeline.core import cli, files, tables
from pipeline.core.params import Params, load


class Plan(NamedTuple):
    """What should be open now, and where the campaign stands."""

    assignments: pd.DataFrame
    state: dict[str, Any]


def plan(campaign: PlanInputs) -> Plan:
    """Return the assignments that the campaign wants now, sorted, and its state.

    Whatever the order of rows, the result is the same; a plan of a campaign in which all that
    was wanted is open wants the same again. Where people are too few, seats stay empty.

    Raises:
        PlanError: a decision to extend names a query that is not there.
    """
    known = standing(campaign)
    decisions = of_judged_queries(campaign.extend, known.same)
    further = extension(known, decisions, campaign.rule)
    by_rule = (known.pairs["batch"] == 1) | known.pairs["query_id"].isin(further.extended)
    wanted = by_rule | known.pairs["extra"]
    missing = np.where(wanted, known.missing, 0)
    given = _ask(known, missing, judges(campaign.annotators), campaign.done)
    unfilled = missing - _per_pair(known, given)
    return Plan(
        _assignments(known, given),
        {
            "pairs": state.pair_counts(known, wanted.to_numpy(), unfilled),
            "queries": state.query_counts(known, further, campaign.candidates),
            "annotators": state.people_counts(campaign.annotators, given, campaign.done),
            "outlook": state.outlook(known, wanted.to_numpy(), further),
        },
    )


def _ask(
    known: Standing, missing: Ints, asked: Mapping[int, Role], done: Mapping[int, int]
) -> pd.DataFrame:
    """Return who should have which pair open, as `pair, annotator, kind`."""
    stay = allocation.kept(known.given, known.seen, missing, asked)
    gaps = _gaps(known, missing - _per_pair(known, stay))
    held = pd.concat([known.seen, stay])
    held = held.assign(group=known.pairs["group"].to_numpy()[held["pair"]])
    near = held[held["group"].isin([gap.group for gap in gaps])]
    allocator = allocation.Allocator(asked, Counter(stay["annotator"].tolist()), done)
    added = allocator.fill(gaps, near).astype(stay.dtypes.to_dict())
    return pd.concat([stay, added], ignore_index=True)


def _gaps(known: Standing, empty: Ints) -> list[allocation.Gap]:
    [pair] = empty.nonzero()
    kind = np.where(known.escalated, "escalated", "first")[pair]
    group = known.pairs["group"].to_numpy()[pair]
    columns = (column.tolist() for column in (group, kind, pair, empty[pair]))
    return [allocation.Gap(*gap) for gap in zip(*columns, strict=True)]


def _per_pair(known: Standing, given: pd.DataFrame) -> Ints:
    return np.bincount(given["pair"], minlength=len(known.pairs))


def _assignments(known: Standing, given: pd.DataFrame) -> pd.DataFrame:
    pairs = known.pairs[PAIR].iloc[given["pair"]].reset_index(drop=True)
    rows = pairs.assign(annotator=given["annotator"], kind=given["kind"])
    key = tables.ASSIGNMENTS.columns
    return tables.ASSIGNMENTS.check(rows[key].sort_values(key, ignore_index=True))


class Answers(NamedTuple):
    """What people have done: judgments, open tasks, and answers that are no judgments."""

    judgments: pd.DataFrame
    open_tasks: pd.DataFrame
    rejected: pd.DataFrame


def pulled() -> Answers:
    """Return what was pulled last."""
    return Answers(
        tables.JUDGMENTS.read(), tables.OPEN_TASKS.read(), tables.REJECTED_JUDGMENTS.read()
    )


def campaign_of(annotators: Sequence[Annotator], params: Params, answers: Answers) -> PlanInputs:
    """Return the campaign as the tables of this checkout and people's answers say.

    Raises:
        MomentRankError: a table is missing or wrong.
    """
    candidates, extra = to_judge(params.candidates.batch)
    queries = tables.QUERIES.read()
    judged = queries[queries["query_id"].isin(candidates["query_id"])]
    clips = tables.CLIPS.read()
    shown = showing(candidates, extra, judged, clips)[SHOWN]
    rejected = answers.rejected
    person = [*PAIR, "annotator"]
    waits = pd.MultiIndex.from_frame(answers.open_tasks[person])  # another task of the same pair
    answered = rejected[rejected["query_id"].notna() & (rejected["reason"] != "draft")]
    answered = answered[~pd.MultiIndex.from_frame(answered[person]).isin(waits)]
    decisions = tables.EXTEND.read()
    return PlanInputs(
        queries=judged[["query_id", "query"]],
        candidates=candidates,
        clips=set(clips["moment_id"]),
        shown=shown,
        judgments=answers.judgments,
        open_tasks=answers.open_tasks.merge(shown, on=SHOWN),
        annotators=annotators,
        extend=dict(zip(decisions["query_id"], decisions["extend"] == "yes", strict=True)),
        rule=Rule(
            params.candidates.batch,
            params.plan.last_ranks,
            params.plan.min_mean,
            params.consensus.rounding,
        ),
        spent=answered.assign(kind="first"),
        extra=extra,
    )


def refuse_too_few(annotators: Sequence[Annotator]) -> None:
    """Stop where a pair that two people disagree on could not go to two others.

    Raises:
        PlanError: fewer than four people may be asked.
    """
    number = len(judges(annotators))
    if number < PEOPLE_NEEDED:
        raise PlanError(
            f"{roster.PUBLIC}: {number} active people can judge, but {PEOPLE_NEEDED} are needed"
            " (two vote, and two others where these disagree); add people with the role annotator"
            " or escalation, or set some active"
        )


def main() -> None:
    """Plan, if a campaign is open; else nobody is asked anything.

    Raises:
        PlanError: pairs wait, and fewer than four people may judge.
    """
    found, params = running(), load()
    if found is None:
        tables.ASSIGNMENTS.write(tables.ASSIGNMENTS.empty())
        files.write_json(tables.STATE, {"campaign": None})
        cli.log("plan: no campaign is open, so nobody is asked")
        return
    answers, known = pulled(), roster.roster()
    campaign = campaign_of(known.annotators, params, answers)
    made = plan(campaign)
    if made.state["pairs"]["waiting"]:
        refuse_too_few(campaign.annotators)
    stale = len(campaign.judgments) - len(fresh(campaign.judgments, campaign.shown))
    told = {
        "campaign": found.name,
        **progress(campaign, made.state, answers.rejected, params.plan.pause, datetime.now(UTC)),
        "without_account": without_account(known),
        "stale_judgments": stale,
    }
    tables.ASSIGNMENTS.write(made.assignments)
    files.write_json(tables.STATE, told)
    # `push` follows in the same `dvc repro`, and gives out what is wanted.
    steps = next_steps(Situation(found, told, server=settings.endpoint() is not None))
    cli.log(state.remark(told, len(made.assignments), steps))


def without_account(known: roster.Roster) -> list[int]:
    """Return the people who may be asked, and whose account nobody has written down."""
    return sorted(judges(known.annotators).keys() - known.accounts.keys())


if __name__ == "__main__":
    cli.run_stage(main)
