"""How many relevant moments are outside the judged pool, with a 95 % interval (Appendix B.3).

The design has two stages: n of N queries are drawn, and within each, what is outside the pool is
judged by simple random samples; all of what is inside is known. A query's total is estimated
stratum by stratum; the mean over queries has the variance given by Cochran (Sampling Techniques,
3rd ed., chapter 10), with both finite population corrections.

**The interval.** Relevant moments far down are rare: one that is found stands for hundreds.
The estimate is then a small count times a large weight. It is right-skewed, and low exactly when
its variance is estimated too low, so mean +- t SE misses the truth in 5 to 10 % of pools, nearly
always from below. Instead the estimate is treated as a gamma variable with the variance of the
design, as for weighted sums of Poisson counts (Fay and Feuer, Statistics in Medicine 16, 1997). The
upper bound is exact for counts if a whole find is added, and covers too much; with half a find (the
mid-P form: Fay and Kim, Biometrical Journal 59, 2017) it covers too little where there are few.
Three quarters keep it at 95 %; the lower bound has half a find. Both are widened by t / z, because
the variance was estimated from n queries. `python -m benchmarks.audit` measures the coverage.

**Where it fails.** Below about five finds, its lower bound says little. If a few queries have most
of the relevant moments, it covers less (90 %): a sample without them cannot know. Without any find,
the upper bound rests on the find that might have been; `most_unseen` gives the exact bound.
"""

import heapq
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LEVEL = 0.95
MORE, MORE_BELOW = 0.75, 0.5
"""The finds that are added for the upper bound, and for the lower one."""
ROUNDING = 1e-12


class Interval(NamedTuple):
    """An estimate and its 95 % bounds, each of shape (...)."""

    value: Floats
    low: Floats
    high: Floats


class Counts(NamedTuple):
    """What was found per query and stratum; each of shape (..., queries, strata).

    The first strata are fully judged, such as the pool; the `drawn` ones after them are outside:
    one, or several by a machine's levels. Of `size` moments, `judged` have a level, a simple
    random sample (or all of them), and `relevant` of these are relevant.
    """

    size: Ints
    judged: Ints
    relevant: Ints
    drawn: int = 1

    @property
    def total(self) -> Floats:
        """Estimate how many are relevant in each query and stratum."""
        return self.size * self._share

    @property
    def variance(self) -> Floats:
        """Estimate the variance of `total` for the draw within each stratum."""
        share, left = self._share, self.size - self.judged
        spread = share * (1 - share) / np.maximum(self.judged - 1, 1)
        within: Floats = self.size * left * spread
        return within

    @property
    def _share(self) -> Floats:
        share: Floats = self.relevant / np.maximum(self.judged, 1)
        return share


class Beyond(NamedTuple):
    """The relevant moments beyond a rank.

    `per_query` is their mean number over all queries of the campaign, `share` their share of
    all relevant moments; `finds` counts those found in the random samples.
    """

    per_query: Interval
    share: Interval
    finds: Ints


def beyond(counts: Counts, strata: int, population: int) -> Beyond:
    """Estimate what is relevant beyond the first `strata` strata.

    `population` is the number of queries from which those of `counts` were drawn. If nothing
    at all is relevant, the share is NaN; if all relevant ones are beyond, 1 (0 to 1).
    """
    queries = counts.size.shape[-2]
    step = largest_step(counts, strata, population)
    above, below = counts.total[..., :strata].sum(-1), counts.total[..., strata:].sum(-1)
    noise_above = counts.variance[..., :strata].sum(-1)
    noise_below = counts.variance[..., strata:].sum(-1)
    mean = below.mean(-1)
    variance = mean_variance(below, noise_below, population)
    per_query = skewed_interval(mean, variance, step, queries)
    noise = noise_above, noise_below
    share = _share(above, below, noise, step, population)
    drawn = counts.relevant[..., counts.relevant.shape[-1] - counts.drawn :]
    return Beyond(per_query, share, drawn.sum((-2, -1)))


