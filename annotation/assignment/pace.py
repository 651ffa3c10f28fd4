"""Pace and forecast: each person's hours and last judgment, and when the campaign is done."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pandas as pd

from annotation.assignment.inputs import PlanInputs
from annotation.roster.senders import is_own
from annotation.votes.votes import FIRST_VOTES
from pipeline.campaign.effort import HOUR, active_seconds, bound_seconds
from pipeline.campaign.pairs import ALL_VOTES

DAYS = 7
"""The pace is that of the last week; people not seen for that long are listed."""
DAY = timedelta(days=1)


def measure_progress(
    campaign: PlanInputs,
    state: Mapping[str, Any],
    rejected: pd.DataFrame,
    pause: float,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Return a plan's state with what people have done up to `now`, or today, added to it.

    `rejected` (as `tables.REJECTED_JUDGMENTS`) are the answers that are not judgments. A judgment
    counts for at most `pause` minutes, a voided one not at all. Without an `outlook`, as in a
    closed campaign, there is no forecast. Times are UTC.
    """
    judgments, now = campaign.valid, now or datetime.now(UTC)
    timed = judgments.assign(seconds=active_seconds(judgments["seconds"], pause))
    refused = Counter(rejected.loc[is_own(rejected), "annotator"].tolist())
    annotators = people_figures(timed, state["annotators"], refused)
    recent = pace(judgments, now)
    return {
        **state,
        "as_of": _instant(now),
        "judgments": len(judgments),
        "annotators": annotators,
        "refused": dict(Counter(rejected["reason"].tolist()).most_common()),
        "not_begun": [
            number for number, person in annotators.items() if person["open"] and not person["done"]
        ],
        "not_seen": _not_seen(annotators, now),
        "pace": recent,
        "forecast": forecast(state, _median(timed["seconds"]), recent["judgments_per_day"], now)
        if "outlook" in state
        else None,
    }


def people_figures(
    timed: pd.DataFrame, state: Mapping[str, Mapping[str, Any]], refused: Mapping[int, int]
) -> dict[str, dict[str, Any]]:
    """Return each annotator's hours done and left, judgments per hour, and last judgment.

    Hours left cover their open tasks and their part of those not handed out yet, based on their
    median judgment time, or everyone's if they have none.
    """
    by = timed.groupby("annotator")
    bounded = timed.assign(seconds=bound_seconds(timed)).groupby("annotator")["seconds"]
    total, medians = bounded.sum().to_dict(), by["seconds"].median().dropna().to_dict()
    last, usual = by["submitted_at"].max().to_dict(), _median(timed["seconds"])
    people = {}
    for number, person in state.items():
        median = medians.get(int(number))
        typical = median or usual
        people[number] = {
            **person,
            "hours": round(total.get(int(number), 0.0) / HOUR, 2),
            "per_hour": round(HOUR / median) if median else None,
            "hours_left": None
            if typical is None
            else round((person["open"] + person["later"]) * typical / HOUR, 2),
            "last_judged": _instant(last[int(number)]) if int(number) in last else None,
            "refused": refused.get(int(number), 0),
        }
    return people


def pace(judgments: pd.DataFrame, now: datetime) -> dict[str, Any]:
    """Return how many judgments and people there were per day, over the last seven days.

    The mean is over these days, or those since the first judgment if fewer (at least one). Days are
    in UTC; the last one in `by_day` is today.
    """
    times = judgments["submitted_at"]
    recent = judgments[times > now - DAYS * DAY]
    age = (now - times.min()) / DAY if len(times) else 1.0
    days = min(max(age, 1.0), float(DAYS))
    dates = pd.date_range(end=now.date(), periods=DAYS).date
    by_day = recent.groupby(recent["submitted_at"].dt.date)["annotator"]
    numbers, present = by_day.size(), by_day.nunique()
    return {
        "days": round(days, 2),
        "judgments_per_day": round(len(recent) / days, 2),
        "people": int(recent["annotator"].nunique()),
        "by_day": [
            {
                "date": date.isoformat(),
                "judgments": int(numbers.get(date, 0)),
                "people": int(present.get(date, 0)),
            }
            for date in dates
        ],
    }


def _not_seen(annotators: Mapping[str, Mapping[str, Any]], now: datetime) -> dict[str, int]:
    """Return who has open tasks but judged nothing for a week, with the days since."""
    away = {
        number: (now - datetime.fromisoformat(person["last_judged"])) // DAY
        for number, person in annotators.items()
        if person["open"] and person["last_judged"]
    }
    return {number: days for number, days in away.items() if days >= DAYS}


def _median(seconds: pd.Series) -> float | None:
    present = seconds.dropna()
    return float(present.median()) if len(present) else None


def _instant(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


TAIL = 0.025
"""The probability beyond each bound."""


class Bounds(NamedTuple):
    """A range for an unknown number."""

    low: float
    high: float


def forecast(
    state: Mapping[str, Any], seconds: float | None, per_day: float, now: datetime
) -> dict[str, Any]:
    """Return how many judgments are to come, how many hours they take, and when they are done.

    `open` are those that people have now. `to_come` adds those not handed out yet, and those of
    disputes and second batches, estimated from their shares so far: from `low` to `high`. Hours use
    the median `seconds`, dates the pace of `per_day` judgments; both are None where unknown.
    """
    now_open = sum(person["open"] for person in state["annotators"].values())
    wanted, more = now_open + state["later"], further_judgments(state["outlook"])
    numbers = {"open": now_open, "low": wanted + more.low, "high": wanted + more.high}
    return {
        "open": now_open,
        "to_come": {name: round(numbers[name]) for name in ("low", "high")},
        "hours": {
            name: None if seconds is None else round(number * seconds / HOUR, 1)
            for name, number in numbers.items()
        },
        "dates": {name: _date(number, per_day, now) for name, number in numbers.items()},
    }


def further_judgments(outlook: Mapping[str, int]) -> Bounds:
    """Return how many judgments disputes and second batches will add, from `low` to `high`.

    The numbers of pairs and queries concerned are beta-binomial (Jeffreys' prior), given those so
    far: each bound covers 95 %.
    """
    undecided = outlook["undecided"]
    size = outlook["second_pairs"] / undecided if undecided else 0.0
    extended = _predict_count(undecided, outlook["extended"], outlook["decided"])

    def count_votes(queries: float, bound: int) -> float:
        second = round(queries * size)
        counts = (outlook["first"] + second, outlook["disputed"], outlook["compared"])
        disputed = _predict_count(*counts)[bound]
        return FIRST_VOTES * second + (ALL_VOTES - FIRST_VOTES) * disputed

    return Bounds(count_votes(extended.low, 0), count_votes(extended.high, 1))


def _predict_count(number: int, hits: int, whole: int) -> Bounds:
    """Predict how many of `number` will be like the `part` of `whole` so far."""
    from scipy import stats  # noqa: PLC0415  (0.6 s, which no other command waits for)

    distribution = stats.betabinom(number, hits + 0.5, whole - hits + 0.5)
    return Bounds(*(float(distribution.ppf(share)) for share in (TAIL, 1 - TAIL)))


def _date(number: float, per_day: float, now: datetime) -> str | None:
    """Return the day on which that many judgments are done; None if nobody judges."""
    if not number:
        return now.date().isoformat()
    try:
        return (now + timedelta(days=number / per_day)).date().isoformat()
    except (ZeroDivisionError, OverflowError):
        return None
