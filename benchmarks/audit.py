"""The audit: how often `Missed` is right, and what a machine's levels bring.

    python -m benchmarks.audit [--campaigns 1000] [--seed 1]

For each pool and true share of missed moments it prints the finds; the percentage of 95 % intervals
that cover the truth, are above it or below it; the percentage of campaigns in which the check is
wrongly Pass or wrongly Check this, and in which it is Pass; the mean width of the interval, and
the width foretold before the audit over it; and the mean upper bound beyond the neighbours. 100 of
1,000 queries are audited; then fewer, and queries that differ very much.

Then pools are audited twice, with the same number of judgments: the percentage of intervals that
cover the relevant moments per query, with a machine's levels and without; the ratio of their mean
widths, and the mean and standard deviation of each audit's own estimate of that ratio; and the
ratio of the estimates' errors (RMSE). tests/support/audited_pools.py describes both.
"""

from support.audited_pools import (
    CUTS,
    FEW,
    JUDGED,
    MACHINES,
    POOLS,
    RANDOM,
    SETTINGS,
    SHARES,
    Audit,
    Campaigns,
    compare,
    misses,
    simulate,
    simulate_twice,
)

from annotation.pooling.prospect import Prospect, expect
from benchmarks.script import parse_arguments, run
from pipeline.campaign.estimator import beyond

MOST = 0.25
"""`report.max_missed`."""


def describe(setting: Audit, campaigns: Campaigns) -> str:
    """Return a row of figures."""
    estimate = beyond(campaigns.near, 1, setting.queries)
    missed, truth = estimate.share, campaigns.missed
    above, below = misses(missed, truth)
    passed, failed = missed.high <= MOST, missed.low > MOST
    wrong = (passed & (truth > MOST)).mean(), (failed & (truth <= MOST)).mean()
    width = (missed.high - missed.low).mean()
    found = campaigns.found[0].astype("float64")
    known = Prospect(setting.drawn, setting.queries, RANDOM, RANDOM, setting.outside, found)
    foretold = expect(known, float(truth.mean()))
    deep = beyond(campaigns.deep, 1, setting.queries).share.high.mean()
    shares = (1 - above - below, above, below, *wrong, passed.mean())
    ratio = float(foretold.high - foretold.low) / width
    return (
        f"{setting.pool:8,}{setting.drawn:5} of{setting.queries:6,}{setting.shape:6.1f}"
        f"{truth.mean():8.3f}{estimate.finds.mean():7.1f}"
        f"{''.join(f'{100 * share:8.1f}' for share in shares)}{width:8.3f}{ratio:8.2f}{deep:8.2f}"
    )


def print_missed(number: int, seed: int) -> None:
    """Print the figures of `Missed` for each pool and share."""
    heads = ("covers", "above", "below", "!pass", "!check", "pass", "width", "told", "deeper")
    print(f"{'pool':>8}{'audited':>14}{'shape':>6}{'missed':>8}{'finds':>7}", end="")
    print("".join(f"{title:>8}" for title in heads))
    for setting in [*(Audit(pool, share) for pool in POOLS for share in SHARES), *FEW]:
        print(describe(setting, simulate(setting, number, seed)), flush=True)


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
    options = parse_arguments(__doc__, campaigns=1000, seed=1)
    print_missed(options.campaigns, options.seed)
    print_gains(options.campaigns, options.seed)


if __name__ == "__main__":
    run(main)