def _share(
    above: Floats, below: Floats, noise: tuple[Floats, Floats], step: Floats, population: int
) -> Interval:
    """Return the share from the odds, below to above: like the mean, odds have no upper limit."""
    with np.errstate(divide="ignore", invalid="ignore"):
        level, mean = above.mean(-1), below.mean(-1)
        odds = mean / level
        rest = (below - odds[..., None] * above) / level[..., None]
        blur = (noise[1] + odds[..., None] ** 2 * noise[0]) / level[..., None] ** 2
        variance = mean_variance(rest, blur, population)
        bounds = skewed_interval(odds, variance, step / level, above.shape[-1])
        value, low, high = (bound / (1 + bound) for bound in bounds)
    unknown = (level == 0) & (mean > 0)
    ends = ((1.0, value), (0.0, low), (1.0, high))
    return Interval(*(np.where(unknown, end, bound) for end, bound in ends))


def skewed_interval(mean: Floats, variance: Floats, step: Floats, queries: int) -> Interval:
    """Return the bounds of a mean that is a sum of rare counts; the module explains why.

    `step` is how much one more find would raise the mean.
    """
    from scipy import special  # noqa: PLC0415  (--help needs none)

    tail = (1 - LEVEL) / 2
    wider = special.stdtrit(queries - 1, tail) / special.ndtri(tail)
    low = _gamma(tail, mean, variance * wider**2, MORE_BELOW)
    # Not by a larger variance here: for a very skewed gamma variable it lowers the quantile.
    more = _gamma(1 - tail, mean + MORE * step, variance + MORE * step**2, 0) - mean
    return Interval(mean, np.where(mean > 0, low, 0.0), mean + wider * np.maximum(more, 0))


def _gamma(probability: float, mean: Floats, variance: Floats, more: float) -> Floats:
    """Return the quantile of a gamma variable, its shape raised by `more`."""
    from scipy import special  # noqa: PLC0415  (--help needs none)

    with np.errstate(divide="ignore", invalid="ignore"):
        shape, scale = mean**2 / variance, variance / mean
        quantile = special.gammaincinv(shape + more, probability) * scale
    return np.where(variance > 0, quantile, mean)


def mean_variance(total: Floats, noise: Floats, population: int) -> Floats:
    """Return the variance of the mean of queries' totals in a two-stage sample."""
    queries = total.shape[-1]
    between = (1 - queries / population) * total.var(-1, ddof=1) / queries
    variance: Floats = between + noise.sum(-1) / (queries * population)
    return variance


def largest_step(counts: Counts, strata: int, population: int) -> Floats:
    """Return what one more find adds to the mean; nothing if everything was judged."""
    queries = counts.size.shape[-2]
    weight = counts.size[..., strata:] / np.maximum(counts.judged[..., strata:], 1)
    most = weight.max((-2, -1), initial=1.0)
    step: Floats = (most - queries / population) / queries
    return step


def most_unseen(size: Ints, judged: Ints) -> int:
    """Return the exact one-sided 95 % upper bound if the random samples contain no relevant one.

    It is the most that can be relevant in all the strata together, (queries,), with a chance to
    draw none of them of still 5 %. It applies only to the audited queries, and whatever their
    clustering: the chance is largest if the relevant ones are spread evenly, since each further one
    within a query is more likely to be drawn than the one before.
    """
    left, bound = log(1 - LEVEL), 0
    queue = [(sample / whole, whole, sample) for whole, sample in _unseen(size, judged)]
    heapq.heapify(queue)
    while queue:
        met, whole, sample = queue[0]
        left -= log(1 - met) if met < 1 else -np.inf
        if left > ROUNDING:
            break
        bound += 1
        heapq.heapreplace(queue, (sample / (whole - 1), whole - 1, sample))
    return bound


def _unseen(size: Ints, judged: Ints) -> list[tuple[int, int]]:
    return [pair for pair in zip(size.tolist(), judged.tolist(), strict=True) if pair[0] > pair[1]]
