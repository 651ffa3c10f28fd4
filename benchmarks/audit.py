"""Coverage of the audit's 95 % interval over simulated pools, without a machine's levels and with.

    python -m benchmarks.audit [--pools 1000] [--seed 1]

For each setting it prints the finds in the random samples, and the percentage of intervals that
cover the truth, are above it or are below it: beyond ranks 20 and 40, per query and as a share. For
comparison: mean +- t SE.

Then pools are audited twice, with the same number of judgments: the percentage of intervals that
cover the relevant moments per query, with a machine's levels and without; the ratio of their mean
widths, and the mean and standard deviation of each audit's own estimate of that ratio; and the
ratio of the estimates' errors (RMSE). tests/support/audited_pools.py describes pools and machines.
"""

from support.audited_pools import (
    CUTS,
    JUDGED,
    MACHINES,
    SETTINGS,
    Pools,
    Setting,
    compare,
    misses,
    plain,
    simulate,
    simulate_twice,
    true_share,
)

from annotation.pooling.estimator import beyond
from benchmarks.script import parse_arguments, run


def coverages(setting: Setting, pools: Pools, strata: int) -> dict[str, tuple[float, float]]:
    """Return how often the intervals miss, beyond the first strata."""
    got = beyond(pools.audit, strata, setting.queries)
    per_query = pools.truth[..., strata:].sum(-1).mean(-1)
    return {
        "per query": misses(got.per_query, per_query),
        "share": misses(got.share, true_share(pools.truth, strata)),
        "t": misses(plain(pools.audit, strata, setting.queries), per_query),
    }


def print_coverages(number: int, seed: int) -> None:
    """Print the coverage for each setting."""
    for name, setting in SETTINGS.items():
        pools = simulate(setting, number, seed)
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


def print_gains(number: int, seed: int) -> None:
    """Print what a good machine and a useless one change, for each setting."""
    heads = ("beyond", "covers", "without", "width", "told", "+-", "error")
    head = f"{'machine':10}" + "".join(f"{title:>9}" for title in heads)
    for name, depth in JUDGED.items():
        setting = SETTINGS[name]
        print(f"{name}: {setting.drawn} of {setting.queries} queries, pool {setting.pool:,},"
              f" {depth} judged by the machine\n{head}")  # fmt: skip
        for machine in MACHINES:
            audits = simulate_twice(setting, depth, machine, number, seed)
            for strata, rank in enumerate(CUTS[:2], start=1):
                gains = compare(setting, audits, strata)
                shares = f"{100 * gains.covered:9.1f}{100 * gains.covered_without:9.1f}"
                rest = "".join(f"{value:9.2f}" for value in gains[2:])
                print(f"{machine:10}{rank:9}{shares}{rest}")


def main() -> None:
    """Print both tables."""
    options = parse_arguments(__doc__, pools=1000, seed=1)
    print_coverages(options.pools, options.seed)
    print_gains(options.pools, options.seed)


if __name__ == "__main__":
    run(main)
