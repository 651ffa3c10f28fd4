"""Plan who should judge what next: a pure function (paper, section 3.2).

reads   datasets/campaign/{campaign,annotators}.yaml,
        {pool,judgments,voided,adjudications,extend,audit,topup}.csv, audit.json if there is one,
        and for exam and hidden checks {exam,exam_answers,qualifications,gold}.csv there;
        datasets/work/{queries,open_tasks}.parquet, clips.csv,
        rejected_judgments.csv, today.json; the time
writes  datasets/work/assignments.parquet, campaign_state.json

The same two annotators judge all pairs of a query's batch. Pairs whose two levels differ by more
than 1 go to two others; a vote without a level adds one more person. The second batch follows
where the last ranks of the first are relevant. Pairs from audit and top-up are judged immediately,
also in batches, and do not affect that rule. The plan lists what should be open now; tasks on it
that are already open stay as they are.
"""

from collections.abc import Sequence

from annotation.assignment import progress
from annotation.assignment.check_inputs import explain_stopped
from annotation.assignment.inputs import PlanError
from annotation.assignment.pace import measure_progress
from annotation.assignment.planning import (
    describe_people,
    plan,
    read_answers,
    read_inputs,
)
from annotation.label_studio import settings
from annotation.roster import roster
from annotation.roster.annotator import PEOPLE_NEEDED, Annotator, roles_of_voters
from annotation.votes.votes import classify
from pipeline.campaign import design
from pipeline.campaign.campaign import describe_absence, load_campaign
from pipeline.campaign.next_step import Situation, next_steps
from pipeline.campaign.voided import drop_voided
from pipeline.core import cli, files, tables
from pipeline.core.params import Params, load


def refuse_too_few_people(annotators: Sequence[Annotator]) -> None:
    """Refuse if a pair that two people disagree on could not go to two others.

    Raises:
        PlanError: fewer than four people may be asked.
    """
    number = len(roles_of_voters(annotators))
    if number < PEOPLE_NEEDED:
        raise PlanError(
            f"{roster.PUBLIC}: {number} active people can judge, but {PEOPLE_NEEDED} are needed"
            " (two to vote, and two others where they disagree); add people with the role annotator"
            " or escalation, or set more people active"
        )


def main() -> None:
    """Plan if a campaign is open; otherwise no one is asked anything.

    Raises:
        PlanError: pairs are waiting, and fewer than four people may judge.
    """
    campaign, params = load_campaign(), load()
    if campaign is None or campaign.closed:
        tables.ASSIGNMENTS.write(tables.ASSIGNMENTS.empty())
        stopped = {"stopped": _explain_stopped(params)} if campaign else {}
        files.write_json(tables.STATE, {"campaign": None, **stopped})
        cli.log(f"plan: {describe_absence(campaign)}")
        return
    answers, people = read_answers(), roster.read_roster()
    inputs = read_inputs(people.annotators, params, answers)
    planned = plan(inputs)
    if planned.state["pairs"]["waiting"]:
        refuse_too_few_people(inputs.annotators)
    judgments = campaign.select_kept(inputs.judgments)
    standing = classify(judgments, inputs.shown, inputs.voided)
    state = {
        "campaign": campaign.name,
        **measure_progress(inputs, planned.state, answers.rejected, params.plan.pause),
        **describe_people(people, params.exam),
        "stopped": _explain_stopped(params),
        "stale_judgments": int((standing == "stale").sum()),
    }
    tables.ASSIGNMENTS.write(planned.assignments)
    files.write_json(tables.STATE, state)
    # `push` follows in the same `dvc repro`, and hands out the assignments.
    audit, server = design.find_left(), settings.endpoint() is not None
    steps = next_steps(Situation(campaign, state, server=server, audit=audit))
    cli.log(progress.summarize(state, len(planned.assignments), steps))


def _explain_stopped(params: Params) -> dict[str, str]:
    judgments = drop_voided(tables.JUDGMENTS.read(), tables.VOIDED.read())
    reasons = explain_stopped(params, roster.read_people(), judgments)
    return {str(number): why for number, why in reasons.items()}


if __name__ == "__main__":
    cli.run_stage(main)
