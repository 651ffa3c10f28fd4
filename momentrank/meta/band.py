"""The noise band of a difference: its range had others made the labels."""

from typing import NamedTuple

import numpy as np

from momentrank.meta.noise import COPIES, draw_moments
from momentrank.meta.systems import Systems
from momentrank.meta.votes import NO_LEVEL, Judgments, draw_levels
from momentrank.segments import Segments
from momentrank.significance import SEED, Band, Bands


class Noise(NamedTuple):
    """Noise of boundaries (both ends normal; `variance` in square seconds), of levels, or both."""

    variance: float | None = None
    judgments: Judgments | None = None
    copies: int = COPIES
    seed: int = SEED

    def change(self, qrels: Segments, copy: int) -> Segments:
        """Return a noisy copy of the qrels by its number."""
        changed, rng = qrels, np.random.default_rng([self.seed, copy])
        if self.variance is not None:
            changed = draw_moments(qrels, "ends", self.variance, rng)
        if self.judgments is None:
            return changed
        level = draw_levels(qrels, self.judgments, rng)
        return changed._replace(value=level).select(level != NO_LEVEL)

    def describe(self) -> str:
        """Return what is drawn, in words."""
        kinds = (
            [f"boundaries (variance {self.variance:g} s^2)"] if self.variance is not None else []
        )
        kinds += ["levels (votes drawn again)"] if self.judgments else []
        return f"{' and '.join(kinds)}, {self.copies} noisy truths, seed {self.seed}"


def measure_bands(systems: Systems, noise: Noise, confidence: float) -> Bands:
    """Return the band of every ordered pair of runs, of `confidence` of the noisy truths.

    It need not enclose the difference itself: noise also shifts it, since it costs more where a run
    was close.
    """
    qrels = systems.evaluator.qrels
    means = systems.score_copies(lambda copy: noise.change(qrels, copy), noise.copies)
    tail = (1 - confidence) / 2
    bands = {}
    for measure, values in zip(systems.measures, means, strict=True):
        for first, first_means in zip(systems.runs, values, strict=True):
            for second, second_means in zip(systems.runs, values, strict=True):
                low, high = np.quantile(second_means - first_means, [tail, 1 - tail]).tolist()
                bands[measure, first, second] = Band(low, high)
    return bands


def measure_gaps(
    systems: Systems, noise: Noise, confidence: float, baseline: str
) -> dict[str, Band]:
    """Return the band of every other run minus a baseline, by the first measure; see above."""
    bands, measure = measure_bands(systems, noise, confidence), systems.measures[0]
    return {run: bands[measure, baseline, run] for run in systems.runs if run != baseline}
