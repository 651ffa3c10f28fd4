"""Compare the orders of a pool: by similarity, as in the paper, and learned from its judges.

    python -m benchmarks.pooling [--seeds 10] [--collection FOLDER | --replay RELEASE]

Without a folder, it draws fresh corpora from the sample's screenplay, judges them with noise (a
standard deviation of 0.4, and 0.9; a third time with 35 % of the moments described by another
event), and prints the share of the relevant moments (level 2 or higher) found by number of judged
moments per query, with 95 % intervals over the seeds. Queries without anything relevant say what
they cost. Five systems, none of which was pooled, are then scored by what 40 judged moments per
query make of a release, and by all true levels. Of captions and a system that looks, it says
whether the report and `momentrank compare` leave open what the release gets wrong.

Two channels ask to be admitted, by ten samples of each corpus: small pictures, which are weak, and
one as good as captions; and each is forced into the learned order.

It then prints the cost of the next batches of a campaign of the paper's size: 3,281 queries, of
which 40 moments are judged, and the 1,000 most similar of each; and how often such a campaign
chooses, with the screenplay's queries repeated.

With a folder, it prints the shares found for a collection in SMART's format (such as Cranfield),
by judges of 0.5 and 0.9, with intervals over the draws of their noise. A release of your own tells
what the order would change for you: of the queries with 40 judged moments or more, each order
chooses 20 of these, from the first 10 on.
"""

import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from annotation.pooling import level_model
from annotation.pooling.draw import NEAR
from annotation.votes.votes import Floats, Ints
from benchmarks.channel_trials import report_channels
from benchmarks.script import assert_size, parse_arguments, peak_mb, run, time_call
from benchmarks.trials import (
    DEPTH,
    FIRST,
    NEXT,
    Trial,
    by_similarity,
    draw_screenplay,
    learned,
    read_collection,
    read_release,
)
from momentrank.functions import compare, evaluator
from momentrank.paired_tests import t_quantile
from pipeline.campaign.estimator import Counts, beyond
from pipeline.campaign.leave_one_out import MEASURE
from pipeline.campaign.next_step import AUDITED
from pipeline.campaign.yields import LEVEL, RELEVANT_FROM
from pipeline.core.params import load

DEPTHS = (20, 40, 60, 80)
ROUNDS = (DEPTHS[-1] - FIRST) // NEXT
RELEASED = 40
CONDITIONS = {
    "captions as they are, judges .4": (0.0, 0.4),
    "judges .9": (0.0, 0.9),
    "35 % misdescribed, judges .4": (0.35, 0.4),
}
USUAL = 0.4
"""The judges with whom channels, and what the figures leave open, are tried."""
MIN_YIELD = 0.5
LAST_RANKS, MIN_MEAN = 5, 2.0
"""Of the rule for the second batch by similarity."""
BARREN = 15
NOISE = 0.8
LENGTH = 10.0
JITTER = 0.6
RESULTS = 100
TELLING = 0.05
ALL_QUERIES, POOL, DIMENSIONS = 3281, 72_842, 384


def main() -> None:
    """Print the shares found, and what becomes of unseen systems."""
    options = parse_arguments(__doc__, collection=Path, replay=Path, seeds=10)
    if options.collection:
        _report_collection(options.collection, options.seeds)
        return
    if options.replay:
        _replay(read_release(options.replay, RELEASED))
        return
    for name, (misdescribed, noise) in CONDITIONS.items():
        trials = [draw_screenplay(seed, misdescribed) for seed in range(options.seeds)]
        _report_found(name, trials, noise)
        _report_systems(trials, noise)
        if noise == USUAL:
            report_channels(trials, noise)
            _report_open(trials, noise)
    _report_barren([draw_screenplay(seed) for seed in range(options.seeds)])
    seconds, batches = time_call(_choose_as_many, clock=time.process_time)
    assert_size("batches", batches, ALL_QUERIES)
    print(
        f"the next batches of {batches:,} queries: {seconds:.0f} CPU s, {peak_mb():.0f} MB at most"
    )
    _report_campaign(draw_screenplay(0))


