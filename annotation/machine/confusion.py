"""How well levels agree with others, from tables of both; intervals by a bootstrap over queries.

Pairs of one query are alike, so whole queries are drawn with replacement. All compared figures
share their draws: a difference of two figures has its own interval.
"""

from typing import NamedTuple

import numpy as np

from annotation.reliability.alpha import DISTANCES, Bootstrap, calc_alpha, interval
from annotation.reliability.kappa import WEIGHTS, kappa
from annotation.reliability.scores import number
from annotation.votes.rule import LEVELS
from annotation.votes.votes import MAX_DIFFERENCE, Floats, Ints

STATISTICS = ("alpha", "kappa", "exact", "within_1", "bias")
_DIFFERENCE = np.arange(LEVELS)[None, :] - np.arange(LEVELS)[:, None]


class Draws(NamedTuple):
    """How often each query is drawn, shape (resamples, queries), and the confidence level."""

    times: Floats
    confidence: float


def draw_queries(queries: int, bootstrap: Bootstrap) -> Draws:
    """Return resamples of that many queries."""
    if not queries:
        return Draws(np.zeros((bootstrap.resamples, 0)), bootstrap.confidence)
    random = np.random.default_rng(bootstrap.seed)
    times = random.multinomial(queries, np.full(queries, 1 / queries), bootstrap.resamples)
    return Draws(times.astype(np.float64), bootstrap.confidence)


def tabulate(query: Ints, reference: Ints, level: Ints, queries: int) -> Floats:
    """Return how often each reference (rows) met each level (columns), shape (queries, 5, 5)."""
    cells = (query * LEVELS + reference) * LEVELS + level
    counts = np.bincount(cells, minlength=queries * LEVELS**2).reshape(-1, LEVELS, LEVELS)
    return counts.astype(np.float64)


def measure(tables: Floats) -> dict[str, Floats]:
    """Return `STATISTICS` of each table (shape n, 5, 5); NaN where undefined.

    Alpha is Krippendorff's for ordered levels, kappa Cohen's with quadratic weights, `bias` the
    mean of level minus reference.
    """
    size = tables.sum(axis=(1, 2))
    whole = np.where(size > 0, size, np.nan)
    near = abs(_DIFFERENCE) <= MAX_DIFFERENCE
    both = tables + tables.swapaxes(1, 2)
    return {
        "alpha": calc_alpha(both, DISTANCES["ordinal"]),
        "kappa": kappa(tables, WEIGHTS["quadratic"]),
        "exact": tables.trace(axis1=1, axis2=2) / whole,
        "within_1": (tables * near).sum(axis=(1, 2)) / whole,
        "bias": (tables * _DIFFERENCE).sum(axis=(1, 2)) / whole,
    }


class Measured(NamedTuple):
    """Figures of one table, and of each resample of its queries."""

    pairs: int
    whole: dict[str, float]
    resampled: dict[str, Floats]


def measure_draws(tables: Floats, draws: Draws) -> Measured:
    """Return the figures of all queries' tables, and of each draw of queries."""
    flat = tables.reshape(-1, LEVELS**2)
    whole = measure(flat.sum(axis=0).reshape(1, LEVELS, LEVELS))
    drawn = (draws.times @ flat).reshape(-1, LEVELS, LEVELS)
    return Measured(
        int(tables.sum()), {name: float(value[0]) for name, value in whole.items()}, measure(drawn)
    )


Estimate = dict[str, float | None]
"""`value`, `low` and `high`."""


def describe(measured: Measured, draws: Draws) -> dict[str, Estimate | int]:
    """Return figures with their intervals for JSON, and the number of `pairs`."""
    estimates = {
        name: describe_estimate(measured.whole[name], measured.resampled[name], draws.confidence)
        for name in STATISTICS
    }
    return {"pairs": measured.pairs, **estimates}


def describe_estimate(value: float, resampled: Floats, confidence: float) -> Estimate:
    """Return a figure with its interval for JSON: undefined values are null."""
    low, high = interval(resampled, confidence)
    return {"value": number(value), "low": number(low), "high": number(high)}


def subtract(minuend: Measured, subtrahend: Measured, draws: Draws) -> dict[str, Estimate]:
    """Return how much higher each figure of one is than the other's, with its interval."""
    return {
        name: describe_estimate(
            minuend.whole[name] - subtrahend.whole[name],
            minuend.resampled[name] - subtrahend.resampled[name],
            draws.confidence,
        )
        for name in STATISTICS
    }
