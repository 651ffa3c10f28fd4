"""Simulated collections that people judge in part, and machine judges wholly.

Each has queries with 20 judged moments, and a run whose mean nDCG(iou=0.5)@10 is estimated.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from momentrank.measures import nDCG
from momentrank.prediction_powered import Estimate, Interval, estimate_mean, score_queries
from momentrank.scoring import Evaluator
from momentrank.segments import Segments

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TOP_LEVEL, POOL, CUTOFF = 4, 20, 10
Random = np.random.Generator
Judge = Callable[[Random, Ints], Ints]


def _noisy(random: Random, levels: Ints, bias: float, noise: float) -> Ints:
    noisy = np.rint(levels + bias + random.normal(scale=noise, size=levels.shape))
    return np.clip(noisy, 0, TOP_LEVEL).astype(np.int64)


def _weak(random: Random, levels: Ints) -> Ints:
    guess = random.integers(0, TOP_LEVEL + 1, levels.shape)
    return np.where(random.random(levels.shape) < 1 / 2, guess, _noisy(random, levels, 0, 0.8))


JUDGES: dict[str, Judge] = {
    "as good as a person": lambda random, levels: _noisy(random, levels, 0, 0.7),
    "lenient by a level": lambda random, levels: _noisy(random, levels, 1, 0.7),
    "half at random": _weak,
    "all at random": lambda random, levels: random.integers(0, TOP_LEVEL + 1, levels.shape),
    "always 3": lambda _, levels: np.full(levels.shape, 3),
    "perfect": lambda _, levels: levels,
}


class Collection(NamedTuple):
    """A run's nDCG per query, by people's levels and by each judge's."""

    people: Floats
    judges: dict[str, Floats]


def simulate(random: Random, queries: int) -> Collection:
    """Draw a collection, its judges and a run, and score the run by each judge."""
    breadth = random.beta(1.2, 1.5, (queries, 1))
    chance = np.clip(breadth * np.exp(-np.arange(POOL) / 8), 0, 0.95)
    levels = random.binomial(TOP_LEVEL, chance)
    order = np.argsort(random.normal(scale=1.5, size=levels.shape) - levels / 2, axis=1)
    run = _segments(order, np.zeros_like(levels))
    numbers = np.broadcast_to(np.arange(POOL), levels.shape)

    def score(judged: Ints) -> Floats:
        qrels = _segments(numbers, judged)
        scorer = Evaluator([nDCG(iou=0.5) @ CUTOFF], qrels, "paper")
        [(_, values)] = score_queries(scorer, run).values()
        return values

    judges = {name: score(judge(random, levels)) for name, judge in JUDGES.items()}
    return Collection(score(levels), judges)


def _segments(numbers: Ints, values: Ints) -> Segments:
    """Return a 10 s moment for each number, (queries, moments); one video is enough."""
    queries, moments = numbers.shape
    start = (10 * numbers.ravel()).astype(np.float64)
    names = [f"q{number}" for number in range(queries)]
    row = np.repeat(np.arange(queries), moments)
    level = values.ravel().astype(np.float64)
    return Segments(names, row, ["v"] * len(row), start, start + 10, level)


class Tally(NamedTuple):
    """For each draw: the estimate and the truth."""

    estimate: Estimate
    truth: float


def draw(random: Random, people: Floats, judge: Floats, judged: int) -> Tally:
    """Have people judge a random part, and estimate the mean of all."""
    sample = np.zeros(len(people), dtype=bool)
    sample[random.choice(len(people), judged, replace=False, shuffle=False)] = True
    estimate = estimate_mean(people[sample], judge[sample], judge[~sample])
    return Tally(estimate, float(people.mean()))


def covers(interval: Interval, truth: float) -> bool:
    """Return whether the truth is in an interval."""
    return interval.low - 1e-12 <= truth <= interval.high + 1e-12


def width(interval: Interval) -> float:
    """Return the length of an interval."""
    return interval.high - interval.low
