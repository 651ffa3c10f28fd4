"""Trials of channels: which are admitted, and what the learned order gains by them.

The channels are the small pictures that `baselines` embeds, of which the query's own moment is the
example; and one as good as captions: the true level and noise, as much as leaves as many relevant
moments among its first 20 as captions have.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from annotation.pooling.channels import (
    QUERIES,
    SIZE,
    Verdict,
    compare_yields,
    score_ranks,
)
from annotation.votes.votes import Ints
from benchmarks.trials import DEPTH, FIRST, Trial, by_similarity, learned, see_pictures
from pipeline.campaign.pool_steps import CAPTIONS
from pipeline.campaign.yields import RELEVANT_FROM

DRAWS = 10
"""Samples of each trial."""
BISECTIONS, MOST_NOISE = 20, 8.0
ROUNDS, JUDGED = 2, 40


def report_channels(trials: Sequence[Trial], noise: float) -> None:
    """Print how often each channel is admitted, and the share found with it in the model."""
    kinds = ("pictures", "as good as captions")
    without = []
    verdicts: dict[str, list[Verdict]] = {name: [] for name in kinds}
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for seed, trial in enumerate(trials):
        levels = trial.judge(noise, seed)
        without.append(_share_found(trial, levels))
        pictures = np.argsort(-see_pictures(seed), axis=1, kind="stable")
        for name, ranking in zip(kinds, (pictures, match_captions(trial, seed)), strict=True):
            rng = np.random.default_rng(seed)
            verdicts[name] += [_ask(trial, levels, ranking, rng) for _ in range(DRAWS)]
            feature = score_ranks(np.argsort(ranking, axis=1) + 1, DEPTH)
            found[name].append(_share_found(trial._replace(channels=feature[..., None]), levels))
    print(f"  learned, found at {JUDGED} without a channel: {np.mean(without):.3f}")
    for name, own in verdicts.items():
        admitted = sum(verdict.admitted for verdict in own)
        pairs = sum(verdict.pairs for verdict in own)
        yields = [sum(getattr(v, side) for v in own) / pairs for side in ("found", "captions")]
        print(
            f"  channel {name}: admitted in {admitted} of {len(own)} samples of {QUERIES} x {SIZE};"
            f" its yield {yields[0]:.2f}, captions' next {yields[1]:.2f};"
            f" in the model, found at {JUDGED}: {np.mean(found[name]):.3f}"
        )


def match_captions(trial: Trial, seed: int) -> Ints:
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


def _share_found(trial: Trial, levels: Ints) -> float:
    return trial.share_found(learned(trial, levels, ROUNDS).pools, JUDGED)


def _ask(trial: Trial, levels: Ints, ranking: Ints, rng: np.random.Generator) -> Verdict:
    """Return what people say of the first moments of both that are not in the first batch."""
    captions, rows = by_similarity(trial), []
    for query in rng.choice(len(levels), QUERIES, replace=False):
        pool = captions[query][:FIRST]
        for by, order in (("channel", ranking[query]), (CAPTIONS, captions[query])):
            first = order[~np.isin(order, pool)][:SIZE]
            rows.append(pd.DataFrame({"query_id": query, "by": by, "level": levels[query, first]}))
    return compare_yields(pd.concat(rows))
