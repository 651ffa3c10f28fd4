"""Who is stopped because of hidden checks: the rule of `decision`, on a campaign's tables."""

from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import NamedTuple

import pandas as pd

from annotation.quality.decision import Limits, decide
from annotation.quality.evidence import COLUMNS
from annotation.quality.gold import CLEAR, join_gold
from annotation.quality.marking import FIRST
from pipeline.campaign.pairs import PAIR_KEY


class Stop(NamedTuple):
    """Why a person is no longer asked, since when, and when they last judged (UTC)."""

    reason: str
    since: datetime
    last: datetime


def find_stopped(
    judgments: pd.DataFrame,
    exam: pd.DataFrame,
    gold: pd.DataFrame,
    limits: Limits,
    checked_from: Mapping[int, date | None],
) -> dict[int, Stop]:
    """Return who is stopped.

    `judgments` are those that are not voided, `exam` the answers to the exam
    (`tables.EXAM_ANSWERS`), `gold` is from `collect_gold`. Judgments before a person's
    `checked_from` (a day, UTC) are forgiven: they are left out.
    """
    rows = pd.concat([_campaign_rows(judgments, gold), _exam_rows(exam, gold)], ignore_index=True)
    forgiven = pd.Series(data=False, index=rows.index)
    for annotator, begin in checked_from.items():
        if begin is not None:
            before = rows["submitted_at"] < pd.Timestamp(begin, tz="UTC")
            forgiven |= before & (rows["annotator"] == annotator)
    counted = rows[~forgiven]
    last = counted.groupby("annotator")["submitted_at"].max()
    stopped = {
        annotator: decision
        for annotator, decision in decide(counted, limits).items()
        if decision.state == "stop"
    }
    return {
        annotator: Stop(
            decision.reason,
            (decision.since or last[annotator]).to_pydatetime(),
            last[annotator].to_pydatetime(),
        )
        for annotator, decision in stopped.items()
    }


def drop_forgiven(
    exam: pd.DataFrame, results: pd.DataFrame, admitted: Collection[int]
) -> pd.DataFrame:
    """Return the answers to the exam (`tables.EXAM_ANSWERS`) that still show how people judge.

    People who failed at first and passed after the feedback (`results`: `tables.QUALIFICATIONS`)
    have learnt, and start afresh; so do people whom the lead has `admitted`.
    """
    learnt = results.loc[(results["attempt"] > FIRST) & (results["passed"] == "yes"), "annotator"]
    return exam[~exam["annotator"].isin([*learnt, *admitted])]


def _campaign_rows(judgments: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame:
    rows = join_gold(judgments, gold[gold["source"].isin(CLEAR)])
    # A person's second answer to a pair is not another person's: it is no evidence on the first.
    return rows.loc[rows["kind"] != "repeat", COLUMNS]


def _exam_rows(exam: pd.DataFrame, gold: pd.DataFrame) -> pd.DataFrame:
    """Return first attempts at pairs of the exam: later ones were given the truth."""
    truth = gold[gold["source"].isin(CLEAR)].drop_duplicates(PAIR_KEY)
    first = exam[exam["attempt"] == FIRST].merge(
        truth[[*PAIR_KEY, "level"]].rename(columns={"level": "truth"}), on=PAIR_KEY
    )
    return first.assign(kind="exam")[COLUMNS]
