"""Simulated pools, audited: once as people draw, or twice, the second time by a machine's levels.

Each pool is a separate campaign. Relevance falls with the rank as top / (1 + (rank / 12) ** fall),
with a thin tail. How much is relevant varies between queries by a gamma variable of mean 1 (the
smaller its shape, the more). For the settings in OUTSIDE the method does not promise 95 %.

The machine has judged a number of moments below the first 60. The `good` one puts 85 % of the
relevant ones at 1 or more and 50 % at 3 or 4; of the others 5.5 % and .5 %. The `useless` one gives
both the same levels.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from annotation.pooling.design_effect import compare_widths
from annotation.pooling.estimator import Counts, Interval, beyond
from annotation.pooling.machine_strata import allocate

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CUTS = (20, 40, 60)
RANDOM = 60


class Setting(NamedTuple):
    """A kind of corpus, and an audit of it."""

    queries: int
    drawn: int
    pool: int
    top: float
    fall: float
    shape: float


SETTINGS = {
    "short tail, all queries": Setting(50, 50, 600, 0.8, 1.4, 1.0),
    "half of few queries": Setting(100, 50, 600, 0.8, 1.4, 1.0),
    "small pool": Setting(300, 50, 2000, 0.8, 1.4, 1.0),
    "queries that differ much": Setting(300, 100, 5000, 0.8, 1.3, 0.5),
    "broad queries": Setting(1000, 100, 5000, 0.9, 1.1, 1.0),
    "narrow queries": Setting(1000, 200, 5000, 0.5, 1.6, 1.0),
    "large pool": Setting(3281, 150, 20_000, 0.8, 1.1, 1.0),
    "the paper's pool": Setting(3281, 200, 72_842, 0.8, 1.0, 1.0),
    "too few finds": Setting(3281, 50, 72_842, 0.8, 1.3, 1.0),
    "too few queries": Setting(300, 15, 2000, 0.8, 1.3, 0.5),
    "a few queries hold most": Setting(1000, 50, 5000, 0.3, 1.1, 0.1),
}
OUTSIDE = ("too few finds", "too few queries", "a few queries hold most")


class Pools(NamedTuple):
    """Audits of simulated pools, and true counts of relevant moments, (pools, queries, strata)."""

    audit: Counts
    truth: Ints


def simulate(setting: Setting, pools: int, seed: int) -> Pools:
    """Draw pools, and audit each."""
    random = np.random.default_rng(seed)
    shape = (pools, setting.queries)
    breadth = random.gamma(setting.shape, 1 / setting.shape, shape)
    levels = setting.top / (1 + (np.arange(1, setting.pool + 1) / 12) ** setting.fall)
    size = np.diff([0, *CUTS, setting.pool])
    chance = [part.mean() for part in np.split(levels, CUTS)]
    levels_of = zip(size, np.minimum(np.multiply.outer(chance, breadth), 0.98), strict=True)
    truth = np.stack([random.binomial(number, p) for number, p in levels_of], axis=-1)
    audited = truth[:, : setting.drawn]
    relevant = audited.copy()
    relevant[..., -1] = random.hypergeometric(audited[..., -1], size[-1] - audited[..., -1], RANDOM)
    judged = np.append(size[:-1], RANDOM)
    whole, sample = np.broadcast_arrays(size, judged, relevant)[:2]
    return Pools(Counts(whole, sample, relevant), truth)


def true_share(truth: Ints, strata: int) -> Floats:
    """Return the share of relevant moments beyond the first strata, (pools,)."""
    totals = truth.sum(1)
    share: Floats = totals[:, strata:].sum(-1) / totals.sum(-1)
    return share


def misses(interval: Interval, truth: Floats) -> tuple[float, float]:
    """Return the shares of intervals above and below the truth."""
    return float((interval.low > truth).mean()), float((interval.high < truth).mean())


def plain(counts: Counts, strata: int, population: int) -> Interval:
    """Return mean +- t SE, for comparison."""
    total = counts.total[..., strata:].sum(-1)
    queries = total.shape[-1]
    within = counts.variance.sum((-2, -1)) / (queries * population)
    variance = (1 - queries / population) * total.var(-1, ddof=1) / queries + within
    half = stats.t.ppf(0.975, queries - 1) * np.sqrt(variance)
    return Interval(total.mean(-1), total.mean(-1) - half, total.mean(-1) + half)


RELEVANT, OTHERS = (0.15, 0.35, 0.5), (0.945, 0.05, 0.005)
"""The shares of levels 0, 1 or 2, and 3 or 4 that a good machine gives."""
MACHINES = {"good": (RELEVANT, OTHERS), "useless": ((0.6, 0.3, 0.1), (0.6, 0.3, 0.1))}
JUDGED = {
    "half of few queries": 540,
    "small pool": 500,
    "queries that differ much": 500,
    "broad queries": 500,
    "narrow queries": 500,
    "the paper's pool": 500,
}
"""How many moments below each query's top the machine has judged, by setting."""


