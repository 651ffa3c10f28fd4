"""Scores on pairs as columns, and the couples of scores on the same pair."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.votes.rule import LEVELS
from annotation.votes.votes import (
    FIRST_VOTES,
    MAX_DIFFERENCE,
    NO_LEVEL,
    Bools,
    Floats,
    Ints,
    select_counting,
    select_rows,
    select_votes,
)
from pipeline.campaign.pairs import PAIR_KEY


class Scores(NamedTuple):
    """Levels 0 to 4, sorted by pair, and by time within a pair where `time` is known.

    `pair` is 0 to `pairs` - 1, `annotator` a place in `annotators`; `seconds` is what the
    judgment took.
    """

    pair: Ints
    annotator: Ints
    level: Ints
    pairs: int
    annotators: pd.Index
    time: npt.NDArray[np.datetime64] | None = None
    seconds: Floats | None = None

    @property
    def per_pair(self) -> Ints:
        """How many scores each pair has."""
        return np.bincount(self.pair, minlength=self.pairs)

    @property
    def counts(self) -> Ints:
        """How often each pair has each level, a row of five for a pair."""
        counts = np.bincount(self.pair * LEVELS + self.level, minlength=self.pairs * LEVELS)
        return counts.reshape(-1, LEVELS)

    @property
    def first(self) -> Bools | None:
        """Mark the first two scores of each pair; None if times are unknown."""
        if self.time is None:
            return None
        begin = np.cumsum(self.per_pair) - self.per_pair
        return np.arange(len(self.pair)) - begin[self.pair] < FIRST_VOTES


def sort_scores(scores: Scores) -> Scores:
    """Return scores in the order that `Scores` requires; at equal times, by annotator."""
    when = [] if scores.time is None else [scores.time.astype(np.int64)]
    return select_rows(scores, np.lexsort([scores.level, scores.annotator, *when, scores.pair]))


def campaign_scores(
    judgments: pd.DataFrame, shown: pd.DataFrame, voided: pd.DataFrame, pairs: pd.DataFrame
) -> Scores:
    """Return the votes on `pairs` that count and have a level (`votes.select_counting`)."""
    usable = select_counting(judgments, shown, voided)
    counted = select_votes(usable, pairs[PAIR_KEY])
    counted = select_rows(counted, counted.level != NO_LEVEL)
    annotator, annotators = pd.factorize(counted.annotator, sort=True)
    times, seconds = (usable[name].to_numpy()[counted.row] for name in ("submitted_at", "seconds"))
    return sort_scores(
        Scores(
            counted.pair,
            annotator,
            counted.level,
            len(pairs),
            pd.Index(annotators),
            pd.to_datetime(times, utc=True).tz_localize(None).to_numpy(),
            seconds,
        )
    )


class Couples(NamedTuple):
    """Two scores on one pair: the annotators, the smaller number first, and the levels."""

    annotator: Ints
    other: Ints
    level: Ints
    other_level: Ints


def couples(scores: Scores) -> Couples:
    """Return all couples of scores on a pair: six for a pair with four scores."""
    parts = [np.empty((2, 0), dtype=np.int64)]
    for lag in range(1, int(scores.per_pair.max(initial=0))):
        [begin] = (scores.pair[lag:] == scores.pair[:-lag]).nonzero()
        parts.append(np.stack([begin, begin + lag]))
    first, second = np.concatenate(parts, axis=1)
    swapped = scores.annotator[first] > scores.annotator[second]
    first, second = np.where(swapped, second, first), np.where(swapped, first, second)
    return Couples(*(column[rows] for column in scores[1:3] for rows in (first, second)))


def between_people(couples: Couples) -> Couples:
    """Return the couples of two annotators; the rest is one person who answered twice."""
    return select_rows(couples, couples.annotator != couples.other)


def within_person(couples: Couples) -> Couples:
    """Return the couples of an annotator with themselves."""
    return select_rows(couples, couples.annotator == couples.other)


def nearness(couples: Couples) -> dict[str, float | int | None]:
    """Return the number of couples, and the share of equal levels and of those within 1."""
    distance = abs(couples.level - couples.other_level)
    return {
        "couples": len(distance),
        "exact": number((distance == 0).mean()) if len(distance) else None,
        "within_1": number((distance <= MAX_DIFFERENCE).mean()) if len(distance) else None,
    }


def number(value: float) -> float | None:
    """Return a figure for JSON, with six decimals: if undefined, null, never NaN."""
    return round(float(value), 6) if np.isfinite(value) else None
