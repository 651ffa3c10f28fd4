"""How a campaign gets on: each person's hours and last judgment, the pace, and a forecast."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from annotation.assignment.forecast import forecast
from annotation.assignment.inputs import Campaign
from pipeline.campaign.effort import HOUR, active_seconds

DAYS = 7
"""The pace is that of the last week, and who was not seen for so long is named."""
DAY = timedelta(days=1)


def progress(
    campaign: Campaign,
    state: Mapping[str, Any],
    rejected: pd.DataFrame,
    pause: float,
    now: datetime,
) -> dict[str, Any]:
    """Return a plan's state with what people did added to it.

    `rejected` (as `tables.REJECTED_JUDGMENTS`) are the answers that are no judgments. A judgment
    counts for at most `pause` minutes. Without an `outlook`, as of a closed campaign, there is
    no forecast. Times are UTC.
    """
    judgments = campaign.judgments
    timed = judgments.assign(seconds=active_seconds(judgments["seconds"], pause))
    refused = Counter(rejected["annotator"].tolist())
    found = people(timed, state["annotators"], refused)
    recent = pace(judgments, now)
    return {
        **state,
        "as_of": _instant(now),
        "judgments": len(judgments),
        "annotators": found,
        "refused": dict(Counter(rejected["reason"].tolist()).most_common()),
        "not_begun": _not_begun(found),
        "not_seen": _not_seen(found, now),
        "pace": recent,
        "forecast": forecast(state, _median(timed["seconds"]), recent["judgments_per_day"], now)
        if "outlook" in state
        else None,
    }


def people(
    timed: pd.DataFrame, state: Mapping[str, Mapping[str, Any]], refused: Mapping[int, int]
) -> dict[str, dict[str, Any]]:
    """Return each annotator's hours done and left, judgments in an hour, and last judgment.

    What is left is forecast by the person's median judgment; who has none gets everybody's.
    """
    by = timed.groupby("annotator")
    total, medians = by["seconds"].sum().to_dict(), by["seconds"].median().dropna().to_dict()
    last, usual = by["submitted_at"].max().to_dict(), _median(timed["seconds"])
    found = {}
    for number, who in state.items():
        own = medians.get(int(number))
        typical = own or usual
        found[number] = {
            **who,
            "hours": round(total.get(int(number), 0.0) / HOUR, 2),
            "per_hour": round(HOUR / own) if own else None,
            "hours_left": None if typical is None else round(who["open"] * typical / HOUR, 2),
            "last_judged": _instant(last[int(number)]) if int(number) in last else None,
            "refused": refused.get(int(number), 0),
        }
    return found


def pace(judgments: pd.DataFrame, now: datetime) -> dict[str, Any]:
    """Return how many judgments and people there were on a day, over the last seven days.

    The mean is over these days, or those since the first judgment where they are fewer (one
    at least). Days are UTC's; in `by_day` the last is today.
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


def _not_begun(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [number for number, who in found.items() if who["open"] and not who["done"]]


def _not_seen(found: Mapping[str, Mapping[str, Any]], now: datetime) -> dict[str, int]:
    """Return who has tasks open and judged nothing for a week, with the days since."""
    away = {
        number: (now - datetime.fromisoformat(who["last_judged"])) // DAY
        for number, who in found.items()
        if who["open"] and who["last_judged"]
    }
    return {number: days for number, days in away.items() if days >= DAYS}


def _median(seconds: pd.Series) -> float | None:
    known = seconds.dropna()
    return float(known.median()) if len(known) else None


def _instant(when: datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
