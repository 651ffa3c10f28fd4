"""The rule of consensus (paper, section 3.3).

Two levels that differ by at most 1 give their mean, rounded up. Otherwise two others are asked; of
the four levels, one highest and one lowest are dropped, and if the rest differ by at most 1, the
level is their mean, rounded up; otherwise the pair is discarded. Two votes without a level make it
unjudgeable.

Three levels, which is what voiding one of four leaves, decide nothing: a fourth person is asked.
Where the first two are more than 1 apart, there is no third after which the paper's rule gives the
same result whatever the fourth says. In a closed campaign nobody is asked, and the pair is
discarded. (Where the first two that remain agree, they decide, as if the voided vote had not been.)

The scorer resamples votes by the same rule (`momentrank.meta.votes`): it can't import this module,
which stages depend on. A test checks that both agree.
"""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.votes.votes import FIRST_VOTES, MAX_DIFFERENCE, NO_LEVEL, UNJUDGEABLE_VOTES, Ints
from pipeline.campaign.pairs import ALL_VOTES
from pipeline.core import tables

LEVELS = len(tables.LEVELS)

Rounding = Literal["up", "nearest"]
"""How to round a mean between two levels: `up` as in the paper; `nearest` goes to the even
level, so that over many pairs the result is neither too high nor too low."""


class Consensus(NamedTuple):
    """The consensus of pairs, an entry for each pair.

    `level` is NO_LEVEL, and `mean` NaN, unless the outcome is `two` or `four`. `scores` counts a
    pair's levels; `levels` holds them all, pair after pair, each pair's in rising order.
    """

    outcome: npt.NDArray[np.str_]
    level: Ints
    mean: npt.NDArray[np.float64]
    scores: Ints
    levels: Ints

    def counts(self) -> Ints:
        """Return how often each pair has each level, a row of five for a pair."""
        owner = np.repeat(np.arange(len(self.scores)), self.scores)
        counts = np.bincount(owner * LEVELS + self.levels, minlength=len(self.scores) * LEVELS)
        return counts.reshape(-1, LEVELS)

    def lists(self) -> list[list[int]]:
        """Return each pair's levels in rising order."""
        ends = np.cumsum(self.scores)
        levels, begins = self.levels.tolist(), (ends - self.scores).tolist()
        return [levels[begin:end] for begin, end in zip(begins, ends.tolist(), strict=True)]


def decide(
    pair: Ints, level: Ints, pairs: int, *, closed: bool = False, rounding: Rounding = "up"
) -> Consensus:
    """Apply the rule to votes on the pairs 0 to `pairs` - 1, in any order.

    A pair with a number of levels other than 2 or 4 waits: nothing is guessed. Once the
    campaign is `closed`, waiting pairs are discarded.

    >>> pair, level = np.array([0, 0, 1, 1, 1, 1, 2, 2]), np.array([2, 3, 4, 1, 3, 2, 0, 2])
    >>> decided = decide(pair, level, 3)
    >>> decided.outcome.tolist(), decided.level[:2].tolist()
    (['two', 'four', 'waiting'], [3, 3])
    """
    judged = level != NO_LEVEL
    scores = np.bincount(pair[judged], minlength=pairs)
    without = np.bincount(pair[~judged], minlength=pairs)
    levels = np.sort(pair[judged] * LEVELS + level[judged]) % LEVELS
    low, high = _middle(levels, scores)
    two, four = scores == FIRST_VOTES, scores == ALL_VOTES
    unjudgeable = without >= UNJUDGEABLE_VOTES
    agreed = (two | four) & (high - low <= MAX_DIFFERENCE) & ~unjudgeable
    return Consensus(
        np.select(
            [unjudgeable, agreed & two, agreed, four | closed],
            ["unjudgeable", "two", "four", "discarded"],
            "waiting",
        ),
        level=np.where(agreed, _round(low + high, rounding), NO_LEVEL),
        mean=np.where(agreed, (low + high) / 2, np.nan),
        scores=scores,
        levels=levels,
    )


def _middle(levels: Ints, scores: Ints) -> tuple[Ints, Ints]:
    """Return the two levels that are left of each pair's two or four; 0 and 0 for other pairs."""
    begin = np.cumsum(scores) - scores
    at = begin + (scores == ALL_VOTES)
    whole = (scores == FIRST_VOTES) | (scores == ALL_VOTES)
    low, high = np.zeros_like(begin), np.zeros_like(begin)
    low[whole], high[whole] = levels[at[whole]], levels[at[whole] + 1]
    return low, high


def _round(total: Ints, rounding: Rounding) -> Ints:
    """Return half of `total`, the sum of two levels, as a level."""
    if rounding == "up":
        return (total + 1) // 2
    return np.rint(total / 2).astype(np.int64)
