"""What an audit gains from its strata: its interval compared with a simple random sample's.

Would as many random moments of each query, drawn without a machine's levels, have made the interval
wider? The stratified sample itself answers this: it gives an unbiased estimate of the spread in a
simple random sample (Cochran, Sampling Techniques, 3rd ed., 5A.11, on the gain due to
stratification), and so of the variance of the mean of both stages. The interval is then that of
`estimator`, with this variance and the single weight that all moments of a query would have had.
The ratio of both widths comes from one sample, and is noisy itself.
"""

import numpy as np

from pipeline.campaign.estimator import (
    Bools,
    Counts,
    Floats,
    Interval,
    beyond,
    largest_step,
    mean_variance,
    skewed_interval,
)
from pipeline.campaign.next_step import LEAST_AUDITED

LEAST_FINDS = 5
"""With fewer finds in the random samples, a ratio would be mere chance."""


def compare_widths(counts: Counts, strata: int, population: int) -> Floats:
    """Return the interval's width beyond the first strata over that without strata, (...,).

    NaN where it can't be estimated: no query has two strata or more, there are too few finds, or
    too little of the strata was judged to know their spread.
    """
    alone, queries = merge_strata(counts), counts.size.shape[-2]
    variance = simple_variance(counts, strata, population)
    mean = counts.total[..., strata:].sum(-1).mean(-1)
    step = largest_step(alone, strata, population)
    with np.errstate(divide="ignore", invalid="ignore"):
        without = skewed_interval(mean, variance, step, queries)
        ratio = _width(beyond(counts, strata, population).per_query) / _width(without)
    split = ((counts.size[..., -counts.drawn :] > 0).sum(-1) > 1).any(-1)
    enough = alone.relevant[..., -1].sum(-1) >= LEAST_FINDS
    return np.where(split & enough & (variance > 0), ratio, np.nan)


def simple_variance(counts: Counts, strata: int, population: int) -> Floats:
    """Estimate the variance of the mean beyond the first strata, had there been no strata, (...,).

    Queries with fewer than two judged in a stratum that is not fully judged do not show the spread
    within it: the mean of the others is used for them. NaN if fewer than two queries show it.
    """
    queries, measured = counts.size.shape[-2], _is_measured(counts)
    random = counts.variance[..., -counts.drawn :].sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        queries_measured = np.where(measured.sum(-1) >= LEAST_AUDITED, measured.sum(-1), np.nan)
        more = np.where(measured, _draw_variance(counts) - random, 0.0).sum(-1) / queries_measured
    total, noise = (column[..., strata:].sum(-1) for column in (counts.total, counts.variance))
    variance: Floats = mean_variance(total, noise, population) + more / queries
    return variance


def merge_strata(counts: Counts) -> Counts:
    """Return the counts as if the rest of each query's pool were one stratum."""
    first = counts.size.shape[-1] - counts.drawn
    merged = (
        np.concatenate([column[..., :first], column[..., first:].sum(-1, keepdims=True)], -1)
        for column in (counts.size, counts.judged, counts.relevant)
    )
    return Counts(*merged)


def _draw_variance(counts: Counts) -> Floats:
    """Estimate the variance of each query's total for a simple random sample of the rest of it.

    Shape (..., queries). The spread is p (1 - p) of the estimated share p, plus the error of p.
    """
    whole = merge_strata(counts)
    size, judged = (np.maximum(column[..., -1], 1) for column in (whole.size, whole.judged))
    total, noise = (
        column[..., -counts.drawn :].sum(-1) for column in (counts.total, counts.variance)
    )
    share = total / size
    spread = share * (1 - share) + noise / size**2
    variance: Floats = size**2 / np.maximum(size - 1, 1) * (size - judged) / judged * spread
    return variance


def _is_measured(counts: Counts) -> Bools:
    """Mark the queries whose strata all have a known spread: two are judged, or all."""
    size, judged = (column[..., -counts.drawn :] for column in (counts.size, counts.judged))
    measured: Bools = ((judged > 1) | (judged == size)).all(-1)
    return measured


def _width(interval: Interval) -> Floats:
    return interval.high - interval.low
