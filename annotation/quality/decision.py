"""Decide from exam, hidden checks and shared pairs whether a person may continue judging.

A person is stopped for one of three reasons, each of which fits in a sentence for the lead:

* of their pairs of known truth, too few are within 1 of it, allowing for bad luck;
* their answers fit some other behaviour (always 2, at random, ...) so much better than any honest
  annotator that this happens to an honest one, in a whole campaign, with a chance of at most
  `max_wrong`; and this still holds whichever one other person's answers are left out;
* in the same way, they fit a copy of someone else's earlier answers.

The limits hold however often one looks.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from annotation.quality import odds
from annotation.quality.evidence import Evidence, Weighed, collect, weigh_answers
from annotation.quality.odds import Odds
from annotation.votes.votes import Bools

State = Literal["keep", "stop", "undecided"]
TESTS = 3
"""Reasons to stop: each may wrongly do so with a third of the chance."""
WINDOW = 1000
"""How many answers are examined: earlier ones have already been examined."""
LOOK = 10
"""Pairs of known truth between two looks at their share."""
SUSPECT = 20.0
"""Odds that a careless person must reach, whichever one other person is left out."""


class Limits(NamedTuple):
    """When a person is stopped: see `plan.min_gold`, `gold_window` and `max_wrong`."""

    min_gold: float = 0.7
    gold_window: int = 60
    max_wrong: float = 0.01


class Decision(NamedTuple):
    """The decision on a person, and the reason.

    `share` is the share of the last pairs of known truth within 1 of it, None if there are none;
    `low` and `high` are the limits of what luck allows. `odds` say how much better some other
    behaviour fits than any honest annotator (its logarithm, 0 where it does not). `reason` is for
    the lead; `since` is when the problem began.
    """

    state: State
    share: float | None
    low: float
    high: float
    odds: float
    reason: str
    since: pd.Timestamp | None = None


def decide(rows: pd.DataFrame, limits: Limits, people: Iterable[int] = ()) -> dict[int, Decision]:
    """Return the decision on everyone who answered, or only on `people`.

    `rows` are answers to exam, gold, repeats and votes (`evidence.COLUMNS`). Answers of stopped
    people are no longer evidence about the others: they are left out, one person after another,
    the clearest case first.
    """
    asked = set(people) or set(rows["annotator"].tolist())
    stopped: dict[int, Decision] = {}
    while True:
        evidence = collect(rows[~rows["annotator"].isin(list(stopped))])
        decided = {
            annotator: _decide(evidence, annotator, limits)
            for annotator in sorted(asked - set(stopped))
        }
        bad = [annotator for annotator, decision in decided.items() if decision.state == "stop"]
        if not bad:
            return dict(sorted((stopped | decided).items()))
        worst = max(bad, key=lambda annotator: (decided[annotator].odds, -annotator))
        stopped[worst] = decided[worst]


def interval(hits: int, number: int, alpha: float) -> tuple[float, float]:
    """Return the limits of a share: Clopper and Pearson's interval, wrong with chance `alpha`."""
    from scipy.special import betaincinv  # noqa: PLC0415  (--help needs none)

    missed = number - hits
    low = float(betaincinv(hits, missed + 1, alpha / 2)) if hits else 0.0
    high = float(betaincinv(hits + 1, missed, 1 - alpha / 2)) if missed else 1.0
    return low, high


def _decide(evidence: Evidence, annotator: int, limits: Limits) -> Decision:
    alpha = limits.max_wrong / TESTS
    enough = -float(np.log(alpha))
    checked = np.flatnonzero(evidence.has_truth & (evidence.annotator == annotator))
    share, low, high, missed = _nearness(evidence.near[checked], limits, alpha)
    other, begin = _behaviour(evidence, annotator, enough)
    source, copy, copied = _copying(evidence, annotator)
    most = max(other.log, copy.log)
    state: State = "undecided"
    reason, since = "", None
    if missed:
        state, reason, since = "stop", missed.words, checked[missed.begin]
    elif copy.log >= enough:
        state, since = "stop", copied
        reason = f"copies annotator {source}: {_chance(copy)}"
    elif other.log >= enough:
        state, since = "stop", begin
        reason = f"answers {other.words}: {_chance(other)}"
    elif share is not None and low >= limits.min_gold and most < 0:
        state = "keep"
    when = None if since is None else evidence.time[since]
    return Decision(state, share, low, high, max(0.0, most), reason, when)