def _choose_as_many() -> int:
    """Choose a batch for each query of the paper, from vectors that are drawn."""
    rng = np.random.default_rng(0)
    texts = rng.normal(size=(POOL, DIMENSIONS)).astype(np.float32)
    texts /= np.linalg.norm(texts, axis=1, keepdims=True)
    rows = rng.integers(0, POOL, (ALL_QUERIES, RELEASED))
    batch = np.repeat([1, 2, 3], [FIRST, NEXT, NEXT])
    levels = rng.integers(0, 5, (ALL_QUERIES, RELEASED)).astype(np.float64)
    judged = [
        level_model.Judged(texts[some].astype(np.float64), rng.random((RELEASED, 1)), level, batch)
        for some, level in zip(rows, levels, strict=True)
    ]
    model = level_model.learn(judged)
    for query in judged:
        near = texts[rng.integers(0, POOL, DEPTH)].astype(np.float64)
        level_model.choose(model, query, near, rng.random((DEPTH, 1)), NEXT)
    return len(judged)


def _report_collection(folder: Path, seeds: int) -> None:
    trial = read_collection(folder)
    queries, documents = trial.true.shape
    print(f"{queries} queries, {documents} documents; judges drawn {seeds} times")
    for noise in (0.5, 0.9):
        _report_found(f"judges {noise}", [trial], noise, seeds)


def _replay(trial: Trial) -> None:
    """Print what each order finds of the judged moments, with half of the judgments."""
    half = RELEASED // 2
    taught = learned(trial, trial.true, 2).pools
    shares = [trial.share_found(pools, half) for pools in (by_similarity(trial), taught)]
    print(
        f"{len(trial.true)} queries with {RELEASED} judged moments or more: of the relevant ones,"
        f" {half} by similarity hold {shares[0]:.3f}, learned {shares[1]:.3f}"
    )


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
        runs = [_results(trial, system, seed) for system in SYSTEMS.values()]
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


def _report_open(trials: Sequence[Trial], noise: float) -> None:
    """Print whether the report and the scorer leave open what the release gets wrong."""
    for order in ("similarity", "learned"):
        seen = np.array(
            [_find_open(trial, noise, seed, order) for seed, trial in enumerate(trials)]
        )
        missed, passed, wrong, overlap, within = seen.T
        print(
            f"  {order}: Missed {missed.mean():.2f}, Pass in {passed.sum():.0f} of {len(seen)};"
            f" captions and looking in the wrong order in {wrong.sum():.0f}; of these, bounds"
            f" overlap in {(wrong * overlap).sum():.0f}, and `compare` calls neither better in"
            f" {(wrong * within).sum():.0f}"
        )


def _find_open(trial: Trial, noise: float, seed: int, order: str) -> list[float]:
    levels = trial.judge(noise, seed)
    rounds = (RELEASED - FIRST) // NEXT
    pools = learned(trial, levels, rounds).pools if order == "learned" else by_similarity(trial)
    pools = [row[:RELEASED] for row in pools]
    runs = {name: _results(trial, SYSTEMS[name], seed) for name in ("captions", "looking")}
    qrels = _as_qrels(levels, pools)
    scorer = evaluator([MEASURE], qrels)
    low, high = (
        [next(iter(scorer.calc_aggregate(run, how).values())) for run in runs.values()]
        for how in (None, "bounds")
    )
    everything = [np.arange(trial.true.shape[1])] * len(levels)
    true = _score(trial.true, everything, list(runs.values()))
    wrong = (low[1] - low[0]) * (true[1] - true[0]) < 0
    overlap = high[0] >= low[1] and high[1] >= low[0]
    [row] = (
        compare(qrels, runs, [MEASURE], rounds=1, unjudged="bounds").to_frame().to_dict("records")
    )
    missed = _audit(levels, pools, seed)
    passed = missed[1] <= load().report.max_missed
    return [missed[0], passed, wrong, overlap, row["within_unjudged"]]