class Audits(NamedTuple):
    """The same pools audited without the machine and with it; the truth per query and stratum."""

    plain: Counts
    strata: Counts
    truth: Ints


def simulate_twice(setting: Setting, depth: int, machine: str, pools: int, seed: int) -> Audits:
    """Draw pools, and audit each twice."""
    random = np.random.default_rng(seed)
    shape = (pools, setting.queries)
    breadth = random.gamma(setting.shape, 1 / setting.shape, shape)
    chance = setting.top / (1 + (np.arange(1, setting.pool + 1) / 12) ** setting.fall)
    edges = [0, *CUTS, min(CUTS[-1] + depth, setting.pool), setting.pool]
    sizes = np.diff(edges)
    parts = (chance[low:high] for low, high in pairwise(edges))
    mean = [part.mean() if len(part) else 0.0 for part in parts]
    likely = [np.minimum(share * breadth, 0.98) for share in mean]
    ranges = [random.binomial(size, p) for size, p in zip(sizes, likely, strict=True)]
    tail = setting.pool - CUTS[-1]
    truth = np.stack([*ranges[:3], ranges[3] + ranges[4]], axis=-1)
    audited = truth[:, : setting.drawn]
    top, whole = audited[..., :3], audited[..., 3]
    hits = random.hypergeometric(whole, tail - whole, RANDOM)
    plain = _counts(np.full((*whole.shape, 1), tail), np.array([RANDOM]), hits[..., None], top)
    relevant, others = MACHINES[machine]
    shallow, deep = (counts[:, : setting.drawn] for counts in ranges[3:])
    own = np.concatenate([deep[..., None], random.multinomial(shallow, relevant)], -1)
    rest = random.multinomial(sizes[3] - shallow, others)
    size = own + np.concatenate([(sizes[4] - deep)[..., None], rest], -1)
    samples = allocate(size, RANDOM)
    met = random.hypergeometric(own, size - own, samples)
    return Audits(plain, _counts(size, samples, met, top), truth)


def _counts(size: Ints, judged: Ints, relevant: Ints, top: Ints) -> Counts:
    """Put the three fully judged ranges before the random samples."""
    whole = np.broadcast_to(np.diff([0, *CUTS]), top.shape)
    judged = np.broadcast_to(judged, size.shape)
    sizes, samples, hits = (
        np.concatenate(pair, -1) for pair in ((whole, size), (whole, judged), (top, relevant))
    )
    return Counts(sizes, samples, hits, size.shape[-1])


class Figures(NamedTuple):
    """How often both cover the truth, and how much the machine narrows intervals and errors.

    `estimated` is single audits' mean estimate of `width`, `spread` its standard deviation.
    """

    covered: float
    covered_without: float
    width: float
    estimated: float
    spread: float
    error: float


def compare(setting: Setting, audits: Audits, strata: int) -> Figures:
    """Return the figures beyond the first strata."""
    truth = audits.truth[..., strata:].sum(-1).mean(-1)
    without, stratified = (
        beyond(counts, strata, setting.queries).per_query
        for counts in (audits.plain, audits.strata)
    )
    errors = [
        float(np.sqrt(((estimate.value - truth) ** 2).mean())) for estimate in (stratified, without)
    ]
    ratio = float(_width(stratified).mean() / _width(without).mean())
    ratios = compare_widths(audits.strata, strata, setting.queries)
    estimated, spread = float(np.nanmean(ratios)), float(np.nanstd(ratios))
    covered, alone = (1 - sum(misses(estimate, truth)) for estimate in (stratified, without))
    return Figures(covered, alone, ratio, estimated, spread, errors[0] / errors[1])


def _width(interval: Interval) -> Floats:
    return interval.high - interval.low
