"""Bounds and expected values of unjudged results, compared with all assignments of levels.

    python -m benchmarks.unjudged [--cases 10000] [--lists 40]

It draws small collections, measures and conventions, and recomputes each measure for every
assignment of levels to the unjudged results of a query (tests/momentrank/oracle.py). It prints the
largest difference of the upper bounds from the highest values; that of the expected values, for
lists of up to four results, where all assignments are weighed; and their standard error where
assignments are drawn, for `--lists` lists of ten results, seven of them unjudged.
"""

import importlib
import random
import sys
from itertools import islice
from statistics import fmean

from benchmarks.script import parse_arguments, run

RATES = [(1, 3, 1, 0.2), (1, 3, 3, 0.1), (4, None, 2, 0.25)]
BY_RANK = [{0: 0.7, 1: 0.2, 3: 0.1}] * 3 + [{0: 0.75, 2: 0.25}] * 9
RESULTS, JUDGED, SEED = 10, 3, 2024
WEIGHED = 4
"""Results of the longest list whose assignments are all weighed."""
MEASURES = (("nDCG", {"iou": 0.5, "cutoff": RESULTS}), ("AP", {"iou": 0.5}))


def main() -> None:
    """Print the largest differences, and the standard errors of draws."""
    options = parse_arguments(__doc__, cases=10_000, lists=40)
    sys.path.insert(0, "tests/momentrank")
    oracle, scorer = map(importlib.import_module, ("oracle", "scorer"))
    bounds, expected, above, few = 0.0, 0.0, 0, 0
    for case in islice(scorer.unjudged_cases(SEED), options.cases):
        name, params, convention, qrels, results = case
        upper = scorer.scores(*case, "bounds")
        highest = oracle.score_unjudged(name, params, qrels, results, convention)
        bounds = max(bounds, scorer.largest_difference(upper, highest))
        above += upper != scorer.scores(*case)
        if max(map(len, results.values()), default=0) <= WEIGHED:
            few += 1
            mean = oracle.score_unjudged(name, params, qrels, results, convention, BY_RANK)
            found = scorer.scores(*case, RATES)
            expected = max(expected, scorer.largest_difference(found, mean))
    print(f"{options.cases:,} cases, {above:,} with a bound above the value:", end=" ")
    print(f"at most {bounds:.0e} apart")
    print(f"{few:,} of them with all assignments weighed: expected at most {expected:.0e} apart")
    rng = random.Random(SEED)
    for name, params in MEASURES:
        errors = []
        for _ in range(options.lists):
            listed = [oracle.Result(f"v{n}", 0.0, 10.0) for n in range(RESULTS)]
            judged = [
                oracle.Judged(result.video, 0.0, 10.0, rng.randrange(4))
                for result in rng.sample(listed, JUDGED)
            ]
            case = name, params, "paper", {"q": judged}, {"q": listed}
            mean = oracle.score_unjudged(name, params, *case[3:], "paper", BY_RANK)["q"]
            errors.append(scorer.scores(*case, RATES)["q"] - mean)
        error = fmean(each**2 for each in errors) ** 0.5
        print(f"drawn assignments, {name}: standard error {error:.4f} per query")


if __name__ == "__main__":
    run(main)
