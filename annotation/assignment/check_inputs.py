"""The inputs of hidden checks, read from the campaign's tables."""

from collections.abc import Sequence

import pandas as pd

from annotation.assignment.inputs import CheckInputs
from annotation.quality.decision import Limits
from annotation.quality.gold import read_gold
from annotation.quality.marking import SECOND
from annotation.quality.stopping import Stop, drop_forgiven, find_stopped
from annotation.roster.annotator import DECIDING, Annotator, roles_of_voters
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables
from pipeline.core.params import Params


def read_checks(
    params: Params, annotators: Sequence[Annotator], judgments: pd.DataFrame
) -> CheckInputs:
    """Return the hidden checks that people get, and whom they have stopped.

    `judgments` are those that are not voided. Without checks, nobody is stopped; nor are people who
    may not be asked anyway: the lead has decided about them.

    Raises:
        FileError: a table is missing or not valid.
    """
    plan, asked, person = params.plan, roles_of_voters(annotators), [*PAIR_KEY, "annotator"]
    exam, adjudicated = tables.EXAM_ANSWERS.read(), tables.ADJUDICATIONS.read()
    gold = read_gold()
    stopped = _find_stopped(params, annotators, judgments, gold, exam) if asked else {}
    return CheckInputs(
        gold=plan.gold,
        repeats=plan.repeats,
        gap=plan.repeat_gap,
        known=gold,
        taken=pd.concat([exam[person], adjudicated[person]]).drop_duplicates(),
        stopped={annotator: stop for annotator, stop in stopped.items() if annotator in asked},
        link=plan.link,
    )


def read_stopped(
    params: Params, annotators: Sequence[Annotator], judgments: pd.DataFrame
) -> dict[int, Stop]:
    """Return whom hidden checks have stopped, including people who have left since.

    `judgments` are those that are not voided.

    Raises:
        FileError: a table is missing or wrong.
    """
    exam = tables.EXAM_ANSWERS.read()
    stopped = _find_stopped(params, annotators, judgments, read_gold(), exam)
    listed = {person.number for person in annotators if person.role not in DECIDING}
    return {annotator: stop for annotator, stop in stopped.items() if annotator in listed}


def explain_stopped(
    params: Params, annotators: Sequence[Annotator], judgments: pd.DataFrame
) -> dict[int, str]:
    """Return why people were stopped, by hidden checks or the exam, with those who have left.

    Arguments and errors as in `read_stopped`.
    """
    results = tables.QUALIFICATIONS.read()
    passed = set(results.loc[results["passed"] == "yes", "annotator"])
    twice = results[(results["attempt"] == SECOND) & ~results["annotator"].isin(passed)]
    reasons: dict[int, str] = {}
    for number, wrong, of in twice[["annotator", "failed", "answered"]].to_numpy().tolist():
        reasons[number] = f"failed the exam twice ({wrong} of {of} more than 1 off the second time)"
    for number, stop in read_stopped(params, annotators, judgments).items():
        reasons[number] = "; ".join(filter(None, [reasons.get(number), stop.reason]))
    return dict(sorted(reasons.items()))


def _find_stopped(
    params: Params,
    annotators: Sequence[Annotator],
    judgments: pd.DataFrame,
    gold: pd.DataFrame,
    exam: pd.DataFrame,
) -> dict[int, Stop]:
    """Return whom checks have stopped, of all who ever judged; nobody if there are no checks."""
    plan = params.plan
    if plan.gold + plan.repeats == 0:
        return {}
    limits = Limits(plan.min_gold, plan.gold_window, plan.max_wrong)
    checked_from = {person.number: person.checked_from for person in annotators}
    admitted = [person.number for person in annotators if person.admitted]
    valid = drop_forgiven(exam, tables.QUALIFICATIONS.read(), admitted)
    return find_stopped(judgments, valid, gold, limits, checked_from)
