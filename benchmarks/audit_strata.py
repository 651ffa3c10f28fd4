"""An audit drawn using a machine's levels, compared with one drawn without: coverage and width.

    python -m benchmarks.audit_strata [--pools 1000] [--seed 1]

The pools are those of `benchmarks.audit`; each is audited twice, with the same number of judgments.
People judge the first 60 moments of each query, and the machine has judged a number of those below.
The `good` machine puts 85 % of the relevant ones at 1 or more and 50 % at 3 or 4; of the others
5.5 % and .5 %. The `useless` one gives both the same levels. It prints the percentage of 95 %
intervals that cover the relevant moments per query beyond ranks 20 and 40, with and without the
machine; the ratio of their mean widths, and the mean and standard deviation of each audit's own
estimate of that ratio; and the ratio of the estimates' errors (RMSE).
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.pooling.design_effect import compare_widths
from annotation.pooling.estimator import Counts, Interval, beyond
from annotation.pooling.machine_strata import allocate
from benchmarks.audit import CUTS, RANDOM, SETTINGS, Setting, misses
from benchmarks.script import parse_arguments

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

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


def simulate(setting: Setting, depth: int, machine: str, pools: int, seed: int) -> Audits:
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


def main() -> None:
    """Print the figures for each setting, with a good machine and a useless one."""
    options = parse_arguments(__doc__, pools=1000, seed=1)
    heads = ("beyond", "covers", "without", "width", "told", "+-", "error")
    head = f"{'machine':10}" + "".join(f"{title:>9}" for title in heads)
    for name, depth in JUDGED.items():
        setting = SETTINGS[name]
        print(f"{name}: {setting.drawn} of {setting.queries} queries, pool {setting.pool:,},"
              f" {depth} judged by the machine\n{head}")  # fmt: skip
        for machine in MACHINES:
            audits = simulate(setting, depth, machine, options.pools, options.seed)
            for strata, rank in enumerate(CUTS[:2], start=1):
                figures = compare(setting, audits, strata)
                shares = f"{100 * figures.covered:9.1f}{100 * figures.covered_without:9.1f}"
                rest = "".join(f"{figure:9.2f}" for figure in figures[2:])
                print(f"{machine:10}{rank:9}{shares}{rest}")


if __name__ == "__main__":
    main()
