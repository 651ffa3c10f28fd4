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
from benchmarks.script import parse_arguments, run

PAIRS, QUERIES = 500, 100
"""How many are judged, with real votes."""
Z = 1.959964
SETTINGS = {"20 of 100": (100, 20), "50 of 200": (200, 50), "100 of 500": (500, 100)}

HEAD = f"{'':24}{'covers':>9}{'people':>9}{'width':>9}{'most':>9}{'unused':>9}{'worth':>9}"


def describe(name: str, tallies: list[Tally]) -> str:
    """Return a row of figures over draws."""
    ratio = [width(tally.estimate.combined) / width(tally.estimate.people) for tally in tallies]
    shares = [
        np.mean([covers(tally.estimate.combined, tally.truth) for tally in tallies]),
        np.mean([covers(tally.estimate.people, tally.truth) for tally in tallies]),
    ]
    unused = np.mean([tally.estimate.weight == 0 for tally in tallies])
    worth = np.median([tally.estimate.effective for tally in tallies])
    cells = "".join(f"{100 * share:9.1f}" for share in shares)
    return f"{name:24}{cells}{np.mean(ratio):9.3f}{max(ratio):9.3f}{unused:9.1%}{worth:9.0f}"


def print_simulated(collections: int, seed: int) -> None:
    """Print the figures for each setting and judge."""
    for name, (queries, judged) in SETTINGS.items():
        random = np.random.default_rng(seed)
        tallies: dict[str, list[Tally]] = {judge: [] for judge in JUDGES}
        for _ in range(collections):
            collection = simulate(random, queries)
            for judge, values in collection.judges.items():
                tallies[judge].append(draw(random, collection.people, values, judged))
        print(f"{collections:,} collections, people on {name} queries\n{HEAD}")
        for judge, rows in tallies.items():
            print(describe(judge, rows))


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
        print(f"{judged} for the mean {what}\n{HEAD}")
        for name, levels in real_judges(random, judge, votes):
            truth, estimates = people.astype(np.float64), levels.astype(np.float64)
            if judged == QUERIES:
                truth, estimates = (
                    ndcg(of_pairs[whole].reshape(-1, POOL)) for of_pairs in (truth, estimates)
                )
            print(describe(name, [draw(random, truth, estimates, judged) for _ in range(draws)]))
            half = Z * estimates.std() / np.sqrt(len(estimates))
            inside = "in" if abs(estimates.mean() - truth.mean()) <= half else "OUTSIDE"
            alone = f"{estimates.mean():.4f} +- {half:.4f}, the truth {truth.mean():.4f}"
            print(f"{'':4}on its own it gives {alone}: {inside} its own interval")


def main() -> None:
    """Run one of the two."""
    options = parse_arguments(__doc__, raw=Path, collections=1000, draws=3000, seed=1)
    if options.raw is None:
        print_simulated(options.collections, options.seed)
    else:
        print_real(options.raw, options.draws, options.seed)


if __name__ == "__main__":
    run(main)
