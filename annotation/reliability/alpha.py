"""Krippendorff's alpha over graded levels, with a bootstrap interval over pairs.

Krippendorff, Content Analysis (2004), chapter 11; the distances are nominal, ordinal and
interval. Only how often a pair has each level matters, and few such combinations occur: drawing
pairs with replacement is drawing their numbers, so a resample costs almost nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from annotation.reliability.scores import number
from annotation.votes.rule import LEVELS
from annotation.votes.votes import Floats, Ints

COMPARABLE = 2
Distance = Callable[[Floats], Floats]


class Bootstrap(NamedTuple):
    """The number of resamples, the confidence of the interval, and the seed."""

    resamples: int
    confidence: float
    seed: int


def alphas(counts: Ints, bootstrap: Bootstrap) -> dict[str, dict[str, float | None]]:
    """Return `alpha`, `low` and `high` by distance; null where there is nothing to compare.

    `counts` is how often each pair has each level, a row of five per pair; pairs with fewer than
    two scores are ignored. Alpha is undefined if all levels are equal. The interval is made of
    percentiles, and assumes that pairs are independent.

    >>> counts = np.array([[0, 0, 2, 0, 0], [1, 1, 0, 0, 0], [0, 0, 0, 0, 2]])
    >>> alphas(counts, Bootstrap(resamples=200, confidence=0.95, seed=1))["interval"]["alpha"]
    0.935065
    """
    comparable = counts[counts.sum(axis=1) >= COMPARABLE]
    kinds, times = np.unique(comparable, axis=0, return_counts=True)
    tables = _coincidences(kinds)
    resamples = _resample(times, bootstrap)
    estimates = {}
    for name, distance in DISTANCES.items():
        [estimate] = calc_alpha(_sums(times[None].astype(np.float64), tables), distance)
        resampled = calc_alpha(_sums(resamples, tables), distance)
        low, high = interval(resampled, bootstrap.confidence)
        estimates[name] = {"alpha": number(estimate), "low": number(low), "high": number(high)}
    return estimates


def _resample(times: Ints, bootstrap: Bootstrap) -> Floats:
    pairs = int(times.sum())
    if pairs < COMPARABLE:
        return np.zeros((0, len(times)))
    random = np.random.default_rng(bootstrap.seed)
    return random.multinomial(pairs, times / pairs, bootstrap.resamples).astype(np.float64)


def _sums(times: Floats, tables: Floats) -> Floats:
    return np.tensordot(times, tables, 1).astype(np.float64)


def _coincidences(kinds: Ints) -> Floats:
    """Return what a pair of each kind adds to the coincidence matrix."""
    scores = kinds.sum(axis=1)[:, None, None]
    with_itself = kinds[:, :, None] * np.eye(LEVELS)
    tables: Floats = (kinds[:, :, None] * kinds[:, None, :] - with_itself) / (scores - 1)
    return tables


def calc_alpha(coincidences: Floats, distance: Distance) -> Floats:
    """Return alpha of each matrix (shape n, 5, 5), NaN if nothing could differ."""
    totals = coincidences.sum(axis=2)
    away = distance(totals)
    size = totals.sum(axis=1)
    observed = (coincidences * away).sum(axis=(1, 2)) * (size - 1)
    expected = (totals[:, :, None] * totals[:, None, :] * away).sum(axis=(1, 2))
    undefined = expected == 0
    return np.where(undefined, np.nan, 1 - observed / np.where(undefined, 1, expected))


def interval(values: Floats, confidence: float) -> tuple[float, float]:
    """Return the percentiles that contain `confidence` of the resamples; NaN without any."""
    defined = values[~np.isnan(values)]
    if not len(defined):
        return np.nan, np.nan
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return low, high


def _squares(positions: Floats) -> Floats:
    return (positions[:, :, None] - positions[:, None, :]) ** 2


DISTANCES: dict[str, Distance] = {
    "nominal": lambda totals: np.broadcast_to(1 - np.eye(LEVELS), (len(totals), LEVELS, LEVELS)),
    # The sum of totals from c to k, less half of both ends, is a difference of middle ranks.
    "ordinal": lambda totals: _squares(totals.cumsum(axis=1) - totals / 2),
    "interval": lambda totals: _squares(np.broadcast_to(np.arange(LEVELS) * 1.0, totals.shape)),
}
