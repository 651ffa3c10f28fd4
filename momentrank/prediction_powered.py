"""Means over all queries, from people's levels on some of them and a machine's on all.

Prediction-powered inference (Angelopoulos, Duchi and Zrnic, PPI++, arXiv 2311.01453, 2023). People
judged a simple random sample of n of N queries; Y is a query's value by people's levels, f by the
machine's. Whatever the machine's faults, for a fixed weight

    estimate = mean(Y, sample) + weight (mean(f, all) - mean(f, sample))

is unbiased, and best where the weight is Cov(Y, f) / Var(f): PPI++'s power-tuned lambda (1 + n / (N
- n)), for its machine mean leaves out the sample. It is the regression estimator of survey sampling
(Cochran, Sampling Techniques, 3rd ed., chapter 7). The weight 0 is people alone.

**The target** is the mean over these N queries, had people judged all. The only doubt is which n
were judged: the variance has the finite population correction 1 - n / N, for people alone too. For
queries that nobody has written yet, no interval here speaks.

**Few queries.** A weight fitted to the values that it corrects makes them look too close. So each
query is corrected with the weight of the other n - 1 (cross-fitting: Zrnic and Candes,
Cross-prediction-powered inference, PNAS 121, 2024), and the spread of what is left, which then
contains the doubt about the weight, gets Student's t with n - 2 degrees of freedom, for a mean and
a weight are estimated. Weights below 0 are 0.

**A useless machine** widens this interval. Where it is not narrower than people's own, people's own
is the answer. `python -m benchmarks.prediction_powered` measures the coverage of all this.
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from momentrank.errors import UsageError
from momentrank.ids import own_ids
from momentrank.mismatches import shorten
from momentrank.paired_tests import CLOSE, t_tails
from momentrank.segments import Floats, Segments, make_frame

if TYPE_CHECKING:
    import pandas as pd

    from momentrank.measures.base import Measure
    from momentrank.scoring import Evaluator, Run

CONFIDENCE = 0.95
MIN_JUDGED = 3
"""Fewer leave no weight to fit."""
BISECTIONS = 100


class Interval(NamedTuple):
    """A mean and its bounds; NaN where it has none."""

    value: float
    low: float
    high: float


class Estimate(NamedTuple):
    """A mean over a population of which people judged a random sample, and a machine all."""

    judged: int
    """n: the queries, or pairs, that people judged."""
    population: int
    """N: those that the machine judged; people's are among them."""
    people: Interval
    """By people alone."""
    combined: Interval
    """By both; where the machine is of no use, the same."""
    machine: float
    """The mean by the machine alone, which no interval can vouch for."""
    weight: float
    """Of the machine; 0 where it is of no use."""
    effective: float
    """So many judged by people alone would give an interval as narrow as `combined`; n to N."""

    def as_json(self) -> dict[str, float | int]:
        """Return one flat object."""
        return {
            **self.combined._asdict(),
            **{f"people_{name}": value for name, value in self.people._asdict().items()},
            "machine_value": self.machine,
            "queries": self.judged,
            "population": self.population,
            "effective_queries": self.effective,
            "weight": self.weight,
        }


