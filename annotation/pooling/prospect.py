"""What an audit would take, and how much it would tell: pairs, judgments, hours, pay, and width.

The width is that of `estimator`'s interval at what such an audit finds on average, if that share of
the relevant neighbours is missed. How many a query misses is taken to vary as an exponential
variable does, apart from how many were found: `python -m benchmarks.audit` compares the widths.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from annotation.votes.votes import FIRST_VOTES
from pipeline.campaign.effort import ESCALATED, HOUR
from pipeline.campaign.estimator import Floats, Interval, skewed_interval
from pipeline.campaign.next_step import LEAST_AUDITED
from pipeline.campaign.pairs import ALL_VOTES

SHARES = (0.05, 0.1, 0.25, 0.4)
"""The shares of missed moments for which the width is told."""


class Prospect(NamedTuple):
    """An audit of `drawn` of `queries` queries: `near` and `deep` pairs of each, and what is known.

    `outside` is how many neighbours of a query are outside its pool, on average; `found` is how
    many relevant moments each judged query has inside it, (queries,).
    """

    drawn: int
    queries: int
    near: int
    deep: int
    outside: float
    found: Floats


def expect(prospect: Prospect, missed: float) -> Interval:
    """Return the interval to expect if the share `missed` of the relevant neighbours is missed.

    Each bound is NaN where nothing relevant has been found yet.
    """
    drawn, population, found = prospect.drawn, prospect.queries, prospect.found
    odds, mean = missed / (1 - missed), found.mean() if len(found) else np.nan
    total = odds * mean
    weight = prospect.outside / max(prospect.near, 1)
    noise = total * max(weight - 1, 0)
    spread = total**2 + total + odds**2 * found.var()
    left = 1 - drawn / population
    variance = (left * (spread + noise) + (1 - left) * noise) / drawn / mean**2
    step = (weight - drawn / population) / drawn / mean
    bounds = skewed_interval(np.array(odds), np.array(variance), np.array(step), drawn)
    return Interval(*(bound / (1 + bound) for bound in bounds))


def describe(prospect: Prospect, seconds: float, hourly: float | None) -> Iterator[str]:
    """Yield what the audit takes, and what it tells, in lines."""
    pairs = prospect.drawn * (prospect.near + prospect.deep)
    cost = describe_cost(pairs, seconds, hourly)
    yield f"{prospect.drawn:,} of {prospect.queries:,} queries, {cost}"
    if not prospect.outside:
        yield "every neighbour is in the pool, so that none can be missed"
    elif prospect.drawn < LEAST_AUDITED:
        yield f"an audit needs {LEAST_AUDITED} queries"
    elif not prospect.found.sum():
        yield "the width of its interval can't be foretold: no pair has a level of 2 or more yet"
    else:
        for share in SHARES:
            low, high = (float(bound) for bound in expect(prospect, share)[1:])
            yield f"if {share:.0%} are missed, expect an interval of {low:.0%} to {high:.0%}"


def describe_cost(pairs: int, seconds: float, hourly: float | None) -> str:
    """Return what it takes to have pairs judged."""
    disputed = round(ESCALATED * pairs) * (ALL_VOTES - FIRST_VOTES)
    judgments = FIRST_VOTES * pairs + disputed
    hours = judgments * seconds / HOUR
    pay = "" if hourly is None else f", pay {hours * hourly:,.0f}"
    return (
        f"{pairs:,} pairs: about {judgments:,} judgments, {hours:,.1f} hours ({seconds:g} s each)"
        f"{pay}"
    )
