"""The plan: who should judge what next, a pure function of tables (paper, section 3.2)."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from annotation.assignment import check_summary, progress
from annotation.assignment.allocation import PERSON
from annotation.assignment.check_inputs import read_checks
from annotation.assignment.extension import decisions_by_judged_query, find_extension
from annotation.assignment.hidden_checks import Checks, HiddenChecks
from annotation.assignment.inputs import PlanInputs, Rule
from annotation.assignment.pair_states import PairStates, find_pair_states
from annotation.assignment.quotas import Quota, find_quotas
from annotation.assignment.shown import join_shown, read_pairs_to_judge
from annotation.assignment.waves import assign_wave
from annotation.assignment.yield_pairs import wanted_candidates
from annotation.quality.standing import bar, read_standings
from annotation.roster import roster
from annotation.roster.annotator import Annotator, roles_of_voters
from annotation.votes.votes import Ints, is_in
from pipeline.campaign.campaign import Campaign, load_campaign
from pipeline.campaign.pairs import PAIR_KEY, SHOWN_KEY
from pipeline.campaign.pool_steps import LEARNED, SECOND
from pipeline.campaign.reopening import find_base, keep_shown
from pipeline.campaign.voided import drop_voided, voided_for_good
from pipeline.campaign.yields import list_prospects
from pipeline.core import files, tables
from pipeline.core.params import Params
from pipeline.core.people_sections import Exam

ROUNDS = 3
"""How often votes are replaced by gold: then what others got instead, and so on."""


class Plan(NamedTuple):
    """What should be open now, and the state of the campaign."""

    assignments: pd.DataFrame
    state: dict[str, Any]


def plan(campaign: PlanInputs) -> Plan:
    """Return the assignments that the campaign needs now, sorted, and its state.

    The result does not depend on the order of rows. Planning again once every assignment is open
    returns the same assignments. Where there are too few people, slots stay open.

    >>> plan(campaign).assignments  # a campaign of one pair and two people
      query_id moment_id  annotator   kind
    0       q0     m0-01          1  first
    1       q0     m0-01          2  first

    Raises:
        PlanError: a decision to extend names a query that does not exist.
    """
    states = find_pair_states(campaign)
    decisions = decisions_by_judged_query(campaign.extend, states.same)
    further = find_extension(states, decisions, campaign.rule)
    by_rule = (states.pairs["batch"] == 1) | states.pairs["query_id"].isin(further.extended)
    wanted = by_rule | states.pairs["extra"]
    missing = np.where(wanted, states.missing, 0)
    quotas = find_quotas(campaign)
    assigned, hidden = _assign(campaign, states, missing, quotas)
    all_assigned = pd.concat([assigned, hidden.wanted], ignore_index=True)
    left = len(quotas) - _seen_by(states, quotas)
    to_judge = wanted_candidates(states, campaign, further.extended)
    later = int(np.minimum(missing, left).sum()) - len(assigned)
    return Plan(
        _assignment_table(states, all_assigned),
        {
            "pairs": progress.pair_counts(states, wanted.to_numpy(), missing > left),
            "queries": progress.query_counts(states, further, campaign.candidates),
            "annotators": progress.people_counts(campaign, all_assigned, quotas, later),
            "later": later,
            "checks": check_summary.summarize(campaign, hidden),
            "outlook": progress.outlook(states, wanted.to_numpy(), further, campaign.rule),
            "prospects": list_prospects(to_judge, LEARNED if campaign.rule.learned else SECOND),
        },
    )


def _assign(
    campaign: PlanInputs, states: PairStates, missing: Ints, quotas: Mapping[int, Quota]
) -> tuple[pd.DataFrame, Checks]:
    """Return the votes and the checks that should be open.

    Votes that gold replaces go to others: first to those who did not have them. What is new to
    someone then may be replaced in its turn, so that gold is as frequent there as elsewhere.
    """

    def assign(
        open_votes: pd.DataFrame, open_checks: pd.DataFrame, *judged: pd.DataFrame
    ) -> pd.DataFrame:
        answered = pd.concat([states.answered, open_checks, *judged])  # no vote on a checked pair
        busy = states._replace(answered=answered, open_tasks=open_votes, open_checks=open_checks)
        return assign_wave(campaign, busy, missing, quotas)

    checks = HiddenChecks(states, campaign, quotas)
    old, remaining = states.open_tasks, checks.keep()
    hidden = checks.add_links(remaining)
    votes = assign(old, hidden)
    for _ in range(ROUNDS):
        new, replaced = checks.draw_gold(votes, old, hidden)
        if new.empty:
            break
        hidden = pd.concat([hidden, new], ignore_index=True)
        old = votes[~is_in(votes, replaced, PERSON)]
        votes = assign(assign(old, hidden, replaced), hidden)
    return votes, checks.add_repeats(votes, remaining, hidden)


def _seen_by(states: PairStates, quotas: Mapping[int, Quota]) -> Ints:
    """Return how many of the people who may be asked have seen each pair."""
    seen = states.answered[states.answered["annotator"].isin(list(quotas))]
    return np.bincount(seen["pair"], minlength=len(states.pairs))


def _assignment_table(states: PairStates, assigned: pd.DataFrame) -> pd.DataFrame:
    pairs = states.pairs[PAIR_KEY].iloc[assigned["pair"]].reset_index(drop=True)
    rows = pairs.assign(annotator=assigned["annotator"], kind=assigned["kind"])
    key = tables.ASSIGNMENTS.columns
    return tables.ASSIGNMENTS.check(rows[key].sort_values(key, ignore_index=True))


class Answers(NamedTuple):
    """What people have done: judgments, open tasks, and answers that are not judgments."""

    judgments: pd.DataFrame
    open_tasks: pd.DataFrame
    rejected: pd.DataFrame


def read_answers() -> Answers:
    """Return the result of the last pull."""
    tasks, rejected = tables.OPEN_TASKS, tables.REJECTED_JUDGMENTS
    if lacks_corpus(load_campaign()) and not tasks.path.is_file():
        return Answers(tables.JUDGMENTS.read(), tasks.empty(), rejected.empty())
    return Answers(tables.JUDGMENTS.read(), tasks.read(), rejected.read())


def lacks_corpus(campaign: Campaign | None) -> bool:
    """Tell whether this is a clone without clips, in which a campaign was reopened.

    Nobody can be asked there; what was judged can still be voided, decided, closed and released.
    """
    reopened = campaign is not None and bool(campaign.reopenings)
    return reopened and not tables.CLIPS.path.is_file()


def read_inputs(annotators: Sequence[Annotator], params: Params, answers: Answers) -> PlanInputs:
    """Return the campaign as described by this checkout's tables and people's answers.

    Raises:
        MomentRankError: a table is missing or wrong.
    """
    candidates, extra = read_pairs_to_judge(params.candidates.batch)
    campaign = load_campaign()
    without = lacks_corpus(campaign)
    queries = (tables.FROZEN_QUERIES if without else tables.QUERIES).read()
    judged = queries[queries["query_id"].isin(candidates["query_id"])]
    clips = tables.CLIPS.empty() if without else tables.CLIPS.read()
    shown = join_shown(candidates, extra, judged, clips)[SHOWN_KEY]
    if base := find_base(campaign):
        shown = keep_shown(shown, tables.PAIRS.read(), base)
    decisions, today, voided = tables.EXTEND.read(), read_day(), tables.VOIDED.read()
    gone = voided_for_good(voided)
    listed = [
        person._replace(active=person.active and person.number not in gone) for person in annotators
    ]
    checked = read_checks(params, listed, drop_voided(answers.judgments, voided))
    return PlanInputs(
        queries=judged[["query_id", "query"]],
        candidates=candidates,
        clips=set(clips["moment_id"]),
        shown=shown,
        judgments=answers.judgments,
        open_tasks=answers.open_tasks.merge(shown, on=SHOWN_KEY),
        annotators=annotators,
        extend=dict(zip(decisions["query_id"], decisions["extend"] == "yes", strict=True)),
        rule=_rule(params),
        consumed_slots=find_consumed_slots(answers, checked.known),
        extra=extra,
        id=campaign.id if campaign else "",
        today=today,
        overdue=find_overdue(answers.open_tasks, today, params.plan.patience),
        barred=barred_by_exam(annotators, params.exam)
        | dict.fromkeys(checked.stopped, "stopped")
        | dict.fromkeys(gone, "voided"),
        voided=voided,
        checks=checked,
        adjudications=tables.ADJUDICATIONS.read(),
        reopenings=campaign.reopenings if campaign else (),
    )


def _rule(params: Params) -> Rule:
    plan = params.plan
    rounding = params.consensus.rounding
    how = plan.last_ranks, plan.min_mean, rounding, plan.queue, plan.patience
    learned = params.candidates.top if params.candidates.further == "learned" else 0
    return Rule(params.candidates.batch, *how, learned)


def find_consumed_slots(answers: Answers, gold: pd.DataFrame) -> pd.DataFrame:
    """Return the answers that are not judgments (`PlanInputs.consumed_slots`).

    No one is asked them again. Those with another task for the same pair waiting for the same
    person are left out. `gold` are the known levels: an answer on such a pair that is not a
    judgment still used it up as gold.
    """
    rejected, person = answers.rejected, [*PAIR_KEY, "annotator"]
    answered = rejected[rejected["query_id"].notna() & (rejected["reason"] != "draft")]
    answered = answered[~is_in(answered, answers.open_tasks, person)]
    as_gold = is_in(answered, gold, PAIR_KEY)
    return answered.assign(kind=np.where(as_gold, "gold", "first"))


def barred_by_exam(annotators: Sequence[Annotator], exam: Exam) -> dict[int, str]:
    """Return who gets no tasks until they have passed the exam, with the reason."""
    return bar(read_standings(annotators, required=exam.required), required=exam.required)


def find_overdue(open_tasks: pd.DataFrame, today: date, patience: float) -> pd.DataFrame:
    """Return the tasks that have been open for `patience` days or more as the day begins."""
    age = pd.Timestamp(today, tz="UTC") - open_tasks["opened_at"]
    return open_tasks.loc[age >= pd.Timedelta(days=patience), tables.ASSIGNMENTS.columns]


def read_day() -> date:
    """Return the day (UTC) of the last pull in an open campaign, else today's."""
    day = files.read_json(tables.TODAY)["date"] if tables.TODAY.is_file() else None
    return date.fromisoformat(day) if day else datetime.now(UTC).date()


def describe_people(people: roster.Roster, exam: Exam) -> dict[str, Any]:
    """Return who has no account, and how everyone stands in the exam, for `campaign_state.json`."""
    standings = read_standings(people.annotators, required=exam.required)
    asked = roles_of_voters(people.annotators).keys()
    return {
        "without_account": sorted(asked - people.accounts.keys()),
        "exam": {str(number): standing for number, standing in standings.items()},
        "exam_required": exam.required,
    }
