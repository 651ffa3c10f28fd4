"""When a campaign will be judged: what is open, and what disputes and second batches will add."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from scipy import stats

from annotation.votes.votes import FIRST_VOTES
from pipeline.campaign.effort import HOUR
from pipeline.campaign.pairs import ALL_VOTES

TAIL = 0.025
"""What lies beyond each bound."""


class Bounds(NamedTuple):
    """A number that is not known: from and to."""

    low: float
    high: float


def forecast(
    state: Mapping[str, Any], seconds: float | None, per_day: float, now: datetime
) -> dict[str, Any]:
    """Return how many judgments are to come, how many hours they take, and when they are done.

    `open` are the ones that people have now. `to_come` adds those of disputes and second batches,
    from the shares of them so far: from `low` to `high`. Hours are by the median `seconds`, dates
    by the pace of so many judgments `per_day`; what there is no pace or time for is None.
    """
    now_open = sum(who["open"] for who in state["annotators"].values())
    more = further_judgments(state["outlook"])
    numbers = {"open": now_open, "low": now_open + more.low, "high": now_open + more.high}
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

    How many of the pairs and queries to come it will be is beta-binomial (Jeffreys' prior) by
    the ones so far: 95 % of it each.
    """
    undecided = outlook["undecided"]
    size = outlook["second_pairs"] / undecided if undecided else 0.0
    extended = _of_those_to_come(undecided, outlook["extended"], outlook["decided"])

    def added(queries: float, bound: int) -> float:
        second = round(queries * size)
        counts = (outlook["first"] + second, outlook["disputed"], outlook["compared"])
        disputed = _of_those_to_come(*counts)[bound]
        return FIRST_VOTES * second + (ALL_VOTES - FIRST_VOTES) * disputed

    return Bounds(added(extended.low, 0), added(extended.high, 1))


def _of_those_to_come(number: int, part: int, whole: int) -> Bounds:
    """Return how many of `number` will be as `part` of `whole` were."""
    found = stats.betabinom(number, part + 0.5, whole - part + 0.5)
    return Bounds(*(float(found.ppf(share)) for share in (TAIL, 1 - TAIL)))


def _date(number: float, per_day: float, now: datetime) -> str | None:
    """Return the day on which so many judgments are done; None where nobody judges."""
    if not number:
        return now.date().isoformat()
    try:
        return (now + timedelta(days=number / per_day)).date().isoformat()
    except (ZeroDivisionError, OverflowError):
        return None
