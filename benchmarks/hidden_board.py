"""What does a hidden board tell a team that tries to read the levels from it?

    python -m benchmarks.hidden_board [--queries 1000] [--repeats 40] [--seed 1]

The collection is simulated: 40 judged moments a query, levels 0 to 4, some 20 % relevant. The team
knows queries, pool and policy, and sees one measure of each of k runs, exactly, rounded, or as
`momentrank board --hidden` shows it (with one result, AxIoU is P@1). A query has two lists; each
attack claims which one is better, so half of its claims are right by chance:

walk        searches for two runs that differ in one query on both sides of a rounding boundary, and
            then changes one query a run (what the shift is against)
average     all runs on one query: both lists, over half as many backgrounds
boost       random runs; for each query the list that was in the better ones (Blum and Hardt, The
            Ladder, ICML 2015; after Whitehill, Climbing the Kaggle leaderboard, 2016)

`claims` are those of one attack (the ten surest ones of `boost`), `right` is their share that is
right, `gain` how much higher `boost` makes the true value: overfitting, as it is 0 on new levels.
`bits` is the most that k runs and two measures can tell, as a share of the levels' entropy.
"""

import math
from collections.abc import Callable
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.script import parse_arguments, run
from momentrank.board.hidden import MOST, blur, find_step

Floats = NDArray[np.float64]
Show = Callable[[float], float]
POOL, DEPTH, SUREST = 40, 10, 10
RELEVANT, EVEN = 2, 0.5
RUNS = (5, 20, 100, 1000)
DISCOUNTS = 1 / np.log2(np.arange(2, DEPTH + 2))


class Lists(NamedTuple):
    """The value of each query's two lists, by one measure."""

    first: Floats
    second: Floats

    def mean(self, swapped: NDArray[np.bool_]) -> float:
        """Return the true value of a run."""
        return float(np.where(swapped, self.second, self.first).mean())


def draw(rng: np.random.Generator, queries: int) -> tuple[dict[str, Lists], float]:
    """Return two lists a query, by each measure, and the entropy of all levels in bits."""
    rate = rng.beta(1, 4, (queries, 1)) + rng.normal(0, 0.05, (queries, POOL))
    levels = rng.binomial(4, np.clip(rate, 0.01, 0.9)).astype(float)
    levels[:, 0] = 4  # what the query describes; lists are drawn at random
    order = rng.permuted(np.tile(np.arange(POOL), (queries, 1)), axis=1)[:, : 2 * DEPTH]
    gains = np.take_along_axis(levels, order, axis=1)
    ideal = -np.sort(-levels, axis=1)[:, :DEPTH] @ DISCOUNTS
    number, ranks = (levels >= RELEVANT).sum(axis=1), np.arange(1, DEPTH + 1)
    halves = gains[:, :DEPTH], gains[:, DEPTH:]
    hits = [half >= RELEVANT for half in halves]
    shares = np.unique(levels, return_counts=True)[1] / levels.size
    return {
        "nDCG@10": Lists(*(half @ DISCOUNTS / ideal for half in halves)),
        "AP@10": Lists(*((np.cumsum(hit, 1) / ranks * hit).sum(1) / number for hit in hits)),
        "AxIoU@10": Lists(*(np.maximum.accumulate(hit, 1).mean(1) for hit in hits)),
        "P@1": Lists(*(hit[:, 0].astype(float) for hit in hits)),
    }, float(-(shares * np.log2(shares)).sum() * levels.size)


def walk(rng: np.random.Generator, lists: Lists, show: Show, runs: int) -> list[float]:
    """Return the correctness of claims, 1, 0, or a half where both lists are equal."""
    order, claims = rng.permutation(len(lists.first)), list[float]()
    base = np.zeros(len(order), dtype=bool)

    def ask(count: int) -> float:
        swapped = base.copy()
        swapped[order[:count]] ^= True
        return show(lists.mean(swapped))

    low, high = 0, len(order)
    below, above = ask(low), ask(high)
    used = 2
    while high - low > 1 and used < runs and below != above:
        middle = (low + high) // 2
        value, used = ask(middle), used + 1
        low, high = (middle, high) if value == below else (low, middle)
        above = above if value == below else value
    if high - low > 1 or below == above:
        return claims
    claims.append(_judge(lists, order[high - 1], np.sign(above - below)))
    base[order[:low]] ^= True
    for query in order[high : high + runs - used]:  # at the boundary: a query a run
        base[query] ^= True
        if change := np.sign(show(lists.mean(base)) - below):
            claims.append(_judge(lists, query, change))
        base[query] ^= True
    return claims


def average(rng: np.random.Generator, lists: Lists, show: Show, runs: int) -> list[float]:
    """Return the correctness of the claim about one query whose lists differ, if it is made."""
    query = int(rng.choice(np.flatnonzero(lists.first != lists.second)))
    total = 0.0
    for _ in range(runs // 2):
        swapped = rng.random(len(lists.first)) < EVEN
        for side in (True, False):
            swapped[query] = side
            total += show(lists.mean(swapped)) * (1 if side else -1)
    return [_judge(lists, query, np.sign(round(total, 9)))]


def boost(
    rng: np.random.Generator, lists: Lists, show: Show, runs: int
) -> tuple[list[float], float]:
    """Return the correctness of the surest claims, and what the chosen lists gain."""
    swapped = rng.random((runs, len(lists.first))) < EVEN
    values = np.array([show(lists.mean(row)) for row in swapped])
    weights = (values - values.mean()) @ (swapped - 0.5)
    surest = np.argsort(-np.abs(weights))[:SUREST]
    claims = [_judge(lists, query, np.sign(weights[query])) for query in surest]
    middle = float((lists.first + lists.second).mean() / 2)
    return claims, lists.mean(weights > 0) - middle


def _judge(lists: Lists, query: int, claim: float) -> float:
    truth = np.sign(lists.second[query] - lists.first[query])
    return 0.5 if truth == 0 or claim == 0 else float(truth == claim)


def main() -> None:
    """Print a row for each measure, way of showing and number of runs."""
    options = parse_arguments(__doc__, queries=1000, repeats=40, seed=1)
    number, step = options.queries, find_step(options.queries)
    names = count()  # each run is another
    ways: dict[str, Show] = {
        "exact": lambda value: value,
        "rounded": lambda value: round(value / step) * step,
        "hidden": lambda value: blur(value, number, "secret", str(next(names))),
    }
    print(f"{number:,} queries, step {step:g}, {options.repeats} repeats")
    print("measure  shown    runs  bits    walk claims right  average right  boost right  gain")
    for measure in ("nDCG@10", "AP@10", "AxIoU@10", "P@1"):
        for way, show in ways.items():
            for runs in RUNS:
                rng = np.random.default_rng(options.seed)
                walked, averaged, boosted, gains = [], [], [], []
                for _ in range(max(4, options.repeats * min(1, 200 // runs))):
                    by_measure, entropy = draw(rng, number)
                    lists = by_measure[measure]
                    walked += walk(rng, lists, show, runs)
                    averaged += average(rng, lists, show, runs)
                    claims, gain = boost(rng, lists, show, runs)
                    boosted += claims
                    gains.append(gain)
                bits = runs * MOST * math.log2(1 / step + 1) / entropy
                right = f"{np.mean(walked):.2f}" if walked else "-"
                print(
                    f"{measure:8} {way:8} {runs:4}  {bits:6.1%}  {len(walked):11} {right:>5}"
                    f"  {np.mean(averaged):13.2f}  {np.mean(boosted):11.2f}  {np.mean(gains):.3f}"
                )


if __name__ == "__main__":
    run(main)