class Estimates(dict["Measure", Estimate]):
    """Estimates by measure; a measure's name finds its own, too."""

    def __missing__(self, key: "Measure | str") -> Estimate:
        for measure, one in self.items():
            if repr(measure) == str(key):
                return one
        raise KeyError(key)

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per measure.

        Raises:
            UsageError: pandas is not installed.
        """
        rows = [{"measure": repr(measure), **one.as_json()} for measure, one in self.items()]
        return make_frame(rows)


def estimate_mean(
    judged: Floats, predicted: Floats, others: Floats, confidence: float = CONFIDENCE
) -> Estimate:
    """Estimate the mean that people would give the whole population.

    Args:
        judged: people's values of the sample, shape (n,), such as a measure's value per query or
            the level of each pair.
        predicted: the machine's values of the same, shape (n,).
        others: the machine's values of the rest of the population, shape (N - n,).
        confidence: of both intervals.

    Where all of the sample have one value there is no spread to judge by: the bounds are NaN
    (unless the sample is the population).

    Raises:
        UsageError: people judged fewer than three, or the shapes are not these.
    """
    number = len(judged)
    if number < MIN_JUDGED or len(predicted) != number:
        raise UsageError(
            f"{MIN_JUDGED} values or more by people are needed, and one by the machine for each:"
            f" there are {number} and {len(predicted)}"
        )
    population = number + len(others)
    level = float(np.concatenate([predicted, others]).mean())
    unseen = 1 - number / population
    mean, spread = float(judged.mean()), float(judged.std(ddof=1))
    half = t_quantile(confidence, number - 1) * math.sqrt(unseen / number) * spread
    if spread <= CLOSE * abs(mean):
        half = math.nan if unseen else 0.0
    people = Interval(mean, mean - half, mean + half)
    if not half > 0:
        return Estimate(number, population, people, people, level, 0.0, float(number))
    weights = fit_weights(judged, predicted)
    corrected = judged - weights * (predicted - level)
    left = float(corrected.std(ddof=2))
    narrow = t_quantile(confidence, number - 2) * math.sqrt(unseen / number) * left
    if not weights.any() or narrow >= half:
        return Estimate(number, population, people, people, level, 0.0, float(number))
    value = float(corrected.mean())
    combined = Interval(value, value - narrow, value + narrow)
    effective = effective_number(number, population, narrow / half)
    weight = float(weights.mean())
    return Estimate(number, population, people, combined, level, weight, effective)


def fit_weights(judged: Floats, predicted: Floats) -> Floats:
    """Return for each value the slope of people's on the machine's values of all others, (n,).

    Negative slopes, and those where all other values of the machine are equal, are 0.
    """
    people, machine = judged - judged.mean(), predicted - predicted.mean()
    scale = len(judged) / (len(judged) - 1)  # leaving one out moves the mean of the others, too
    both: Floats = people @ machine - scale * people * machine
    own = machine @ machine
    rest = own - scale * machine**2
    usable = (rest > CLOSE * own) & (own > CLOSE * (predicted @ predicted)) & (both > 0)
    slopes: Floats = np.divide(both, rest, out=np.zeros(len(judged)), where=usable)
    return slopes


def effective_number(judged: int, population: int, ratio: float) -> float:
    """Return how many judgments by people alone give an interval `ratio` times as wide as n do.

    From 1 / n' - 1 / N = ratio^2 (1 / n - 1 / N): n for a ratio of 1, all N for 0.
    """
    return 1 / (1 / population + (1 / judged - 1 / population) * ratio**2)


@cache
def t_quantile(confidence: float, degrees: int) -> float:
    """Return the t between whose negative and itself Student's variable lies so often."""
    low, high = 0.0, 1.0
    while t_tails(high**2, degrees) > 1 - confidence:
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        above = t_tails(middle**2, degrees) > 1 - confidence
        low, high = (middle, high) if above else (low, middle)
    return high


class Scorers(NamedTuple):
    """Two that score by the same measures and convention, and name queries alike."""

    people: "Evaluator"
    machine: "Evaluator"


def join(people: "Evaluator", levels: Segments, name: str = "the machine") -> Scorers:
    """Return the scorer by people's qrels together with one by a machine's, which have all queries.

    `name` is the machine's, for messages.

    Raises:
        UsageError: a measure is no mean, or people judged queries that the machine did not.
    """
    from momentrank.scoring import Evaluator

    _check_measures(people)
    names = _rename(people.qrels.queries, levels.queries)
    known = set(levels.queries)
    missing = [query for query in names if query not in known]
    if missing:
        raise UsageError(
            f"{name}: lacks {len(missing)} of {len(names)} queries that people judged"
            f" ({shorten(missing)}): the machine has to judge all of them"
        )
    by_people, by_machine = (
        Evaluator(people.measures, qrels, people.convention)
        for qrels in (people.qrels._replace(queries=names), levels)
    )
    return Scorers(by_people, by_machine)


def _check_measures(people: "Evaluator") -> None:
    if not people.measures:
        raise UsageError(
            f"the table of {people.convention.name} has no values of single queries;"
            " name a measure, such as 'R@1,0.5'"
        )
    for one in people.measures:
        if people.convention.is_summed(one):
            raise UsageError(f"{one!r} is a sum, no mean: leave it out where a machine helps")


def _rename(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Return our queries by the names that they have there; one side may have JSON's numbers."""
    names = {own: number for number, own in own_ids(theirs, ours).items()} | own_ids(ours, theirs)
    return [names.get(query, query) for query in ours]


def estimate_run(scorers: Scorers, run: "Run", confidence: float = CONFIDENCE) -> Estimates:
    """Estimate the mean of each measure over the machine's queries.

    Raises:
        UsageError: people judged fewer than three queries, or whether a query counts depends on
            its levels, which nobody knows of all.
    """
    by_people, by_machine = (scorer.per_query(run) for scorer in scorers)
    own = set(scorers.people.qrels.queries)
    found = Estimates()
    for measure, (names, judged) in by_people.items():
        all_names, predicted = by_machine[measure]
        sampled = np.array([name in own for name in all_names], dtype=bool)
        if set(names) != {name for name in all_names if name in own}:
            raise UsageError(
                f"{scorers.people.convention.name} counts a query by its levels, which nobody knows"
                " of all: use --convention paper"
            )
        place = {name: row for row, name in enumerate(all_names)}
        rows = np.array([place[name] for name in names], dtype=np.int64)
        found[measure] = estimate_mean(judged, predicted[rows], predicted[~sampled], confidence)
    return found
