"""What a machine judge is worth: coverage and width of prediction-powered intervals.

    python -m benchmarks.prediction_powered [--collections 1000] [--seed 1]
    python -m benchmarks.prediction_powered --raw raw_annotation.csv [--draws 3000]

Each simulated collection has people's levels on a random part of the queries, and a judge's on all
(tests/support/judged_collections.py). It prints how often the 95 % interval covers the mean by
people's levels on all queries, and how often the interval from people alone does; the mean and
largest ratio of its width to that from people alone; the share of collections in which the judge is
not used; and the effective number of queries.

With --raw, people are real: one of each pair's votes, drawn at random, is the judge's level, and
the mean of the others, rounded up, is people's. `weak` answers at random every second time. It
prints what 500 judged pairs are worth for the mean level, and 100 judged queries for the mean
nDCG@10 of the moments in the order of the file.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from support.judged_collections import (
    CUTOFF,
    JUDGES,
    POOL,
    Floats,
    Ints,
    Random,
    Tally,
    covers,
    draw,
    simulate,
    width,
)

from annotation.votes import raw
from annotation.votes.raw import Raw
from annotation.votes.votes import NO_LEVEL, select_rows
from benchmarks.script import parse_arguments, print_rows, run

PAIRS, QUERIES = 500, 100
"""How many are judged, with real votes."""
Z = 1.959964
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


def print_simulated(collections: int, seed: int) -> None:
    """Print the figures for each setting and judge."""
    for name, (queries, judged) in SETTINGS.items():
        random = np.random.default_rng(seed)
        tallies: dict[str, list[Tally]] = {judge: [] for judge in JUDGES}
        for _ in range(collections):
            collection = simulate(random, queries)
            for judge, values in collection.judges.items():
                tallies[judge].append(draw(random, collection.people, values, judged))
        print_rows(f"people on {name}", (describe(judge, rows) for judge, rows in tallies.items()))


def leave_one_out(random: Random, votes: Raw) -> tuple[Ints, Ints, Ints]:
    """Return the pairs with two votes or more, one vote of each, and the others' level."""
    number = np.bincount(votes.pair, minlength=len(votes.pairs))
    order = np.lexsort((random.random(len(votes.pair)), votes.pair))
    first = np.append(0, np.cumsum(number)[:-1])
    voted = np.flatnonzero(number > 1)
    judge = votes.level[order][first[voted]]
    total = np.bincount(votes.pair, votes.level, len(votes.pairs))[voted]
    people = np.ceil((total - judge) / (number[voted] - 1) - 1e-9)
    return voted, judge.astype(np.int64), people.astype(np.int64)


def real_judges(random: Random, judge: Ints, votes: Raw) -> Iterator[tuple[str, Ints]]:
    """Yield judges: a person, a weak one, and a useless one."""
    guess = random.choice(votes.level, len(judge))
    yield "a left-out person", judge
    yield "weak", np.where(random.random(len(judge)) < 1 / 2, guess, judge)
    yield "all at random", guess
    yield "always 3", np.full(len(judge), 3)


def ndcg(levels: Floats) -> Floats:
    """Return nDCG@10 of lists of levels, (queries, ranks)."""
    discount = 1 / np.log2(np.arange(CUTOFF) + 2)
    gain, best = (ranked[:, :CUTOFF] @ discount for ranked in (levels, -np.sort(-levels, axis=1)))
    value: Floats = np.divide(gain, best, out=np.zeros(len(gain)), where=best > 0)
    return value


def print_real(path: Path, draws: int, seed: int) -> None:
    """Print what real people's levels are worth when combined with a judge's."""
    votes, random = raw.read(path), np.random.default_rng(seed)
    votes = select_rows(votes, votes.level != NO_LEVEL)
    voted, judge, people = leave_one_out(random, votes)
    batch = np.array([int(name) // POOL for name in votes.pairs])[voted]
    whole = np.isin(batch, np.flatnonzero(np.bincount(batch) == POOL))
    print(f"{len(voted):,} pairs, {whole.sum() // POOL:,} batches of {POOL}; {draws:,} draws")
    for what, judged in (("level of pairs", PAIRS), ("nDCG@10 of batches", QUERIES)):
        rows = []
        for name, levels in real_judges(random, judge, votes):
            truth, estimates = people.astype(np.float64), levels.astype(np.float64)
            if judged == QUERIES:
                truth, estimates = (
                    ndcg(of_pairs[whole].reshape(-1, POOL)) for of_pairs in (truth, estimates)
                )
            tallies = [draw(random, truth, estimates, judged) for _ in range(draws)]
            half = Z * estimates.std() / np.sqrt(len(estimates))
            own = {"alone": estimates.mean(), "+-": half, "truth": truth.mean()}
            rows.append((name, describe(name, tallies)[1] | own))
        print_rows(f"{judged} for the mean {what}", rows)


def main() -> None:
    """Run one of the two."""
    options = parse_arguments(__doc__, raw=Path, collections=1000, draws=3000, seed=1)
    if options.raw is None:
        print_simulated(options.collections, options.seed)
    else:
        print_real(options.raw, options.draws, options.seed)


if __name__ == "__main__":
    run(main)
