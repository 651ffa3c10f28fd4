"""The audit: how often `Missed` is right, and what a machine's levels bring.

    python -m benchmarks.audit [--campaigns 1000] [--seed 1]

For each pool and true share of missed moments it prints the finds; the shares of 95 % intervals
that cover the truth, are above it or below it; of campaigns in which the check is wrongly Pass or
wrongly Check this, and in which it is Pass; the mean width of the interval, and the width foretold
before the audit over it; and the mean upper bound beyond the neighbours. 100 of 1,000 queries are
audited; then fewer, and queries that differ very much.

Then pools are audited twice, with the same number of judgments: the shares of intervals that cover
the relevant moments per query, with a machine's levels and without; the ratio of their mean widths,
and the mean and standard deviation of each audit's own estimate of that ratio; and the ratio of the
estimates' errors (RMSE). tests/support/audited_pools.py describes both.
"""

from collections.abc import Iterator

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
    compare,
    misses,
    simulate,
    simulate_twice,
)

from annotation.pooling.prospect import Prospect, expect
from benchmarks.script import parse_arguments, print_rows, run
from pipeline.campaign.estimator import beyond

MOST = 0.25
"""`report.max_missed`."""


def list_missed(number: int, seed: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the figures of `Missed` for each pool and share."""
    for setting in [*(Audit(pool, share) for pool in POOLS for share in SHARES), *FEW]:
        campaigns = simulate(setting, number, seed)
        estimate = beyond(campaigns.near, 1, setting.queries)
        missed, truth = estimate.share, campaigns.missed
        above, below = misses(missed, truth)
        passed, failed = missed.high <= MOST, missed.low > MOST
        width = (missed.high - missed.low).mean()
        found = campaigns.found[0].astype("float64")
        known = Prospect(setting.drawn, setting.queries, RANDOM, RANDOM, setting.outside, found)
        foretold = expect(known, float(truth.mean()))
        yield (
            f"{setting.pool:8,}  {setting.drawn} of {setting.queries:,}",
            {
                "shape": setting.shape,
                "missed": truth.mean(),
                "finds": estimate.finds.mean(),
                "covers": 1 - above - below,
                "above": above,
                "below": below,
                "!pass": (passed & (truth > MOST)).mean(),
                "!check": (failed & (truth <= MOST)).mean(),
                "pass": passed.mean(),
                "width": width,
                "told": float(foretold.high - foretold.low) / width,
                "deeper": beyond(campaigns.deep, 1, setting.queries).share.high.mean(),
            },
        )


def list_gains(number: int, seed: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield what a good machine and a useless one change, for each setting."""
    for name, depth in JUDGED.items():
        setting = SETTINGS[name]
        for machine in MACHINES:
            audits = simulate_twice(setting, depth, machine, number, seed)
            for strata, rank in enumerate(CUTS[:2], start=1):
                figures = compare(setting, audits, strata)
                audited = f"{setting.drawn} of {setting.queries:,}, {setting.pool:,}, {depth}"
                yield audited, {"machine": machine, "beyond": rank} | figures._asdict()


def main() -> None:
    """Print both tables."""
    options = parse_arguments(__doc__, campaigns=1000, seed=1)
    print_rows("    pool  audited", list_missed(options.campaigns, options.seed))
    print_rows("audited, pool, judged", list_gains(options.campaigns, options.seed))


if __name__ == "__main__":
    run(main)
