"""What nDCG at a high IoU would be had other people drawn the moments, as a sentence.

Two people who mark the same moment agree in part: on average by an IoU of .725 in Charades-STA (and
.641 in ActivityNet; AxIoU paper, section 6.4). The noise is that of `draw_moments`, both ends
normal, with the variance at which a moment and its noisy one agree as much.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from momentrank.formats import Lists
from momentrank.measures import nDCG
from momentrank.meta.noise import COPIES, draw_moments
from momentrank.meta.systems import Systems
from momentrank.scoring import Evaluator
from momentrank.segments import Segments, iou
from momentrank.significance import SEED

AGREEMENT, IOU, CUTOFF = 0.725, 0.7, 10
MOMENTS = 50_000
"""Noisy moments in all copies of the qrels, if one copy does not have more."""
SAMPLE, STEPS = 5_000, 30
"""Draws, and halvings, that find the variance."""


class BoundaryNoise(NamedTuple):
    """A run's mean with the given boundaries and the mean with noisy ones.

    `agreement` is the IoU of both, `variance` that of each end in square seconds.
    """

    run: str
    measure: str
    agreement: float
    variance: float
    value: float
    noisy: float


def describe(noise: Sequence[BoundaryNoise]) -> str:
    """Return what noise does to some runs, as one sentence."""
    runs = [f"{each.noisy:.3f} for {each.run} ({each.noisy - each.value:+.3f})" for each in noise]
    return (
        f"had other people drawn the moments, who agree by a mean IoU of {noise[0].agreement:g},"
        f" {noise[0].measure} would be {', '.join(runs)}"
    )


def find_variance(qrels: Segments, agreement: float = AGREEMENT, seed: int = SEED) -> float | None:
    """Return the variance at which moments and noisy ones have a mean IoU of `agreement`.

    None if no moment has a length.
    """
    rows = np.flatnonzero(qrels.start < qrels.end)
    if not len(rows):
        return None
    rows = rows[np.linspace(0, len(rows) - 1, SAMPLE).astype(np.int64)]  # few are drawn repeatedly
    sample = qrels._replace(start=qrels.start[rows], end=qrels.end[rows])

    def kept(variance: float) -> float:
        drawn = draw_moments(sample, "ends", variance, np.random.default_rng(seed))
        return float(iou(sample.start, sample.end, drawn.start, drawn.end).mean())

    low, high = 0.0, float((sample.end - sample.start).max() ** 2)
    while kept(high) > agreement:
        low, high = high, 4 * high
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if kept(middle) > agreement else (low, middle)
    return (low + high) / 2


def measure_boundary_noise(evaluator: Evaluator, runs: Mapping[str, Lists]) -> list[BoundaryNoise]:
    """Return what boundary noise does to nDCG(iou=0.7)@10 of each run; none without relevance.

    `runs` are read as the evaluator requires; with fewer than 10 results, the cutoff is lower.
    """
    qrels = evaluator.qrels
    variance = find_variance(qrels)
    if variance is None or not runs:
        return []
    cutoff = min(CUTOFF, evaluator.depth or CUTOFF)
    measure = nDCG(iou=IOU) @ cutoff
    scorer = Evaluator([measure], qrels, evaluator.convention)
    first = {
        name: {task: run.select(run.rank <= cutoff) for task, run in lists.items()}
        for name, lists in runs.items()
    }
    copies = max(1, min(COPIES, MOMENTS // len(qrels.query)))

    def change(copy: int) -> Segments:
        return draw_moments(qrels, "ends", variance, np.random.default_rng([SEED, copy]))

    [noisy] = Systems(scorer, first).score_copies(change, copies).mean(axis=2).tolist()
    values = [scorer.calc_aggregate(lists)[measure] for lists in first.values()]
    return [
        BoundaryNoise(name, repr(measure), AGREEMENT, variance, value, mean)
        for name, value, mean in zip(runs, values, noisy, strict=True)
        if not math.isnan(value) and not math.isnan(mean)
    ]
