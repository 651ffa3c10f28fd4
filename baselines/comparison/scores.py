"""Scores of all runs of a split: means, intervals over queries, tests against the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

import momentrank
from baselines.collection.release import Floats
from baselines.core.sections import Score
from momentrank.significance import compare, mean_intervals

CUTOFFS, THRESHOLDS = (10, 20, 40), (0.3, 0.5, 0.7)
MEASURES = tuple(f"nDCG(iou={iou})@{cutoff}" for cutoff in CUTOFFS for iou in THRESHOLDS)
JUDGED = tuple(f"Judged(iou=0.5)@{cutoff}" for cutoff in CUTOFFS)
SEED = 2024
CONVENTION = "paper"


class System(NamedTuple):
    """A row of the table: a model trained on the N most similar moments, or a reference."""

    name: str
    top: int | None


@dataclass(frozen=True)
class Cell:
    """One system's score by one measure."""

    mean: float
    """Over queries and seeds."""
    low: float
    high: float
    """Of the interval over queries for the mean over seeds."""
    deviation: float | None
    """Of the seeds' means; None for a single seed."""
    p: float | None = None
    """Randomisation test against the best system, after Holm's correction; None for the best."""


Table = Mapping[System, Mapping[str, Cell]]


def score(qrels: Path, runs: Mapping[System, Sequence[Path]], settings: Score) -> Table:
    """Score every system, each with the runs of its seeds."""
    measures = [*MEASURES, *JUDGED]
    values: dict[System, dict[str, list[Floats]]] = {}
    for system, paths in runs.items():
        scored = [
            momentrank.evaluate(qrels, path, measures, CONVENTION).per_query for path in paths
        ]
        values[system] = {
            name: [np.asarray(scores[momentrank.parse_measure(name)][1]) for scores in scored]
            for name in measures
        }
    tested = _test(values, settings)
    return {
        system: {
            name: _cell(columns, tested.get((system, name)), settings)
            for name, columns in by_measure.items()
        }
        for system, by_measure in values.items()
    }


def _cell(columns: Sequence[Floats], p: float | None, settings: Score) -> Cell:
    mean = np.mean(columns, axis=0)
    [(low, high)] = mean_intervals(mean[None], settings.rounds, settings.confidence, SEED)
    seeds = [float(column.mean()) for column in columns]
    deviation = float(np.std(seeds, ddof=1)) if len(seeds) > 1 else None
    return Cell(float(mean.mean()), low, high, deviation, p)


def _test(
    values: Mapping[System, Mapping[str, Sequence[Floats]]], settings: Score
) -> dict[tuple[System, str], float]:
    """Return Holm's p of each trained system against the best one, by nDCG."""
    keys, differences = [], []
    trained = [system for system in values if system.top is not None]
    for name in MEASURES:
        means = {system: np.mean(values[system][name], axis=0) for system in trained}
        if not means:
            continue
        best = max(means, key=lambda system: float(means[system].mean()))
        for system in trained:
            if system != best:
                keys.append((system, name))
                differences.append(means[best] - means[system])
    if not differences:
        return {}
    compared = compare(
        differences, rounds=settings.rounds, confidence=settings.confidence, seed=SEED
    )
    pairs = zip(keys, compared, strict=True)
    return {
        key: test.p_randomisation_holm
        for key, test in pairs
        if test.p_randomisation_holm is not None
    }
