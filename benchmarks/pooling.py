"""Compare the orders of a pool: by similarity, as in the paper, and learned from its judges.

    python -m benchmarks.pooling [--seeds 10] [--collection FOLDER]

Without a folder, it draws fresh corpora from the sample's screenplay, judges them with noise (a
standard deviation of 0.4; a second time with 35 % of the moments described by another event), and
prints the share of the relevant moments (level 2 or higher) found by number of judged moments per
query, with 95 % intervals over the seeds. Captions and a system that looks at the video are then
scored by what 40 judged moments per query make of a release, and by all true levels.

Two channels ask to be admitted, by ten samples of each corpus: small pictures, which are weak, and
one as good as captions; and each is forced into the learned order.

With a folder, it prints the shares found for a collection in SMART's format (such as Cranfield),
by judges of 0.5 and 0.9, with intervals over the draws of their noise.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from annotation.votes.votes import Floats, Ints
from benchmarks.channel_trials import report_channels
from benchmarks.script import parse_arguments, run
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
CONDITIONS = {"captions as they are": 0.0, "35 % misdescribed": 0.35}
JUDGES, LOOKING = 0.4, 0.8
"""The standard deviations of judges on the screenplay, and of the system that looks."""
LENGTH = 10.0
SYSTEMS = ("captions", "looking")
RESULTS = 100


def main() -> None:
    """Print the shares found, and what becomes of unseen systems."""
    options = parse_arguments(__doc__, collection=Path, seeds=10)
    if options.collection:
        trial = read_collection(options.collection)
        print("{} queries, {} documents".format(*trial.true.shape))
        for noise in (0.5, 0.9):
            _report_found(f"judges {noise}", [trial], noise, options.seeds)
        return
    for name, misdescribed in CONDITIONS.items():
        trials = [draw_screenplay(seed, misdescribed) for seed in range(options.seeds)]
        _report_found(name, trials, JUDGES)
        _report_systems(trials)
        report_channels(trials, JUDGES)


def _report_found(name: str, trials: Sequence[Trial], noise: float, draws: int = 1) -> None:
    similar, taught = [], []
    for trial in trials:
        for seed in range(draws):
            levels = trial.judge(noise, seed)
            pools = learned(trial, levels, ROUNDS)
            taught.append([trial.share_found(pools, depth) for depth in DEPTHS])
            similar.append([trial.share_found(by_similarity(trial), depth) for depth in DEPTHS])
    print(f"{name}: relevant moments found at {' | '.join(map(str, DEPTHS))} judged a query")
    for order, shares in {"similarity": similar, "learned": taught}.items():
        print(f"  {order:12}{'  '.join(_interval(column) for column in np.array(shares).T)}")
    print(f"  {'difference':12}{'  '.join(map(_interval, (np.array(taught) - similar).T))}")


def _report_systems(trials: Sequence[Trial]) -> None:
    scores: dict[str, list[Floats]] = {"similarity": [], "learned": []}
    for seed, trial in enumerate(trials):
        levels = trial.judge(JUDGES, seed)
        pools = {
            "similarity": by_similarity(trial),
            "learned": learned(trial, levels, (RELEASED - FIRST) // NEXT),
        }
        runs = [_results(trial, system, seed) for system in SYSTEMS]
        everything = [np.arange(trial.true.shape[1])] * len(levels)
        true = _score(trial.true, everything, runs)
        for order, pool in pools.items():
            released = _score(levels, [row[:RELEASED] for row in pool], runs)
            scores[order].append(np.array([released, true]))
    print(f"  {MEASURE} by {RELEASED} judged (and by the truth), of systems that were not pooled:")
    for order, values in scores.items():
        released, true = np.array(values).swapaxes(0, 1)
        means = ", ".join(
            f"{name} {after:.3f} ({before:.3f})"
            for name, after, before in zip(SYSTEMS, released.mean(0), true.mean(0), strict=True)
        )
        first = (released[:, 0] > released[:, 1]).sum()
        print(f"    {order}: {means}; captions first in {first} of {len(values)}")


def _results(trial: Trial, system: str, seed: int) -> pd.DataFrame:
    """Return the first results of a system."""
    rng = np.random.default_rng([seed, SYSTEMS.index(system)])
    if system == "looking":
        scores = trial.true + rng.normal(0, LOOKING, trial.true.shape)
    else:
        scores = trial.similarity + rng.normal(0, 0.05, trial.true.shape)
    best = np.argsort(-scores, axis=1)[:, :RESULTS]
    return _segments(list(best)).assign(rank=np.tile(np.arange(RESULTS) + 1, len(best)))


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
