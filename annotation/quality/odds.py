"""Odds that a person does not answer like an honest annotator: a sequential test.

It may be checked after every judgment: over a whole campaign, an honest annotator reaches odds
of 1 / alpha with a chance of at most alpha (Ville 1939; the supremum over the honest makes it
hold for each of them, Wasserman, Ramdas and Balakrishnan 2020). The evidence may begin at any
judgment, so that changes in behaviour are found too: the odds of each beginning are discounted for
how many there are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annotation.quality import behaviour
from annotation.votes.rule import LEVELS
from annotation.votes.votes import Floats, Ints

LEAST = 10
"""Fewer answers prove nothing."""
STEP = 10
"""Evidence may begin at every tenth answer."""
COPIED = 0.95
"""The share of answers that a copying person takes over."""
ALIKE = (0.0, 0.25, 0.5)
"""The share of pairs that two honest people may see the same way, right or wrong."""


class Odds(NamedTuple):
    """The highest logarithm of odds, for which behaviour, where it begins, and over how many."""

    log: float
    words: str
    begin: int
    answers: int


NONE = Odds(-np.inf, "", 0, 0)


def odds_of_behaviour(level: Ints, weight: Floats, before: int = 0) -> Odds:
    """Return the highest odds of any other behaviour against the best fitting honest one.

    An honest annotator keeps one bias and noise. Others may have been honest at first: then their
    honest answers show what would be usual for them.

    `level` are the answers in order, `weight` how likely each level is the true one (shape n, 5),
    `before` the number of answers that came before these.
    """
    if len(level) < LEAST:
        return NONE
    ways = behaviour.others()
    honest = _cumulated(behaviour.honest(), level, weight)
    other = _cumulated(np.stack([way.chances for way in ways]), level, weight)
    counts = np.vstack([np.zeros(LEVELS), np.cumsum(np.eye(LEVELS)[level], axis=0)])
    usual = np.logaddexp.reduce(honest, axis=0) - np.log(len(honest))
    whole, best = honest.max(axis=0), NONE
    for begin in range(0, len(level), STEP):
        fits = other[:, begin + 1 :] - other[:, [begin]]
        free = _any_shares(counts[begin + 1 :] - counts[begin])
        fits = np.vstack([fits, free])
        total = np.logaddexp.reduce(fits, axis=0) - np.log(len(fits))
        log = usual[begin] + total - whole[begin + 1 :] - _price(before + begin)
        end = int(log.argmax())
        if log[end] > best.log:
            way = int(fits[:, end].argmax())
            words = "without regard to what is shown" if way == len(ways) else ways[way].words
            best = Odds(float(log[end]), words, begin, end + 1)
    return best


def odds_of_copying(level: Ints, weight: Floats, theirs: Ints, candidates: int) -> Odds:
    """Return the highest odds that answers were copied from a person who gave them earlier.

    `theirs` are that person's levels of the same pairs, `candidates` the number of people who
    could have been copied.
    """
    if len(level) < LEAST:
        return NONE
    equal, table = (level == theirs) * 1.0, behaviour.honest()
    chance = np.einsum("nt,ktn->kn", weight, table[:, :, level])
    honest = _running([alike * equal + (1 - alike) * chance for alike in ALIKE])
    copied = _running([COPIED * equal + (1 - COPIED) * chance.mean(axis=0)[None]])[0]
    best = NONE
    for begin in range(0, len(level), STEP):
        best_honest = (honest[:, begin + 1 :] - honest[:, [begin]]).max(axis=0)
        log = copied[begin + 1 :] - copied[begin] - best_honest - _price(begin)
        log -= np.log(candidates)
        end = int(log.argmax())
        if log[end] > best.log:
            best = Odds(float(log[end]), "", begin, end + 1)
    return best


def _running(chances: Sequence[Floats]) -> Floats:
    """Return the running log-likelihood of answers, one row for each row of chances."""
    log = np.log(np.concatenate(chances))
    return np.hstack([np.zeros((len(log), 1)), np.cumsum(log, axis=1)])


def _cumulated(tables: Floats, level: Ints, weight: Floats) -> Floats:
    """Return the running log-likelihood of answers under each table, shape (tables, n + 1)."""
    chance = np.einsum("nt,ktn->kn", weight, tables[:, :, level])
    return _running([chance])


def _any_shares(counts: Floats) -> Floats:
    """Return the log-likelihood of levels drawn with unknown shares (Krichevsky-Trofimov)."""
    from scipy.special import gammaln  # noqa: PLC0415  (--help needs none)

    half = 0.5
    free = gammaln(counts + half).sum(axis=1) - LEVELS * gammaln(half)
    log: Floats = free + gammaln(LEVELS * half) - gammaln(counts.sum(axis=1) + LEVELS * half)
    return log


def _price(begin: int) -> float:
    """Return the discount of a beginning: over all of them, exp(-price) adds up to 1."""
    step = begin // STEP
    return float(np.log((step + 1) * (step + 2)))
