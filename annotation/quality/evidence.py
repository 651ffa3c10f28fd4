"""Evidence of how a person answers: pairs of known truth, and others' answers to the same pairs.

The others' answers make each level more or less likely to be the true one: how much is estimated
from all answers together, by maximum likelihood (Dawid and Skene 1979, with one table of chances
for all, so that it works with few answers).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from annotation.quality import behaviour
from annotation.votes.rule import LEVELS
from annotation.votes.votes import MAX_DIFFERENCE, Bools, Floats, Ints
from pipeline.campaign.pairs import PAIR_KEY

COLUMNS = [*PAIR_KEY, "annotator", "level", "kind", "truth", "submitted_at"]
"""A row for each answer: `truth` is null where unknown."""
UNKNOWN = -1
ROUNDS = 12
PRIOR_PAIRS = 5.0
"""How many pairs of a query outweigh what is usual for all queries."""
NOISE_SHARE = 0.05
"""The share of others' answers that are taken as meaningless: each of them may be careless."""


class Evidence(NamedTuple):
    """All answers with a level, in order of time.

    `truth` is the true level, or UNKNOWN; `log` is how well each true level would explain the
    answer (the logarithm of its chance, shape n, 5), and `prior` how frequent each is.
    """

    time: pd.Series
    annotator: Ints
    query: Ints
    pair: Ints
    level: Ints
    truth: Ints
    log: Floats
    prior: Floats

    @property
    def has_truth(self) -> Bools:
        """Mark the answers whose truth is known."""
        has_truth: Bools = self.truth != UNKNOWN
        return has_truth

    @property
    def near(self) -> Bools:
        """Mark the answers that are within 1 of a known truth."""
        return self.has_truth & (abs(self.level - self.truth) <= MAX_DIFFERENCE)


class Weighed(NamedTuple):
    """Answers (by their places in the evidence), and how likely each level is true (n, 5)."""

    row: Ints
    level: Ints
    weight: Floats


def collect(rows: pd.DataFrame) -> Evidence:
    """Return the evidence of answers (`COLUMNS`); those without a level are no evidence."""
    answers = rows[rows["level"].notna()].sort_values(["submitted_at", *PAIR_KEY, "annotator"])
    pair = pd.factorize(pd.MultiIndex.from_frame(answers[PAIR_KEY]))[0].astype(np.int64)
    level = answers["level"].to_numpy("int64")
    truth = answers["truth"].fillna(UNKNOWN).to_numpy("int64")
    open_ = truth == UNKNOWN
    confusion, prior = fit_confusion(pair[open_], level[open_])
    annotator = answers["annotator"].to_numpy("int64")
    query = pd.factorize(answers["query_id"])[0].astype(np.int64)
    time = answers["submitted_at"].reset_index(drop=True)
    log = np.log(confusion)[:, level].T
    return Evidence(time, annotator, query, pair, level, truth, log, prior)


def weigh_answers(evidence: Evidence, annotator: int, without: int | None = None) -> Weighed:
    """Return a person's answers with known truth or others' answers, `without` one person's."""
    row = np.flatnonzero(evidence.annotator == annotator)
    pair = np.unique(evidence.pair[row])
    shared = np.isin(evidence.pair, pair)
    if without is not None:
        shared &= evidence.annotator != without
    slot = np.searchsorted(pair, evidence.pair)
    total = np.zeros((len(pair), LEVELS))
    np.add.at(total, slot[shared], evidence.log[shared])
    number = np.bincount(slot[shared], minlength=len(pair))
    has_truth = evidence.has_truth[row]
    is_evidence = has_truth | (number[slot[row]] > 1)
    row, has_truth = row[is_evidence], has_truth[is_evidence]
    others = total[slot[row]] - evidence.log[row]
    weight = _shares(np.log(evidence.prior) + others)
    # One query has more relevant moments than another: its own pairs show how many.
    query = np.unique(evidence.query[row], return_inverse=True)[1]
    frequent = np.tile(evidence.prior * PRIOR_PAIRS, (int(query.max(initial=-1)) + 1, 1))
    np.add.at(frequent, query, weight)
    weight = _shares(np.log(frequent[query]) + others)
    weight[has_truth] = np.eye(LEVELS)[evidence.truth[row[has_truth]]]
    return Weighed(row, evidence.level[row], weight)


def _shares(log: Floats) -> Floats:
    each = np.exp(log - log.max(axis=1, keepdims=True, initial=-np.inf))
    shares: Floats = each / each.sum(axis=1, keepdims=True)
    return shares


def fit_confusion(pair: Ints, level: Ints) -> tuple[Floats, Floats]:
    """Return the others' chances (5, 5), and the shares of the true levels, that fit best."""
    row = np.unique(pair, return_inverse=True)[1]
    best: tuple[float, Floats, Floats] = (-np.inf, np.eye(LEVELS), np.ones(LEVELS))
    for noise in behaviour.NOISES:
        table = (1 - NOISE_SHARE) * behaviour.chances(0.0, noise) + NOISE_SHARE / LEVELS
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
