"""A second consensus: levels weighted by the skill of the people who gave them.

Dawid and Skene (1979) for ordered levels. Each person has a table: how often they give each level,
for each true level. There are two fits by expectation-maximisation, in both of which the likelihood
never decreases. The first describes a person by three figures: bias, noise, and the share of
answers given at random. The second gives each person their own table, pulled towards that of the
first with the weight of `PULL` votes on each level: people who have judged little are described by
the three figures, people who have judged much by their own answers. `benchmarks/skill.py` measures
how well this works.

The result depends neither on the order of rows nor on people's numbers.
"""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import sparse, special

from annotation.votes.ordered import level_chances
from annotation.votes.rule import LEVELS
from annotation.votes.votes import NO_LEVEL, Floats, Ints

Tables = Floats
"""People's answers by true level: person x true level x level given; rows add up to 1."""

PULL = 200.0
TOLERANCE, MOST_STEPS = 1e-6, 5000
"""The fit ends when no pair's probability of any level moves further, or after these steps."""
DIGITS = 3
"""Of a mean: smaller differences come from the order in which a machine adds."""

BIASES = np.linspace(-2, 2, 21)
NOISES = np.array([0.25, 0.35, 0.5, 0.65, 0.8, 1.0, 1.25, 1.6, 2.0, 2.6])
RANDOM = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99])
USUAL_BIAS, USUAL_NOISE, NOISE_SPREAD, HONESTY = 0.5, 0.7, 0.5, 9.0
"""The prior: the spread of biases, the median noise and the spread of its
logarithm; the density of a share r of random answers is (1 - r) to the power of `HONESTY`."""


class Skill(NamedTuple):
    """The result of votes weighted by skill.

    `probability` has the levels of each pair (a row of five, NaN without a vote), `tables` the
    answers of the people (in rising order of their numbers), `shares` how frequent levels are.
    `objective` is the logarithm that both fits maximise, after each step.
    """

    probability: Floats
    tables: Tables
    shares: Floats
    objective: tuple[list[float], list[float]]

    @property
    def mean(self) -> Floats:
        """The expected level of each pair, NaN if it has no vote."""
        return np.asarray((self.probability @ np.arange(LEVELS)).round(DIGITS))

    @property
    def level(self) -> Ints:
        """The level nearest to the mean, halves up; NO_LEVEL if a pair has no vote."""
        nearest = np.floor(np.nan_to_num(self.mean, nan=NO_LEVEL) + 0.5)
        return nearest.astype(np.int64)


class VoteSets(NamedTuple):
    """Distinct sets of votes: how often each person gave each level, and how many pairs have it."""

    said: sparse.csr_array
    pairs: Floats
    levels: Floats


class Fit(NamedTuple):
    """The result of a fit, by set of votes, and its objective after each step."""

    probability: Floats
    tables: Tables
    shares: Floats
    objective: list[float]


Update = Callable[[Floats], tuple[Tables, float]]
"""From counts of answers by true level to tables and the logarithm of their prior."""


def weigh(pair: Ints, annotator: Ints, level: Ints, pairs: int) -> Skill:
    """Return the consensus of votes on the pairs 0 to `pairs` - 1, in any order.

    Votes without a level (NO_LEVEL) are left out.
    """
    judged = level != NO_LEVEL
    people, who = np.unique(annotator[judged], return_inverse=True)
    probability = np.full((pairs, LEVELS), np.nan)
    if not len(people):
        even = np.full(LEVELS, 1 / LEVELS)
        return Skill(probability, np.empty((0, LEVELS, LEVELS)), even, ([], []))
    judged_pairs, own_pair = np.unique(pair[judged], return_inverse=True)
    votes, place = group_votes(own_pair, who * LEVELS + level[judged], len(people))
    skilled = fit(votes, usual_tables(len(people)), by_three_figures)
    prior = skilled.tables
    own = fit(votes, prior, lambda counts: by_own_answers(counts, prior))
    probability[judged_pairs] = own.probability[place]
    return Skill(probability, own.tables, own.shares, (skilled.objective, own.objective))


