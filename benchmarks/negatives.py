"""How often is the bound of negatives right that have an answer outside their pool?

    python -m benchmarks.negatives [--collections 1000] [--seed 1]

Each simulated collection has 300 queries that are captions of moments, and 100 that are not: 40 %
of these have an answer, a single one. Captions have other answers besides their own moment: a gamma
number with mean 5. An answer's rank is log-normal, with a scale that also differs between queries,
and ends at the 1,000 neighbours. With `good` captions the middle answer is at rank 6, with `poor`
ones at 30, in a wider spread. People judge 20 moments of each query, and 20 more of those with four
answers or more; an audit of 100 queries draws 60 neighbours outside the pool. The bound is made by
the code that the release uses.

`holds` is the share of collections in which the true share of negatives with an answer is at most
the bound: 95 % or more is claimed. In `lone lower`, the answers of queries that are no captions are
at 1.5, 2, 3 and 10 times the rank of others, which the bound assumes they are not; in `fewer lower`
an answer's rank grows with the square root of 5 / its query's answers. `few audited` has an audit
of 20 queries.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.script import parse_arguments, print_rows, run
from pipeline.campaign.collection import ANSWERS
from pipeline.campaign.estimator import Counts, Ints
from pipeline.campaign.negatives import Tally, bound_missed, bound_negatives

CAPTIONS, OTHERS, HAVING = 300, 100, 0.4
BATCH, TOP, DEPTH, NEAR = 20, 40, 1000, 60
ANSWERED, SHAPE, RICH = 5.0, 1.0, 4
BETWEEN = 0.7
"""The standard deviation of the logarithm of a query's scale."""
MOST = 40


class Setting(NamedTuple):
    """How answers rank: the middle rank, the spread of its logarithm, and lone ones' factor.

    `few` is the power of 5 / a query's answers by which their rank grows.
    """

    middle: float
    spread: float
    lone: float = 1.0
    audited: int = 100
    few: float = 0.0


SETTINGS = {
    "good": Setting(6, 1.2),
    "poor": Setting(30, 1.8),
    "good, few audited": Setting(6, 1.2, audited=20),
    "good, lone lower (1.5)": Setting(6, 1.2, lone=1.5),
    "good, lone lower (2)": Setting(6, 1.2, lone=2),
    "good, lone lower (3)": Setting(6, 1.2, lone=3),
    "poor, lone lower (3)": Setting(30, 1.8, lone=3),
    "good, lone lower (10)": Setting(6, 1.2, lone=10),
    "good, fewer lower": Setting(6, 1.2, few=0.5),
    "poor, fewer lower": Setting(30, 1.8, few=0.5),
}


class Outcome(NamedTuple):
    """The true share of negatives with an answer, its bound, and that of answers missed."""

    truth: float
    bound: float
    missed: float


def draw_ranks(setting: Setting, random: np.random.Generator) -> Ints:
    """Return the ranks of each query's answers, (queries, answers); 0 where there is none."""
    breadth = random.gamma(SHAPE, ANSWERED / SHAPE, CAPTIONS)
    number = np.minimum(random.poisson(breadth), MOST)
    number = np.concatenate([number, random.random(OTHERS) < HAVING])
    scale = setting.middle * np.exp(random.normal(0, BETWEEN, len(number)))
    scale *= (np.maximum(number, 1) / ANSWERED) ** -setting.few
    scale[CAPTIONS:] *= setting.lone
    spread = random.normal(0, setting.spread, (len(number), MOST))
    ranks: Ints = np.ceil(scale[:, None] * np.exp(spread)).astype(np.int64)
    ranks[(np.arange(MOST) >= number[:, None]) | (ranks > DEPTH)] = 0
    return ranks


def simulate(setting: Setting, random: np.random.Generator) -> Outcome:
    """Judge and audit a collection, and bound what its negatives have."""
    ranks = draw_ranks(setting, random)
    there = ranks > 0
    within = (there & (ranks <= BATCH)).sum(1)
    depth = np.where(within >= RICH, TOP, BATCH)
    below = (there & (ranks <= depth[:, None])).sum(1) - within
    outside = there.sum(1) - within - below
    drawn = random.choice(len(ranks), setting.audited, replace=False)
    size = np.stack([np.full_like(depth, BATCH), depth - BATCH, DEPTH - depth], -1)[drawn]
    judged = size.copy()
    judged[:, 2] = NEAR
    met = random.hypergeometric(outside[drawn], size[:, 2] - outside[drawn], NEAR)
    counts = Counts(size, judged, np.stack([within[drawn], below[drawn], met], -1))
    bound = bound_missed(counts, len(ranks))
    missed = 1.0 if bound is None else bound
    seen = np.zeros_like(within)
    seen[drawn] = met
    found, later = within[CAPTIONS:] > 0, (below + seen)[CAPTIONS:] > 0
    hidden = (outside - seen)[CAPTIONS:] > 0
    negative = ~found & ~later
    tally = Tally(int(found.sum()), int((later & ~found).sum()), int(negative.sum()))
    truth = int((hidden & negative).sum()) / tally.negative
    return Outcome(truth, bound_negatives(tally, missed) / tally.negative, missed)


def describe(outcomes: list[Outcome]) -> dict[str, object]:
    """Return a row of figures."""
    truth, bound, _ = columns = np.array(outcomes, dtype=np.float64).T
    medians = zip(Outcome._fields, np.median(columns, axis=1), strict=True)
    return {"holds": (truth <= bound).mean()} | dict(medians)


def main() -> None:
    """Print how often the bound holds."""
    options = parse_arguments(__doc__, collections=1000, seed=1)
    print(f"an answer: level {ANSWERS} or higher; medians of {options.collections:,} collections")

    def simulate_all(setting: Setting) -> list[Outcome]:
        random = np.random.default_rng(options.seed)
        return [simulate(setting, random) for _ in range(options.collections)]

    rows = ((name, describe(simulate_all(setting))) for name, setting in SETTINGS.items())
    print_rows("captions", rows)


if __name__ == "__main__":
    run(main)
