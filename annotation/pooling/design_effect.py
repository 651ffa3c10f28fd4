"""What an audit gains by its strata: its interval beside that of a simple random sample.

Would as many random moments of each query, drawn without looking at a machine's levels, have made
the interval wider? The stratified sample itself tells: it estimates without bias the spread that a
simple random sample would have met (Cochran, Sampling Techniques, 3rd ed., 5A.11, on the gain due
to stratification), and so the variance of the mean of both stages. The interval is then that of
`estimator`, with this variance and the one weight that all moments of a query would have had. The
ratio of both widths is a figure of one sample, and has noise of its own.
"""

import numpy as np

from annotation.pooling.design import LEAST_QUERIES
from annotation.pooling.estimator import (
    Bools,
    Counts,
    Floats,
    Interval,
    beyond,
    largest_step,
    mean_variance,
    skewed_interval,
)

LEAST_FINDS = 5
"""With fewer finds in the random samples a ratio would be chance."""


def compare_widths(counts: Counts, strata: int, population: int) -> Floats:
    """Return the interval's width beyond the first strata over that without strata, (...,).

    NaN where nothing can be said: no query has two strata or more, there are too few finds, or too
    little was judged of the strata to know their spread.
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

    Queries without two judged in a stratum, of which not all is judged, do not tell the spread
    within: the mean of the others stands for theirs. NaN where fewer than two tell it.
    """
    queries, measured = counts.size.shape[-2], _is_measured(counts)
    random = counts.variance[..., -counts.drawn :].sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        known = np.where(measured.sum(-1) >= LEAST_QUERIES, measured.sum(-1), np.nan)
        more = np.where(measured, _draw_variance(counts) - random, 0.0).sum(-1) / known
    total, noise = (part[..., strata:].sum(-1) for part in (counts.total, counts.variance))
    variance: Floats = mean_variance(total, noise, population) + more / queries
    return variance


def merge_strata(counts: Counts) -> Counts:
    """Return the counts as if the rest of each query's pool were one stratum."""
    first = counts.size.shape[-1] - counts.drawn
    merged = (
        np.concatenate([part[..., :first], part[..., first:].sum(-1, keepdims=True)], -1)
        for part in (counts.size, counts.judged, counts.relevant)
    )
    return Counts(*merged)


def _draw_variance(counts: Counts) -> Floats:
    """Estimate the variance of each query's total for a simple random sample of the rest of it.

    Shape (..., queries). The spread p (1 - p) is that of the estimated share p, and what p errs.
    """
    whole = merge_strata(counts)
    size, judged = (np.maximum(part[..., -1], 1) for part in (whole.size, whole.judged))
    total, noise = (part[..., -counts.drawn :].sum(-1) for part in (counts.total, counts.variance))
    share = total / size
    spread = share * (1 - share) + noise / size**2
    variance: Floats = size**2 / np.maximum(size - 1, 1) * (size - judged) / judged * spread
    return variance


def _is_measured(counts: Counts) -> Bools:
    """Tell of which queries each stratum's spread is known: two are judged, or all."""
    size, judged = (part[..., -counts.drawn :] for part in (counts.size, counts.judged))
    known: Bools = ((judged > 1) | (judged == size)).all(-1)
    return known


def _width(interval: Interval) -> Floats:
    return interval.high - interval.low
