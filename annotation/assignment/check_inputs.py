"""What hidden checks are made of, read from the campaign's tables."""

from collections.abc import Sequence

import pandas as pd

from annotation.assignment.inputs import Annotator, CheckInputs, judges
from annotation.quality.decision import Limits
from annotation.quality.gold import collect_gold
from annotation.quality.stopping import drop_forgiven, find_stopped
from pipeline.campaign.pairs import PAIR_KEY
from pipeline.core import tables
from pipeline.core.params import Params


def read_checks(
    params: Params, annotators: Sequence[Annotator], judgments: pd.DataFrame
) -> CheckInputs:
    """Return the hidden checks that people get, and whom they have stopped.

    `judgments` are those that are not voided. Where no checks are asked for nobody is stopped, nor
    is who may not be asked anyway: the lead has decided on them.

    Raises:
        FileError: a table is missing or wrong.
    """
    plan, exam = params.plan, tables.EXAM_ANSWERS.read()
    adjudicated = tables.ADJUDICATIONS.read()
    known = collect_gold(tables.GOLD.read(), tables.EXAM.read(), adjudicated)
    limits = Limits(plan.min_gold, plan.gold_window, plan.max_wrong)
    checked_from = {who.number: who.checked_from for who in annotators}
    admitted = [who.number for who in annotators if who.admitted]
    told = drop_forgiven(exam, tables.QUALIFICATIONS.read(), admitted)
    person = [*PAIR_KEY, "annotator"]
    asked = judges(annotators) if plan.gold + plan.repeats > 0 else {}
    stopped = find_stopped(judgments, told, known, limits, checked_from) if asked else {}
    return CheckInputs(
        gold=plan.gold,
        repeats=plan.repeats,
        gap=plan.repeat_gap,
        known=known,
        taken=pd.concat([exam[person], adjudicated[person]]).drop_duplicates(),
        stopped={who: stop for who, stop in stopped.items() if who in asked},
        min_gold=plan.min_gold,
        window=plan.gold_window,
    )
