"""Compare the orders of a pool: by similarity, as in the paper, and learned from its judges.

    python -m benchmarks.pooling [--seeds 10] [--collection FOLDER]

Without a folder, it draws fresh corpora from the sample's screenplay, judges them with noise (a
standard deviation of 0.4, and 0.9; a third time with 35 % of the moments described by another
event), and prints the share of the relevant moments (level 2 or higher) found by number of judged
moments per query, with 95 % intervals over the seeds. Queries without anything relevant say what
they cost. Five systems, none of which was pooled, are then scored by what 40 judged moments per
query make of a release, and by all true levels.

Two channels ask to be admitted, by ten samples of each corpus: small pictures, which are weak, and
one as good as captions; and each is forced into the learned order.

It then prints how often a campaign of the paper's size, 3,281 queries, chooses a next batch, with
the screenplay's queries repeated, and what that costs.

With a folder, it prints the shares found for a collection in SMART's format (such as Cranfield),
by judges of 0.5 and 0.9, with intervals over the draws of their noise.
"""

import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from annotation.votes.votes import Floats, Ints
from benchmarks.channel_trials import report_channels
from benchmarks.script import parse_arguments, run, time_call
from benchmarks.trials import (
    FIRST,
    NEXT,
    Trial,
    by_similarity,
    draw_screenplay,
    learned,
    read_collection,
)
from momentrank.functions import evaluator
from momentrank.paired_tests import t_quantile
from pipeline.campaign.leave_one_out import MEASURE
from pipeline.campaign.yields import LEVEL

DEPTHS = (20, 40, 60, 80)
ROUNDS = (DEPTHS[-1] - FIRST) // NEXT
RELEASED = 40
CONDITIONS = {
    "captions as they are, judges .4": (0.0, 0.4),
    "judges .9": (0.0, 0.9),
    "35 % misdescribed, judges .4": (0.35, 0.4),
}
USUAL = 0.4
"""The judges with whom channels are tried."""
MIN_YIELD = 0.5
LAST_RANKS, MIN_MEAN = 5, 2.0
"""Of the rule for the second batch by similarity."""
BARREN = 15
NOISE = 0.8
LENGTH = 10.0
JITTER = 0.6
SYSTEMS = ("captions", "looking", "mixed", "jittered", "random")
"""How they score the moments; the jittered one moves each by up to .6 of its length."""
RESULTS = 100
TELLING = 0.05
ALL_QUERIES = 3281


def main() -> None:
    """Print the shares found, and what becomes of unseen systems."""
    options = parse_arguments(__doc__, collection=Path, seeds=10)
    if options.collection:
        trial = read_collection(options.collection)
        print("{} queries, {} documents".format(*trial.true.shape))
        for noise in (0.5, 0.9):
            _report_found(f"judges {noise}", [trial], noise, options.seeds)
        return
    for name, (misdescribed, noise) in CONDITIONS.items():
        trials = [draw_screenplay(seed, misdescribed) for seed in range(options.seeds)]
        _report_found(name, trials, noise)
        _report_systems(trials, noise)
        if noise == USUAL:
            report_channels(trials, noise)
    _report_barren([draw_screenplay(seed) for seed in range(options.seeds)])
    _report_campaign(draw_screenplay(0))


def _report_found(name: str, trials: Sequence[Trial], noise: float, draws: int = 1) -> None:
    similar, taught, promised = [], [], []
    for trial in trials:
        for seed in range(draws):
            levels = trial.judge(noise, seed)
            pools, rounds = learned(trial, levels, ROUNDS)
            promised.append(rounds)
            taught.append([trial.share_found(pools, depth) for depth in DEPTHS])
            similar.append([trial.share_found(by_similarity(trial), depth) for depth in DEPTHS])
    print(f"{name}: relevant moments found at {' | '.join(map(str, DEPTHS))} judged a query")
    for order, shares in {"similarity": similar, "learned": taught}.items():
        print(f"  {order:12}{'  '.join(_interval(column) for column in np.array(shares).T)}")
    print(f"  {'difference':12}{'  '.join(map(_interval, (np.array(taught) - similar).T))}")
    going, expected, found = np.array(promised).sum(axis=0).T
    batches = zip(expected / going, found / going, strict=True)
    kept = ", ".join(f"{before:.1f} ({after:.1f})" for before, after in batches)
    print(f"  relevant ones expected (and found) in each learned batch: {kept}")


def _report_barren(trials: Sequence[Trial]) -> None:
    cost, others = [], []
    for seed, trial in enumerate(trials):
        true = trial.true.copy()
        true[:BARREN] = 0
        barren = trial._replace(true=true)
        pools = learned(barren, barren.judge(0.4, seed), ROUNDS, MIN_YIELD).pools
        cost += [len(pool) for pool in pools[:BARREN]]
        others.append(np.mean([len(pool) for pool in pools[BARREN:]]))
    print(
        f"queries without anything relevant, until fewer than {MIN_YIELD} are expected in the next"
        f" {NEXT}: {np.mean(cost):.1f} moments judged, at most {max(cost)}; the others"
        f" {np.mean(others):.1f}"
    )


