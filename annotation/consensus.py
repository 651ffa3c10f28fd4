"""Find what the votes on a pair come to (paper, section 3.3; design, section 3, "Votes").

Two levels that differ by at most 1: their mean, rounded up. Else two others are asked; of the
four levels one highest and one lowest are dropped, and where the rest differ by at most 1 it is
their mean, rounded up; else the pair is discarded. Two votes without a level: unjudgeable.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.votes import (
    ALL_VOTES,
    ENOUGH_WITHOUT_LEVEL,
    FIRST_VOTES,
    NEAR,
    NO_LEVEL,
    PAIR,
    Ints,
    fresh,
    last_shown,
    votes,
)
from pipeline import tables

LEVELS = 5


class Verdicts(NamedTuple):
    """What was found, an entry for each pair.

    `level` is NO_LEVEL, and `mean` NaN, unless the outcome is `two` or `four`. `scores` counts a
    pair's levels; `levels` holds them all, pair after pair, each pair's in rising order.
    """

    outcome: npt.NDArray[np.str_]
    level: Ints
    mean: npt.NDArray[np.float64]
    scores: Ints
    levels: Ints


def consensus(
    judgments: pd.DataFrame, ledger: pd.DataFrame, *, closed: bool = False
) -> pd.DataFrame:
    """Return the consensus of every pair of the ledger, sorted by query_id and moment_id.

    A pair that was shown and not judged waits, with no scores. Once the campaign is `closed`,
    what waits is discarded: it is told apart by not having four scores.
    """
    shown = last_shown(ledger)
    pairs = shown[PAIR].sort_values(PAIR, ignore_index=True)
    found = votes(fresh(judgments, shown), pairs)
    verdicts = decide(found.pair, found.level, len(pairs), closed=closed)
    undecided = verdicts.level == NO_LEVEL
    rows = pairs.assign(
        level=pd.array(np.where(undecided, 0, verdicts.level), "Int64"),
        mean=verdicts.mean,
        scores=pd.Series(_scores(verdicts), dtype=object),
        outcome=verdicts.outcome,
    )
    rows.loc[undecided, "level"] = pd.NA
    return tables.CONSENSUS.check(rows)


def decide(pair: Ints, level: Ints, pairs: int, *, closed: bool = False) -> Verdicts:
    """Apply the rule to votes on the pairs 0 to `pairs` - 1, in any order.

    A pair with another number of levels than 2 or 4 waits: nothing is guessed.
    """
    judged = level != NO_LEVEL
    scores = np.bincount(pair[judged], minlength=pairs)
    without = np.bincount(pair[~judged], minlength=pairs)
    levels = np.sort(pair[judged] * LEVELS + level[judged]) % LEVELS
    low, high = _middle(levels, scores)
    two, four = scores == FIRST_VOTES, scores == ALL_VOTES
    unjudgeable = without >= ENOUGH_WITHOUT_LEVEL
    found = (two | four) & (high - low <= NEAR) & ~unjudgeable
    return Verdicts(
        np.select(
            [unjudgeable, found & two, found, four | closed],
            ["unjudgeable", "two", "four", "discarded"],
            "waiting",
        ),
        level=np.where(found, (low + high + 1) // 2, NO_LEVEL),
        mean=np.where(found, (low + high) / 2, np.nan),
        scores=scores,
        levels=levels,
    )


def _middle(levels: Ints, scores: Ints) -> tuple[Ints, Ints]:
    """Return the two levels that are left of each pair's two or four; 0 and 0 of any other."""
    begin = np.cumsum(scores) - scores
    at = begin + (scores == ALL_VOTES)
    whole = (scores == FIRST_VOTES) | (scores == ALL_VOTES)
    low, high = np.zeros_like(begin), np.zeros_like(begin)
    low[whole], high[whole] = levels[at[whole]], levels[at[whole] + 1]
    return low, high


def _scores(verdicts: Verdicts) -> list[list[int]]:
    ends = np.cumsum(verdicts.scores)
    levels, begins = verdicts.levels.tolist(), (ends - verdicts.scores).tolist()
    return [levels[begin:end] for begin, end in zip(begins, ends.tolist(), strict=True)]