def _chance(chance: Odds) -> str:
    return (
        f"{chance.answers} answers fit that 10^{chance.log / np.log(10):.0f} times better than an"
        " honest annotator"
    )


class _Missed(NamedTuple):
    """Too few of a window's pairs were within 1: in words, and where the window begins."""

    words: str
    begin: int


def _nearness(
    near: Bools, limits: Limits, alpha: float
) -> tuple[float | None, float, float, _Missed | None]:
    """Return the last window's share with its interval, and whether one was too low."""
    missed: _Missed | None = None
    result: tuple[float | None, float, float] = (None, 0.0, 1.0)
    for look, end in enumerate(_looks(len(near)), start=1):
        window = near[max(0, end - limits.gold_window) : end]
        hits, number = int(window.sum()), len(window)
        low, high = interval(hits, number, alpha / (look * (look + 1)))
        result = (hits / number, low, high)
        if high < limits.min_gold and missed is None:
            words = (
                f"{hits} of {number} pairs of known truth are within 1 of it ({hits / number:.0%},"
                f" at most {high:.0%} with luck; {limits.min_gold:.0%} are needed)"
            )
            missed = _Missed(words, end - number)
    return *result, missed


def _looks(number: int) -> list[int]:
    whole = list(range(LOOK, number + 1, LOOK))
    return whole if whole or not number else [number]


def _behaviour(evidence: Evidence, annotator: int, enough: float) -> tuple[Odds, int]:
    """Return the odds of another behaviour, and the answer with which it begins.

    If they depend on one other person's answers, those without that person are returned.
    """
    weighed = weigh_answers(evidence, annotator)
    before = max(0, len(weighed.row) - WINDOW)
    whole = _odds(weighed)
    if whole.log < enough:
        return whole, 0
    for other in _partners(evidence, annotator):
        without = _odds(weigh_answers(evidence, annotator, without=other))
        if without.log < np.log(SUSPECT):
            return without, 0
    return whole, int(weighed.row[before + whole.begin])


def _odds(weighed: Weighed) -> Odds:
    before = max(0, len(weighed.row) - WINDOW)
    return odds.odds_of_behaviour(weighed.level[before:], weighed.weight[before:], before)


def _copying(evidence: Evidence, annotator: int) -> tuple[int, Odds, int]:
    """Return whose earlier answers a person's fit best, the odds of a copy, and its beginning."""
    weighed, partners = weigh_answers(evidence, annotator), _partners(evidence, annotator)
    pair, best = evidence.pair[weighed.row], (0, odds.NONE, 0)
    for other in partners:
        theirs = np.flatnonzero(evidence.annotator == other)
        shared, first = np.unique(evidence.pair[theirs], return_index=True)
        match = np.searchsorted(shared, pair).clip(max=len(shared) - 1)
        earlier = theirs[first][match]
        both = (shared[match] == pair) & (earlier < weighed.row)
        level, weight = weighed.level[both], weighed.weight[both]
        chance = odds.odds_of_copying(level, weight, evidence.level[earlier[both]], len(partners))
        if chance.log > best[1].log:
            best = other, chance, int(weighed.row[both][chance.begin])
    return best


def _partners(evidence: Evidence, annotator: int) -> list[int]:
    """Return everyone else who judged some of a person's pairs."""
    inside = np.isin(evidence.pair, evidence.pair[evidence.annotator == annotator])
    people = np.unique(evidence.annotator[inside]).tolist()
    return [other for other in people if other != annotator]