def group_votes(pair: Ints, answer: Ints, people: int) -> tuple[VoteSets, Ints]:
    """Return the distinct sets of votes, and which of them each pair has.

    Pairs are numbered from 0, and each has a vote. An `answer` is a person's number (from 0)
    times `LEVELS`, plus the level.
    """
    order = np.lexsort((answer, pair))
    pair, answer = pair[order], answer[order]
    number = np.bincount(pair)
    nth = np.arange(len(pair)) - np.repeat(np.cumsum(number) - number, number)
    padded = np.full((len(number), number.max()), -1, dtype=np.int64)
    padded[pair, nth] = answer
    distinct, place, times = np.unique(padded, axis=0, return_inverse=True, return_counts=True)
    row, column = np.nonzero(distinct >= 0)
    shape = (len(distinct), people * LEVELS)
    said = sparse.csr_array((np.ones(len(row)), (row, distinct[row, column])), shape)
    levels = np.bincount(answer % LEVELS, minlength=LEVELS).astype(np.float64)
    return VoteSets(said, times.astype(np.float64), levels), place.ravel()


def fit(votes: VoteSets, tables: Tables, update: Update) -> Fit:
    """Maximise in turns: the likely true levels given people's skill, and the reverse."""
    shares = _shares(votes.levels)
    before: Floats = np.full((len(votes.pairs), LEVELS), np.inf)
    prior, objective = -np.inf, list[float]()
    while True:
        probability, likelihood = true_levels(votes, tables, shares)
        objective.append(likelihood + prior + float(np.log(shares).sum()))
        moved = np.abs(probability - before).max()
        if moved < TOLERANCE or len(objective) > MOST_STEPS:
            return Fit(probability, tables, shares, objective[1:])  # the first has no prior
        before = probability
        weighted = probability * votes.pairs[:, None]
        counts = (votes.said.T @ weighted).reshape(len(tables), LEVELS, LEVELS)
        tables, prior = update(counts.transpose(0, 2, 1))
        shares = _shares(weighted.sum(axis=0))


def true_levels(votes: VoteSets, tables: Tables, shares: Floats) -> tuple[Floats, float]:
    """Return the probability of each level for each set of votes, and all votes' likelihood."""
    by_answer = np.log(tables).transpose(0, 2, 1).reshape(-1, LEVELS)
    logarithm = votes.said @ by_answer + np.log(shares)
    total = special.logsumexp(logarithm, axis=1, keepdims=True)
    return np.exp(logarithm - total), float((votes.pairs * total.ravel()).sum())


def _shares(counts: Floats) -> Floats:
    """Return the shares of levels, as if each had been seen once more."""
    return np.asarray((counts + 1) / (counts + 1).sum())


def by_three_figures(counts: Floats) -> tuple[Tables, float]:
    """Return for each person the likeliest table of bias, noise and random answers."""
    tables, prior = _ordered_tables()
    fits = counts.reshape(len(counts), -1) @ np.log(tables).reshape(len(tables), -1).T + prior
    best = fits.argmax(axis=1)
    return tables[best], float(prior[best].sum())


def by_own_answers(counts: Floats, prior: Tables) -> tuple[Tables, float]:
    """Return people's own tables, pulled towards `prior` by `PULL` votes on each level."""
    total = counts + PULL * prior
    tables = total / total.sum(axis=2, keepdims=True)
    return tables, float(PULL * (prior * np.log(tables)).sum())


@cache
def _ordered_tables() -> tuple[Tables, Floats]:
    """Return the tables of all biases, noises and shares of random answers; their log priors."""
    bias, noise, by_chance = np.array(list(product(BIASES, NOISES, RANDOM))).T
    chance = by_chance[:, None, None]
    tables = np.clip((1 - chance) * level_chances(bias, noise) + chance / LEVELS, 1e-9, None)
    spread = np.log(noise / USUAL_NOISE) / NOISE_SPREAD
    prior = HONESTY * np.log1p(-by_chance) - ((bias / USUAL_BIAS) ** 2 + spread**2) / 2
    return tables / tables.sum(axis=2, keepdims=True), prior


def usual_tables(people: int) -> Tables:
    """Return the starting point of the fit: everyone without bias, with the usual noise."""
    tables, prior = _ordered_tables()
    return np.repeat(tables[[int(prior.argmax())]], people, axis=0)
