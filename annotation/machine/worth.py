"""What a machine saves: queries that people need not judge, for a mean as certain: pure.

People judge a random half of the queries, the machine all: prediction-powered inference
(`momentrank.prediction_powered`) combines both into a mean. The machine's worth is how many queries
people alone would have to judge for an equally narrow interval. Halves are drawn many times, from
queries that people have in fact all judged.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from annotation.reliability.scores import number
from momentrank.prediction_powered import MIN_JUDGED, estimate_mean
from momentrank.segments import Floats

HALVES = 100


def measure_worth(
    people: Floats, machine: Floats, runs: Iterable[int], seed: int
) -> dict[str, Any] | None:
    """Return what queries judged by people and a machine are worth, for JSON.

    `people` and `machine` are the values of runs, shape (runs, queries), under either's qrels. None
    if there are too few queries, or no runs. `inside` is how often people's mean over all queries
    is in the interval.
    """
    queries = people.shape[1]
    judged, chosen = queries // 2, [*runs]
    if judged < MIN_JUDGED or not chosen:
        return None
    random = np.random.default_rng(seed)
    effective, inside = [], []
    for _ in range(HALVES):
        order = random.permutation(queries)
        judged_rows, rest = order[:judged], order[judged:]
        for run in chosen:
            estimate = estimate_mean(
                people[run, judged_rows], machine[run, judged_rows], machine[run, rest]
            )
            effective.append(estimate.effective)
            inside.append(estimate.combined.low <= people[run].mean() <= estimate.combined.high)
    return {
        "judged": judged,
        "population": queries,
        "effective": number(float(np.mean(effective))),
        "inside": number(float(np.mean(inside))),
    }
