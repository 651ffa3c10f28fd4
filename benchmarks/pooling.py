"""Compare the orders of a pool: by similarity, as in the paper, and learned from its judges.

    python -m benchmarks.pooling [--seeds 10] [--collection FOLDER]

Without a folder, it draws fresh corpora from the sample's screenplay, judges them with noise (a
standard deviation of 0.4; a second time with 35 % of the moments described by another event), and
prints the share of the relevant moments (level 2 or higher) found by number of judged moments per
query, with 95 % intervals over the seeds. Captions and a system that looks at the video are then
scored by what 40 judged moments per query make of a release, and by all true levels.

Two channels ask to be admitted, by ten samples of each corpus: the small pictures that `baselines`
embeds, of which the query's own moment is the example; and one as good as captions, the true level
and as much noise as leaves as many relevant moments among its first 20. Each is then forced into
the learned order.

With a folder, it prints the shares found for a collection in SMART's format (such as Cranfield),
by judges of 0.5 and 0.9, with intervals over the draws of their noise.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from annotation.pooling.channels import QUERIES, SIZE, Verdict, compare_yields, score_ranks
from annotation.votes.votes import Floats, Ints
from benchmarks.script import parse_arguments, run
from benchmarks.trials import (
    DEPTH,
    FIRST,
    NEXT,
    Trial,
    by_similarity,
    draw_screenplay,
    learned,
    read_collection,
    see_pictures,
)
from momentrank.functions import evaluator
from momentrank.paired_tests import t_quantile
from pipeline.campaign.leave_one_out import MEASURE
from pipeline.campaign.pool_steps import CAPTIONS
from pipeline.campaign.yields import LEVEL, RELEVANT_FROM

DEPTHS = (20, 40, 60, 80)
ROUNDS = (DEPTHS[-1] - FIRST) // NEXT
RELEASED = 40
CONDITIONS = {"captions as they are": 0.0, "35 % misdescribed": 0.35}
JUDGES, LOOKING = 0.4, 0.8
"""The standard deviations of judges on the screenplay, and of the system that looks."""
LENGTH = 10.0
SYSTEMS = ("captions", "looking")
RESULTS = 100
DRAWS = 10
"""Samples of each trial of a channel."""
BISECTIONS, MOST_NOISE = 20, 8.0


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
        _report_channels(trials)


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
            "learned": _extend(trial, levels),
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


def _report_channels(trials: Sequence[Trial]) -> None:
    """Print how often each channel is admitted, and the share found with it in the model."""
    kinds = ("pictures", "as good as captions")
    without = []
    verdicts: dict[str, list[Verdict]] = {name: [] for name in kinds}
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for seed, trial in enumerate(trials):
        levels = trial.judge(JUDGES, seed)
        without.append(_share_found(trial, levels))
        pictures = np.argsort(-see_pictures(seed), axis=1, kind="stable")
        for name, ranking in zip(kinds, (pictures, _match_captions(trial, seed)), strict=True):
            rng = np.random.default_rng(seed)
            verdicts[name] += [_ask(trial, levels, ranking, rng) for _ in range(DRAWS)]
            feature = score_ranks(np.argsort(ranking, axis=1) + 1, DEPTH)
            found[name].append(_share_found(trial._replace(channels=feature[..., None]), levels))
    print(f"  learned, found at {RELEASED} without a channel: {np.mean(without):.3f}")
    for name, own in verdicts.items():
        admitted = sum(verdict.admitted for verdict in own)
        pairs = sum(verdict.pairs for verdict in own)
        yields = [sum(getattr(v, side) for v in own) / pairs for side in ("found", "captions")]
        print(
            f"  channel {name}: admitted in {admitted} of {len(own)} samples of {QUERIES} x {SIZE};"
            f" its yield {yields[0]:.2f}, captions' next {yields[1]:.2f};"
            f" in the model, found at {RELEASED}: {np.mean(found[name]):.3f}"
        )


def _match_captions(trial: Trial, seed: int) -> Ints:
    """Rank the moments by true level and noise, as well as captions do."""
    drawn = np.random.default_rng(seed).normal(size=trial.true.shape)
    wanted = _mean_relevant(trial, np.argsort(-trial.similarity, axis=1))
    low, high = 0.0, MOST_NOISE
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        ranking: Ints = np.argsort(-(trial.true + middle * drawn), axis=1)
        better = _mean_relevant(trial, ranking) > wanted
        low, high = (middle, high) if better else (low, middle)
    return ranking


def _mean_relevant(trial: Trial, ranking: Ints) -> float:
    first = np.take_along_axis(trial.true, ranking[:, :FIRST], axis=1)
    return float((first >= RELEVANT_FROM).mean())


def _extend(trial: Trial, levels: Ints) -> list[Ints]:
    """Return what is judged of each query in a release whose pools are learned."""
    return learned(trial, levels, (RELEASED - FIRST) // NEXT)


def _share_found(trial: Trial, levels: Ints) -> float:
    return trial.share_found(_extend(trial, levels), RELEASED)


def _ask(trial: Trial, levels: Ints, ranking: Ints, rng: np.random.Generator) -> Verdict:
    """Return what people say of the first moments of both that are not in the first batch."""
    captions, rows = by_similarity(trial), []
    for query in rng.choice(len(levels), QUERIES, replace=False):
        pool = captions[query][:FIRST]
        for by, order in (("channel", ranking[query]), (CAPTIONS, captions[query])):
            first = order[~np.isin(order, pool)][:SIZE]
            rows.append(pd.DataFrame({"query_id": query, "by": by, "level": levels[query, first]}))
    return compare_yields(pd.concat(rows))


def _interval(values: Floats) -> str:
    """Return the mean and half of its 95 % interval, by Student's t; one value as it is."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    half = t_quantile(LEVEL, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.3f} ±{half:.3f}"


if __name__ == "__main__":
    run(main)
