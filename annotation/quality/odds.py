"""Odds that somebody does not answer as an honest annotator: a sequential test.

It may be looked at after every judgment: over a whole campaign, an honest annotator reaches odds
of 1 / alpha with a chance of at most alpha (Ville 1939; the supremum over the honest makes it
hold for each of them, Wasserman, Ramdas and Balakrishnan 2020). The evidence may begin at any
judgment, so that who changes is found too: the odds of each beginning pay for how many there are.
"""

from typing import NamedTuple

import numpy as np

from annotation.quality import behaviour
from annotation.reliability.scores import Floats
from annotation.votes.rule import LEVELS
from annotation.votes.votes import Ints

LEAST = 10
"""Fewer answers prove nothing."""
STEP = 10
"""Evidence may begin at every tenth answer."""
SAME = 0.9
"""The share of answers that somebody who copies takes over."""


class Odds(NamedTuple):
    """The highest logarithm of odds so far, for which way to answer, and over how many answers."""

    log: float
    words: str
    answers: int


NONE = Odds(-np.inf, "", 0)


def odds_of_behaviour(level: Ints, weight: Floats, before: int = 0) -> Odds:
    """Return the highest odds of any other behaviour against the best fitting honest one.

    An honest annotator keeps one bias and noise. Whoever is not may have been honest first: then
    their honest answers tell what would be usual for them.

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
            best = Odds(float(log[end]), words, end + 1)
    return best


def odds_of_copying(
    level: Ints, weight: Floats, theirs: Ints, candidates: int, before: int = 0
) -> Odds:
    """Return the highest odds that answers were taken over from somebody who gave them before.

    `theirs` are that person's levels of the same pairs, `candidates` the number of people who
    could have been copied.
    """
    if len(level) < LEAST:
        return NONE
    table = behaviour.honest()
    honest = _cumulated(table, level, weight)
    usual = np.einsum("nt,tn->n", weight, table.mean(axis=0)[:, level])
    copied = np.log(SAME * (level == theirs) + (1 - SAME) * usual)
    copied = np.concatenate([[0.0], np.cumsum(copied)])
    best = NONE
    for begin in range(0, len(level), STEP):
        own = (honest[:, begin + 1 :] - honest[:, [begin]]).max(axis=0)
        log = copied[begin + 1 :] - copied[begin] - own
        log = log - _price(before + begin) - np.log(candidates)
        end = int(log.argmax())
        if log[end] > best.log:
            best = Odds(float(log[end]), "", end + 1)
    return best


def _cumulated(tables: Floats, level: Ints, weight: Floats) -> Floats:
    """Return the running log-likelihood of answers under each table, shape (tables, n + 1)."""
    chance = np.einsum("nt,ktn->kn", weight, tables[:, :, level])
    return np.hstack([np.zeros((len(tables), 1)), np.cumsum(np.log(chance), axis=1)])


def _any_shares(counts: Floats) -> Floats:
    """Return the log-likelihood of levels drawn by shares nobody knows (Krichevsky-Trofimov)."""
    from scipy.special import gammaln  # noqa: PLC0415  (0.1 s, which no other command waits for)

    half = 0.5
    free = gammaln(counts + half).sum(axis=1) - LEVELS * gammaln(half)
    log: Floats = free + gammaln(LEVELS * half) - gammaln(counts.sum(axis=1) + LEVELS * half)
    return log


def _price(begin: int) -> float:
    """Return what a beginning pays: over all of them, exp(-price) adds up to 1."""
    step = begin // STEP
    return float(np.log((step + 1) * (step + 2)))
