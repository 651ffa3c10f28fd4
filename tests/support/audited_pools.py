"""Simulated campaigns with an audit, and pools audited twice: plainly, and by a machine's levels.

Each is a separate campaign. How much is relevant varies between queries by a gamma variable of
mean 1 (the smaller its shape, the more).

In `simulate`, people judge 25 moments of each query, of which 10 are relevant, and a share of all
relevant neighbours is missed. After the audit was drawn, top-ups take a fifth of the missed ones
that there were. The audit sees 60 neighbours outside the pool, and 60 deeper moments.

In `simulate_twice`, relevance falls with the rank as top / (1 + (rank / 12) ** fall), with a thin
tail, and the machine has judged a number of moments below the first 60. The `good` one puts 85 % of
the relevant ones at 1 or more and 50 % at 3 or 4; of the others 5.5 % and .5 %. The `useless` one
gives both the same levels.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.pooling.design_effect import compare_widths
from annotation.pooling.machine_strata import allocate
from pipeline.campaign.estimator import Counts, Interval, beyond

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CUTS = (20, 40, 60)
RANDOM = 60
INSIDE, FOUND, TAKEN, DEEP, DEPTH = 25, 10.0, 0.2, 0.5, 1000
"""Judged moments of a query, and relevant ones of these; the share of missed ones that top-ups take
later; relevant ones beyond the neighbours; and the number of neighbours."""
SHARES = (0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
POOLS = (700, 20_000, 72_842)


class Audit(NamedTuple):
    """An audit of `drawn` of `queries` queries, whose pools miss a `share` of what is relevant."""

    pool: int
    share: float
    queries: int = 1000
    drawn: int = 100
    shape: float = 1.0

    @property
    def outside(self) -> int:
        """How many neighbours of a query are outside its pool when the audit is drawn."""
        return min(self.pool, DEPTH) - INSIDE


FEW = (
    Audit(20_000, 0.08, queries=100, drawn=50),
    Audit(20_000, 0.2, queries=100, drawn=50),
    Audit(20_000, 0.2, drawn=50, shape=0.1),
    Audit(20_000, 0.2, drawn=300, shape=0.1),
)
"""Audits of few queries, and of campaigns in which a few queries have most relevant moments."""


class Campaigns(NamedTuple):
    """Audits of simulated campaigns, near and deep, and the true shares missed, (campaigns,).

    `found` is how many relevant moments each query had in its pool before the audit.
    """

    near: Counts
    deep: Counts
    missed: Floats
    found: Ints


def simulate(setting: Audit, campaigns: int, seed: int) -> Campaigns:
    """Draw campaigns, and audit each."""
    random, drawn = np.random.default_rng((seed, setting.pool)), setting.drawn
    shape = (campaigns, setting.queries)
    breadth = random.gamma(setting.shape, 1 / setting.shape, (2, *shape))
    likely = np.minimum(FOUND / INSIDE * (0.5 + 0.5 * breadth.mean(0)), 0.98)
    found = random.binomial(INSIDE, likely)
    odds = setting.share / (1 - setting.share)
    there = odds * FOUND / (1 - TAKEN - odds * TAKEN)  # of these, 1 - TAKEN are missed in the end
    there = random.binomial(setting.outside, np.minimum(there * breadth[0] / setting.outside, 0.98))
    taken = random.binomial(there, TAKEN)
    left = there - taken
    inside = found + taken
    beyond = max(setting.pool - DEPTH, 0)
    deep = random.binomial(beyond, np.minimum(DEEP * breadth[1] / max(beyond, 1), 0.98))
    return Campaigns(
        _sample(left[:, :drawn], setting.outside, inside[:, :drawn], random),
        _sample(deep[:, :drawn], beyond, inside[:, :drawn], random),
        left.sum(1) / (left + inside).sum(1),
        found,
    )


def _sample(relevant: Ints, size: int, inside: Ints, random: np.random.Generator) -> Counts:
    """Return what an audit sees of `size` moments of each query, beside what is inside its pool."""
    judged = min(RANDOM, size)
    hits = random.hypergeometric(relevant, size - relevant, judged)
    relevant = np.stack([inside, hits], -1)
    whole, sample = (
        np.broadcast_to(np.array([INSIDE, number]), relevant.shape) for number in (size, judged)
    )
    return Counts(whole, sample, relevant)


def misses(interval: Interval, truth: Floats) -> tuple[float, float]:
    """Return the shares of intervals above and below the truth."""
    return float((interval.low > truth).mean()), float((interval.high < truth).mean())


class Setting(NamedTuple):
    """A kind of corpus, and an audit of it, by its first ranks and a machine's levels."""

    queries: int
    drawn: int
    pool: int
    top: float
    fall: float
    shape: float


SETTINGS = {
    "half of few queries": Setting(100, 50, 600, 0.8, 1.4, 1.0),
    "small pool": Setting(300, 50, 2000, 0.8, 1.4, 1.0),
    "queries that differ much": Setting(300, 100, 5000, 0.8, 1.3, 0.5),
    "broad queries": Setting(1000, 100, 5000, 0.9, 1.1, 1.0),
    "narrow queries": Setting(1000, 200, 5000, 0.5, 1.6, 1.0),
    "the paper's pool": Setting(3281, 200, 72_842, 0.8, 1.0, 1.0),
}


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