def _audit(levels: Ints, pools: Sequence[Ints], seed: int) -> tuple[float, float]:
    """Return the share that an audit says the pools miss, and its interval's upper bound."""
    rng, moments = np.random.default_rng(seed), np.arange(levels.shape[1])
    drawn = rng.choice(len(levels), AUDITED, replace=False)
    size, judged, relevant = np.zeros((3, AUDITED, 2), dtype=np.int64)
    for row, query in enumerate(drawn):
        outside = np.setdiff1d(moments, pools[query])
        seen = pools[query], rng.choice(outside, NEAR, replace=False)
        size[row], judged[row] = (RELEASED, len(outside)), (RELEASED, NEAR)
        relevant[row] = [(levels[query, some] >= RELEVANT_FROM).sum() for some in seen]
    share = beyond(Counts(size, judged, relevant), 1, len(levels)).share
    return float(share.value), float(share.high)


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


Noise = Callable[[Trial, np.random.Generator], Floats]


def _standardised(values: Floats) -> Floats:
    centred: Floats = values - values.mean(axis=1, keepdims=True)
    centred /= values.std(axis=1, keepdims=True)
    return centred


def _look(trial: Trial, rng: np.random.Generator) -> Floats:
    return trial.true + rng.normal(0, NOISE, trial.true.shape)


def _read_captions(trial: Trial, rng: np.random.Generator) -> Floats:
    return trial.similarity + rng.normal(0, 0.05, trial.true.shape)


def _mix(trial: Trial, rng: np.random.Generator) -> Floats:
    return _standardised(_look(trial, rng)) + _standardised(_read_captions(trial, rng))


def _draw(trial: Trial, rng: np.random.Generator) -> Floats:
    return rng.random(trial.true.shape)


SYSTEMS: dict[str, tuple[Noise, float]] = {
    "captions": (_read_captions, 0.0),
    "looking": (_look, 0.0),
    "mixed": (_mix, 0.0),
    "jittered": (_read_captions, JITTER),
    "random": (_draw, 0.0),
}
"""How each scores the moments, and the share of its length by which a moment is moved at most."""


def _results(trial: Trial, system: tuple[Noise, float], seed: int) -> pd.DataFrame:
    score, jitter = system
    rng = np.random.default_rng([seed, list(SYSTEMS.values()).index(system)])
    best = np.argsort(-score(trial, rng), axis=1)[:, :RESULTS]
    start = rng.uniform(0, jitter * LENGTH, best.size)
    return _segments(list(best)).assign(
        start=start, end=start + LENGTH, rank=np.tile(np.arange(RESULTS) + 1, len(best))
    )


def _segments(moments: Sequence[Ints]) -> pd.DataFrame:
    queries = np.repeat(np.arange(len(moments)), [len(row) for row in moments])
    columns = {"query_id": queries.astype(str), "video_id": np.concatenate(moments).astype(str)}
    return pd.DataFrame(columns).assign(start=0.0, end=LENGTH)


def _score(levels: Ints, pools: Sequence[Ints], runs: Sequence[pd.DataFrame]) -> list[float]:
    """Return the measure of each run, by the levels of the pools alone."""
    scorer = evaluator([MEASURE], _as_qrels(levels, pools))
    return [next(iter(scorer.calc_aggregate(run).values())) for run in runs]


def _as_qrels(levels: Ints, pools: Sequence[Ints]) -> pd.DataFrame:
    level = [row[pool] for row, pool in zip(levels, pools, strict=True)]
    return _segments(pools).assign(level=np.concatenate(level))


def _interval(values: Floats) -> str:
    """Return the mean and half of its 95 % interval, by Student's t; one value as it is."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    half = t_quantile(LEVEL, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.3f} ±{half:.3f}"


if __name__ == "__main__":
    run(main)
