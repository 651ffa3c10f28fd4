"""How the votes came about: people per pair, disputes, and limits for the first two scores.

The rule (paper, section 3.3) asks two people about a pair, and two others if they disagree. Raw
votes show how far the rule was followed.
"""

from itertools import combinations
from typing import Any

import numpy as np

from annotation.reliability.alpha import Bootstrap, alphas
from annotation.reliability.scores import Scores, number
from annotation.votes.rule import LEVELS
from annotation.votes.votes import FIRST_VOTES, MAX_DIFFERENCE, Bools, Ints
from pipeline.campaign.pairs import ALL_VOTES

NO_INTERVAL = Bootstrap(resamples=0, confidence=0.95, seed=0)
CHOICES = {"closest": min, "widest": max}


def count_people(scores: Scores) -> Ints:
    """Return how many people gave the scores of each pair."""
    width = max(len(scores.annotators), 1)
    return np.bincount(np.unique(scores.pair * width + scores.annotator) // width,
                       minlength=scores.pairs)  # fmt: skip


def people_per_pair(scores: Scores) -> list[dict[str, int]]:
    """Return `scores, people, pairs`: how many pairs have how many scores from how many people."""
    both = np.stack([scores.per_pair, count_people(scores)], axis=1)
    kinds, pairs = np.unique(both[both[:, 0] > 0], axis=0, return_counts=True)
    rows = zip(*kinds.T.tolist(), pairs.tolist(), strict=True)
    return [
        {"scores": score_count, "people": people_count, "pairs": pair_count}
        for score_count, people_count, pair_count in rows
    ]


def count_disputes(scores: Scores) -> dict[str, int]:
    """Count pairs on which the rule was not followed.

    `two_apart` have two scores that are more than 1 apart, so two more are missing; `four_together`
    have four of which no two are more than 1 apart, so nobody had to be asked again.
    """
    apart = _span(scores.counts) > MAX_DIFFERENCE
    per_pair = scores.per_pair
    return {
        "two_apart": int((apart & (per_pair == FIRST_VOTES)).sum()),
        "four_together": int((~apart & (per_pair == ALL_VOTES)).sum()),
    }


def _span(counts: Ints) -> Ints:
    has: Bools = counts > 0
    span: Ints = LEVELS - 1 - has[:, ::-1].argmax(axis=1) - has.argmax(axis=1)
    return span


def first_two_limits(scores: Scores) -> dict[str, Any]:
    """Return how well the first two scores of pairs agree at best and at worst, for JSON.

    Which of four scores came first may be unknown. By the rule they are two that are more than 1
    apart: `closest` takes the least distant of these couples, `widest` the most distant; for a pair
    without any, all its couples are possible. `pairs` are those that two people judged: scores of
    one person are not agreement. Alpha has no interval.
    """
    counts = scores.counts[count_people(scores) > 1]
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    return {"pairs": len(counts)} | {name: _chosen(kinds, times, name) for name in CHOICES}


def _chosen(kinds: Ints, times: Ints, name: str) -> dict[str, Any]:
    chosen = [_choose_two(kind, name) for kind in kinds]
    two = np.array([np.bincount(row, minlength=LEVELS) for row in chosen]).reshape(-1, LEVELS)
    distance = np.array([high - low for low, high in chosen], dtype=np.int64)
    shares = {"exact": distance == 0, "within_1": distance <= MAX_DIFFERENCE}
    total = int(times.sum())
    return {
        **{key: number(times[rows].sum() / total) if total else None
           for key, rows in shares.items()},
        "alpha": {
            key: row["alpha"]
            for key, row in alphas(np.repeat(two, times, axis=0), NO_INTERVAL).items()
        },
    }  # fmt: skip


def _choose_two(kind: Ints, name: str) -> tuple[int, int]:
    """Return two of a pair's levels, the lower first."""
    couples = list(combinations(np.repeat(range(LEVELS), kind).tolist(), 2))
    apart = [(low, high) for low, high in couples if high - low > MAX_DIFFERENCE]
    return CHOICES[name](apart or couples, key=lambda two: two[1] - two[0])
