"""Coverage of the audit's 95 % interval over simulated pools.

    python -m benchmarks.audit [--pools 1000] [--seed 1]

Each pool is a separate campaign, audited once. Relevance falls with the rank as
top / (1 + (rank / 12) ** fall), with a thin tail. How much is relevant varies between queries by a
gamma variable of mean 1 (the smaller its shape, the more). For each setting it prints the finds in
the random samples, and the percentage of intervals that cover the truth, are above it or are below
it: beyond ranks 20 and 40, per query and as a share. For comparison: mean +- t SE. For the settings
in OUTSIDE the method does not promise 95 %.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from annotation.pooling.estimator import Beyond, Counts, Interval, beyond
from benchmarks.script import parse_arguments

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


def coverages(setting: Setting, pools: Pools, strata: int) -> dict[str, tuple[float, float]]:
    """Return how often the intervals miss, beyond the first strata."""
    got: Beyond = beyond(pools.audit, strata, setting.queries)
    per_query = pools.truth[..., strata:].sum(-1).mean(-1)
    return {
        "per query": misses(got.per_query, per_query),
        "share": misses(got.share, true_share(pools.truth, strata)),
        "t": misses(plain(pools.audit, strata, setting.queries), per_query),
    }


def main() -> None:
    """Print the coverage for each setting."""
    options = parse_arguments(__doc__, pools=1000, seed=1)
    for name, setting in SETTINGS.items():
        pools = simulate(setting, options.pools, options.seed)
        finds = beyond(pools.audit, 1, setting.queries).finds
        print(f"{name}: {setting.drawn} of {setting.queries} queries, pool {setting.pool:,}")
        print(f"  finds {finds.mean():.1f}, none in {100 * (finds == 0).mean():.1f} %")
        for strata, rank in enumerate(CUTS[:2], start=1):
            truth = pools.truth[..., strata:].sum(-1).mean()
            share = true_share(pools.truth, strata).mean()
            print(f"  beyond {rank}: {truth:6.1f} ({100 * share:.0f} %)", end="")
            for what, (low, high) in coverages(setting, pools, strata).items():
                covered, above, below = 100 * (1 - low - high), 100 * low, 100 * high
                print(f"  {what} {covered:.1f} (above {above:.1f}, below {below:.1f})", end="")
            print()


if __name__ == "__main__":
    main()