def _report_systems(trials: Sequence[Trial], noise: float) -> None:
    scores: dict[str, list[Floats]] = {"similarity": [], "learned": []}
    for seed, trial in enumerate(trials):
        levels = trial.judge(noise, seed)
        pools = {"similarity": by_similarity(trial)}
        pools["learned"] = learned(trial, levels, (RELEASED - FIRST) // NEXT).pools
        runs = [_results(trial, system, seed) for system in SYSTEMS]
        everything = [np.arange(trial.true.shape[1])] * len(levels)
        true = _score(trial.true, everything, runs)
        for order, pool in pools.items():
            released = _score(levels, [row[:RELEASED] for row in pool], runs)
            scores[order].append(np.array([released, true]))
    print(f"  {MEASURE} of systems that were not pooled, by the truth and by {RELEASED} judged:")
    for order, values in scores.items():
        released, true = np.array(values).swapaxes(0, 1)
        means = ", ".join(
            f"{name} {after:.3f} ({before:.3f})"
            for name, before, after in zip(SYSTEMS, true.mean(0), released.mean(0), strict=True)
        )
        swapped, pairs = _count_swapped(released, true)
        of_means, _ = _count_swapped(released.mean(0)[None], true.mean(0)[None])
        print(f"    {order}: {means}")
        print(
            f"      mean bias {(released - true).mean():+.3f}, swapped {swapped} of {pairs} pairs,"
            f" {of_means} in the mean"
        )


def _report_campaign(trial: Trial) -> None:
    """Print how often a campaign of the paper's size chooses, with the trial's queries repeated."""
    rows = np.arange(ALL_QUERIES) % len(trial.true)
    whole = trial._replace(similarity=trial.similarity[rows], true=trial.true[rows])
    levels = whole.judge(USUAL, 0)
    seconds, result = time_call(
        lambda: learned(whole, levels, ROUNDS, MIN_YIELD), clock=time.process_time
    )
    later = sum(going for going, *_ in result.rounds) / ALL_QUERIES
    times = sum(going > 0 for going, *_ in result.rounds)
    last = [row[FIRST - LAST_RANKS : FIRST] for row in by_similarity(whole)]
    extended = np.mean([levels[query, row].mean() >= MIN_MEAN for query, row in enumerate(last)])
    print(
        f"a campaign of {ALL_QUERIES:,} queries, up to {DEPTHS[-1]} moments each: {1 + later:.1f}"
        f" batches a query, chosen in {times} rounds, {seconds:.0f} CPU s; by similarity"
        f" {1 + extended:.1f}, in one round"
    )


def _count_swapped(released: Floats, true: Floats) -> tuple[int, int]:
    """Count pairs of systems in the wrong order, of those that differ by .05 or more in truth."""
    swapped = pairs = 0
    for one, two in combinations(range(true.shape[1]), 2):
        difference = true[:, one] - true[:, two]
        telling = np.abs(difference) >= TELLING
        pairs += int(telling.sum())
        swapped += int((difference * (released[:, one] - released[:, two]) <= 0)[telling].sum())
    return swapped, pairs


def _standardise(values: Floats) -> Floats:
    centred: Floats = values - values.mean(axis=1, keepdims=True)
    centred /= values.std(axis=1, keepdims=True)
    return centred


def _results(trial: Trial, system: str, seed: int) -> pd.DataFrame:
    """Return the first results of a system; `jittered` moves what captions find."""
    rng, shape = np.random.default_rng([seed, SYSTEMS.index(system)]), trial.true.shape

    def look() -> Floats:
        return trial.true + rng.normal(0, NOISE, shape)

    def read_captions() -> Floats:
        return trial.similarity + rng.normal(0, 0.05, shape)

    match system:
        case "looking":
            scores = look()
        case "mixed":
            scores = _standardise(look()) + _standardise(read_captions())
        case "random":
            scores = rng.random(shape)
        case _:
            scores = read_captions()
    best = np.argsort(-scores, axis=1)[:, :RESULTS]
    start = rng.uniform(0, (JITTER if system == "jittered" else 0.0) * LENGTH, best.size)
    return _segments(list(best)).assign(
        start=start, end=start + LENGTH, rank=np.tile(np.arange(RESULTS) + 1, len(best))
    )


def _segments(moments: Sequence[Ints]) -> pd.DataFrame:
    queries = np.repeat(np.arange(len(moments)), [len(row) for row in moments])
    columns = {"query_id": queries.astype(str), "video_id": np.concatenate(moments).astype(str)}
    return pd.DataFrame(columns).assign(start=0.0, end=LENGTH)


def _score(levels: Ints, pools: Sequence[Ints], runs: Sequence[pd.DataFrame]) -> list[float]:
    """Return the measure of each run, by the levels of the pools alone."""
    level = [row[pool] for row, pool in zip(levels, pools, strict=True)]
    scorer = evaluator([MEASURE], _segments(pools).assign(level=np.concatenate(level)))
    return [next(iter(scorer.calc_aggregate(run).values())) for run in runs]


def _interval(values: Floats) -> str:
    """Return the mean and half of its 95 % interval, by Student's t; one value as it is."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    half = t_quantile(LEVEL, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.3f} ±{half:.3f}"


if __name__ == "__main__":
    run(main)
