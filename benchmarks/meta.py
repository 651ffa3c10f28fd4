"""Meta-evaluation at QVHighlights' size: time and memory of its two expensive experiments.

    python -m benchmarks.meta [--trials 5000] [--copies 100]

First the stability of 21 measures, with 9 systems and 500 queries: `--trials` for each of ten
sizes. Then label noise: 1,550 queries, 6 runs of 10 results each, the 21 measures of
`momentrank meta`, `--copies` noisy truths for each of four variances. Both use synthetic data and
one core.
"""

import os
import time
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is imported

import numpy as np

from benchmarks.script import parse_arguments, peak_mb, time_call
from momentrank.meta import noise, stability
from momentrank.meta.experiments import default_measures
from momentrank.meta.systems import Systems
from momentrank.meta.values import Values
from momentrank.scoring import Evaluator
from momentrank.segments import build_qrels, build_run

MEASURES, SYSTEMS, QUERIES = 21, 9, 500
JUDGED, RUNS, RESULTS, LENGTH = 1550, 6, 10, 150
SEED = 2024


def make_values() -> Values:
    """Return values of which half are 0, as with binary measures."""
    rng = np.random.default_rng(SEED)
    table = rng.random((MEASURES, SYSTEMS, QUERIES))
    table *= rng.random(table.shape) < np.linspace(0.4, 0.6, SYSTEMS)[:, None]
    measures, systems, queries = (
        [f"{kind}{number}" for number in range(count)]
        for kind, count in (("m", MEASURES), ("s", SYSTEMS), ("q", QUERIES))
    )
    return Values(measures, systems, queries, table)


def make_systems() -> Systems:
    """Return runs near the judged moments, of which a query has one or two."""
    rng = np.random.default_rng(SEED)
    queries = np.repeat(np.arange(JUDGED), rng.integers(1, 3, JUDGED))
    start = rng.integers(0, LENGTH - 10, len(queries)).astype(float)
    end = np.minimum(LENGTH, start + rng.integers(2, 40, len(queries)))
    names = [f"q{number}" for number in queries]
    qrels = build_qrels(names, ["v"] * len(names), start, end, np.ones(len(names)))
    first = np.searchsorted(queries, np.arange(JUDGED))
    runs = {}
    for system in range(RUNS):
        at, rank = np.repeat(first, RESULTS), np.tile(np.arange(RESULTS), JUDGED)
        begin = np.maximum(0, start[at] + rng.normal(0, 3 + system + rank))
        finish = np.maximum(begin, end[at] + rng.normal(0, 5, len(at)))
        own = [f"q{number}" for number in np.repeat(np.arange(JUDGED), RESULTS)]
        runs[f"run{system}"] = {"": build_run(own, ["v"] * len(own), begin, finish)}
    return Systems(Evaluator(default_measures(), qrels, "paper"), runs)


def main() -> None:
    """Print seconds, processor seconds and memory of both, with their goals."""
    options = parse_arguments(__doc__, trials=stability.TRIALS, copies=noise.COPIES)
    values, sizes = make_values(), stability.default_sizes(QUERIES)
    measure = partial(stability.measure_stability, values, sizes, trials=options.trials)
    before = time.process_time()
    seconds, _ = time_call(lambda: list(measure()))
    print(
        f"stability, {SYSTEMS} systems x {QUERIES} queries x {MEASURES} measures,"
        f" {options.trials:,} trials for each of {len(sizes)} sizes: {seconds:.1f} s,"
        f" {time.process_time() - before:.1f} CPU s (goal 20), {peak_mb() / 1024:.2f} GB (goal 1)"
    )
    systems = make_systems()
    before = time.process_time()
    noisy = partial(noise.measure_label_noise, systems, noise.KINDS[:1], copies=options.copies)
    seconds, _ = time_call(lambda: list(noisy()))
    print(
        f"label noise, {RUNS} runs x {JUDGED:,} queries, {len(noise.VARIANCES)} x"
        f" {options.copies} noisy truths: {seconds:.1f} s,"
        f" {time.process_time() - before:.1f} CPU s (goal 60), {peak_mb() / 1024:.2f} GB"
    )


if __name__ == "__main__":
    main()
