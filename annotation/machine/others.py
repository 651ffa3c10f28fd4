"""Each vote and the others on its pair: never a consensus that includes the vote itself.

Whether a pair gets four votes depends on its first two. A first vote is therefore compared only
with the other first one, and a later one with all others: no reference depends on the vote that is
compared with it, so a machine that judges as people do gets the same figures as they do.
"""

from typing import NamedTuple

import numpy as np

from annotation.reliability.scores import Scores
from annotation.votes.rule import Rounding, decide
from annotation.votes.votes import FIRST_VOTES, MAX_DIFFERENCE, Bools, Ints
from pipeline.campaign.pairs import ALL_VOTES


class Others(NamedTuple):
    """Which votes each vote is compared with: `row` and `other` are places among the scores."""

    row: Ints
    other: Ints


def find_others(scores: Scores, seed: int, *, published: bool = False) -> Others:
    """Return the other people's votes that each vote is compared with, by vote.

    If times are unknown, the first two of four votes are drawn, with `seed`, among those that are
    more than 1 apart, as the first two must have been. `published`: all other people's votes, as in
    the alternative annotator test.
    """
    first = draw_first(scores, seed) if scores.first is None else scores.first
    parts = [np.empty((2, 0), dtype=np.int64)]
    for lag in range(1, int(scores.per_pair.max(initial=0))):
        [begin] = (scores.pair[lag:] == scores.pair[:-lag]).nonzero()
        parts += [np.stack([begin, begin + lag]), np.stack([begin + lag, begin])]
    row, other = np.concatenate(parts, axis=1)
    compared = scores.annotator[row] != scores.annotator[other]
    compared &= published | ~first[row] | first[other]
    row, other = row[compared], other[compared]
    order = np.lexsort([other, row])
    return Others(row[order], other[order])


def draw_first(scores: Scores, seed: int) -> Bools:
    """Return which votes may have been the first two of their pair, if times are unknown."""
    per_pair = scores.per_pair
    begin = np.cumsum(per_pair) - per_pair
    first: Bools = np.arange(len(scores.pair)) - begin[scores.pair] < FIRST_VOTES
    four = begin[per_pair == ALL_VOTES]
    if len(four):
        rows = four[:, None] + np.arange(ALL_VOTES)
        earlier, later = np.triu_indices(ALL_VOTES, 1)
        apart = abs(scores.level[rows[:, earlier]] - scores.level[rows[:, later]]) > MAX_DIFFERENCE
        apart |= ~apart.any(axis=1, keepdims=True)
        chance = np.random.default_rng(seed).random(apart.shape)
        drawn = np.where(apart, chance, -1).argmax(axis=1)
        first[rows] = False
        for both in (earlier, later):
            first[rows[np.arange(len(rows)), both[drawn]]] = True
    return first


def find_references(scores: Scores, others: Others, rounding: Rounding = "up") -> Ints:
    """Return the consensus of the others for each vote, NO_LEVEL if they have none.

    It follows the rule for two or four votes. A single vote counts as two of its level, and the
    middle one of three as two, since the lowest and the highest are dropped.
    """
    row, level = others.row, scores.level[others.other]
    order = np.lexsort([level, row])
    row, level = row[order], level[order]
    size = np.bincount(row, minlength=len(scores.pair))
    position = np.arange(len(row)) - (np.cumsum(size) - size)[row]
    middle = (size[row] % 2 == 1) & (position == size[row] // 2)
    row, level = np.concatenate([row, row[middle]]), np.concatenate([level, level[middle]])
    return decide(row, level, len(scores.pair), rounding=rounding).level
