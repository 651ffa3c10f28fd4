"""What tells how somebody answers: pairs of known truth, and the others' answers to the same pairs.

The others' answers make each level more or less likely to be the true one: how much is learnt
from all answers together, by maximum likelihood (Dawid and Skene 1979, with one table of chances
for all, so that it holds with few answers).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.quality import behaviour
from annotation.reliability.scores import Floats
from annotation.votes.rule import LEVELS
from annotation.votes.votes import MAX_DIFFERENCE, Bools, Ints
from pipeline.campaign.pairs import PAIR_KEY

COLUMNS = [*PAIR_KEY, "annotator", "level", "kind", "truth", "submitted_at"]
"""A row for each answer: `truth` is null where nobody knows it."""
ROUNDS = 12
FOREIGN = 0.05
"""The share of the others' answers that count for nothing: each of them may be careless."""


class Evidence(NamedTuple):
    """All answers with a level, in order of time.

    `weight` says how likely each level is the true one (shape n, 5) as far as truth or others
    tell; `tells` marks the answers of which either is there, `known` those whose truth is known
    and `near` those within 1 of it.
    """

    annotator: Ints
    pair: Ints
    level: Ints
    known: Bools
    near: Bools
    tells: Bools
    weight: Floats


def weigh(rows: pd.DataFrame) -> Evidence:
    """Return the evidence of answers (`COLUMNS`); those without a level tell nothing."""
    given = rows[rows["level"].notna()].sort_values(["submitted_at", *PAIR_KEY, "annotator"])
    annotator = given["annotator"].to_numpy("int64")
    pair = pd.factorize(pd.MultiIndex.from_frame(given[PAIR_KEY]))[0].astype(np.int64)
    level = given["level"].to_numpy("int64")
    known = given["truth"].notna().to_numpy()
    truth = given["truth"].fillna(0).to_numpy("int64")
    number = np.bincount(pair)[pair] if len(pair) else pair
    typical, prior = _typical(pair[~known], level[~known])
    log = np.log(typical)[:, level].T
    total = np.zeros((int(pair.max(initial=-1)) + 1, LEVELS))
    np.add.at(total, pair, log)
    rest = np.log(prior) + total[pair] - log
    weight = np.exp(rest - rest.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    weight[known] = np.eye(LEVELS)[truth[known]]
    near = known & (abs(level - truth) <= MAX_DIFFERENCE)
    return Evidence(annotator, pair, level, known, near, known | (number > 1), weight)


def _typical(pair: Ints, level: Ints) -> tuple[Floats, Floats]:
    """Return the others' chances (5, 5), and the shares of the true levels, that fit best."""
    row = np.unique(pair, return_inverse=True)[1]
    best: tuple[float, Floats, Floats] = (-np.inf, np.eye(LEVELS), np.ones(LEVELS))
    for noise in behaviour.NOISES:
        table = (1 - FOREIGN) * behaviour.chances(0.0, noise) + FOREIGN / LEVELS
        log = np.zeros((int(row.max(initial=-1)) + 1, LEVELS))
        np.add.at(log, row, np.log(table)[:, level].T)
        prior = np.full(LEVELS, 1 / LEVELS)
        for _ in range(ROUNDS):
            joint = prior * np.exp(log)
            each = joint.sum(axis=1)
            prior = ((joint / each[:, None]).sum(axis=0) + 1) / (len(log) + LEVELS)
        fit = float(np.log(each).sum())
        if fit > best[0]:
            best = (fit, table, prior)
    return best[1], best[2]
