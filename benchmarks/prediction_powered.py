"""What a machine judge is worth: coverage and width of prediction-powered intervals.

    python -m benchmarks.prediction_powered [--collections 1000] [--seed 1]

Each simulated collection has people's levels on a random part of the queries, and a judge's on all
(tests/support/judged_collections.py). It prints how often the 95 % interval covers the mean by
people's levels on all queries, and how often the interval from people alone does; the mean and
largest ratio of its width to that from people alone; the share of collections in which the judge is
not used; and the effective number of queries.
"""

import numpy as np
from support.judged_collections import JUDGES, Tally, covers, draw, simulate, width

from benchmarks.script import parse_arguments, print_rows, run

SETTINGS = {"20 of 100": (100, 20), "50 of 200": (200, 50), "100 of 500": (500, 100)}


def describe(name: str, tallies: list[Tally]) -> tuple[str, dict[str, object]]:
    """Return a row of figures over draws."""
    estimates = [tally.estimate for tally in tallies]
    ratio = [width(estimate.combined) / width(estimate.people) for estimate in estimates]
    return name, {
        "covers": np.mean([covers(tally.estimate.combined, tally.truth) for tally in tallies]),
        "people": np.mean([covers(tally.estimate.people, tally.truth) for tally in tallies]),
        "width": np.mean(ratio),
        "most": max(ratio),
        "unused": np.mean([estimate.weight == 0 for estimate in estimates]),
        "worth": np.median([estimate.effective for estimate in estimates]),
    }


def main() -> None:
    """Print the figures for each setting and judge."""
    options = parse_arguments(__doc__, collections=1000, seed=1)
    for name, (queries, judged) in SETTINGS.items():
        random = np.random.default_rng(options.seed)
        tallies: dict[str, list[Tally]] = {judge: [] for judge in JUDGES}
        for _ in range(options.collections):
            collection = simulate(random, queries)
            for judge, values in collection.judges.items():
                tallies[judge].append(draw(random, collection.people, values, judged))
        print_rows(f"people on {name}", (describe(judge, rows) for judge, rows in tallies.items()))


if __name__ == "__main__":
    run(main)
