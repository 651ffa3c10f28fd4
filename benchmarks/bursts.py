"""Honest people and bursts: how many of them `agreement` flags wrongly.

    python -m benchmarks.bursts [--people 500] [--judgments 1000] [--spread 0.5]

The time of a judgment is log-normal (`--spread` is the deviation of its logarithm), with a median
of 3 to 20 seconds that differs by person. Easy pairs come in groups: the logarithms of successive
judgments are correlated. It prints how many people have a burst, by that correlation and by the
length of a burst; then the same for people who also make twelve one-second judgments in a row.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from annotation.reliability.annotators import bursts
from annotation.reliability.scores import Scores
from benchmarks.script import parse_arguments

Floats = npt.NDArray[np.float64]
CORRELATIONS, LENGTHS = (0.0, 0.5, 0.8), (5, 10)
MEDIANS = (3.0, 20.0)
MIN_SECONDS = 2.0
CLICKED = 12


def draw_seconds(people: int, judgments: int, spread: float, correlation: float) -> Floats:
    """Return the seconds of each judgment, shape (people, judgments)."""
    random = np.random.default_rng(0)
    logs = np.log(random.uniform(*MEDIANS, people))[:, None]
    noise = random.normal(size=(people, judgments))
    for at in range(1, judgments):
        fresh = (1 - correlation**2) ** 0.5 * noise[:, at]
        noise[:, at] = correlation * noise[:, at - 1] + fresh
    return np.exp(logs + spread * noise)


def count_flagged(seconds: Floats, length: int) -> int:
    """Return how many people have a burst."""
    people, judgments = seconds.shape
    annotator = np.repeat(np.arange(people), judgments)
    pair = np.tile(np.arange(judgments), people)
    time = np.datetime64("2024-05-01") + pair.astype("timedelta64[m]")
    level = np.zeros(len(pair), dtype=np.int64)
    index = pd.RangeIndex(people)
    scores = Scores(pair, annotator, level, judgments, index, time, seconds.ravel())
    return len(bursts(scores, MIN_SECONDS, length))


def main() -> None:
    """Print the numbers."""
    options = parse_arguments(__doc__, people=500, judgments=1000, spread=0.5)
    for correlation in CORRELATIONS:
        honest = draw_seconds(options.people, options.judgments, options.spread, correlation)
        clicked = honest.copy()
        clicked[:, :CLICKED] = 1.0
        for length in LENGTHS:
            numbers = (count_flagged(seconds, length) for seconds in (honest, clicked))
            named = " and ".join(map(str, numbers))
            print(f"correlation {correlation}, {length} in a row: {named} of {options.people}")


if __name__ == "__main__":
    main()
