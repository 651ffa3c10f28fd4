"""What a machine judge is worth: coverage and width of prediction-powered intervals.

    python -m benchmarks.prediction_powered [--collections 1000] [--seed 1]
    python -m benchmarks.prediction_powered --raw raw_annotation.csv [--draws 3000]

Each simulated collection has queries with 20 judged moments, a run whose mean nDCG(iou=0.5)@10 is
estimated, people's levels on a random part of the queries, and a judge's on all. It prints how
often the 95 % interval covers the mean by people's levels on all queries, how often the interval
from people alone does, and one with a single weight and z; the mean and largest ratio of its width
to that from people alone; the number of collections in which the judge is not used; and the
effective number of queries.

With --raw, people are real: one of each pair's votes, drawn at random, is the judge's level, and
the mean of the others, rounded up, is people's. `weak` answers at random every second time. It
prints what 500 judged pairs are worth for the mean level, and 100 judged queries for the mean
nDCG@10 of the moments in the order of the file.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.votes import raw
from annotation.votes.raw import Raw
from annotation.votes.votes import NO_LEVEL, select_rows
from benchmarks.script import parse_arguments
from momentrank.measures import nDCG
from momentrank.prediction_powered import Estimate, Interval, estimate_mean
from momentrank.scoring import Evaluator
from momentrank.segments import Segments

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TOP_LEVEL, POOL, CUTOFF = 4, 20, 10
Z = 1.959964
PAIRS, QUERIES = 500, 100
"""How many are judged, with real votes."""
SETTINGS = {"20 of 100": (100, 20), "50 of 200": (200, 50), "100 of 500": (500, 100)}
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
        [(_, values)] = Evaluator([nDCG(iou=0.5) @ CUTOFF], qrels, "paper").per_query(run).values()
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
    """For each draw: the estimate, the plain formula's interval, and the truth."""

    estimate: Estimate
    plain: Interval
    truth: float


def draw(random: Random, people: Floats, judge: Floats, judged: int) -> Tally:
    """Have people judge a random part, and estimate the mean of all."""
    sample = np.zeros(len(people), dtype=bool)
    sample[random.choice(len(people), judged, replace=False, shuffle=False)] = True
    parts = people[sample], judge[sample], judge[~sample]
    return Tally(estimate_mean(*parts), plain(*parts), float(people.mean()))


def plain(judged: Floats, predicted: Floats, others: Floats) -> Interval:
    """Return the interval with one weight for all queries and z, for comparison."""
    number, spread = len(judged), float(predicted.var(ddof=1))
    weight = max(0.0, float(np.cov(judged, predicted)[0, 1]) / spread) if spread > 0 else 0.0
    errors = judged - weight * (predicted - np.concatenate([predicted, others]).mean())
    unseen = len(others) / (number + len(others))
    half = Z * np.sqrt(unseen / number) * errors.std()
    value = float(errors.mean())
    return Interval(value, value - half, value + half)


def covers(interval: Interval, truth: float) -> bool:
    """Return whether the truth is in an interval."""
    return interval.low - 1e-12 <= truth <= interval.high + 1e-12


HEAD = (
    f"{'':24}{'covers':>9}{'people':>9}{'plain':>9}{'width':>9}{'most':>9}{'unused':>9}{'worth':>9}"
)


def describe(name: str, tallies: list[Tally]) -> str:
    """Return a row of figures over draws."""
    ratio = [width(tally.estimate.combined) / width(tally.estimate.people) for tally in tallies]
    shares = [
        np.mean([covers(tally.estimate.combined, tally.truth) for tally in tallies]),
        np.mean([covers(tally.estimate.people, tally.truth) for tally in tallies]),
        np.mean([covers(tally.plain, tally.truth) for tally in tallies]),
    ]
    unused = np.mean([tally.estimate.weight == 0 for tally in tallies])
    worth = np.median([tally.estimate.effective for tally in tallies])
    cells = "".join(f"{100 * share:9.1f}" for share in shares)
    return f"{name:24}{cells}{np.mean(ratio):9.3f}{max(ratio):9.3f}{unused:9.1%}{worth:9.0f}"


def width(interval: Interval) -> float:
    """Return the length of an interval."""
    return interval.high - interval.low


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
    own, best = (part[:, :CUTOFF] @ discount for part in (levels, -np.sort(-levels, axis=1)))
    value: Floats = np.divide(own, best, out=np.zeros(len(own)), where=best > 0)
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
                    ndcg(part[whole].reshape(-1, POOL)) for part in (truth, estimates)
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
    main()
