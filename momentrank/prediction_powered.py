"""Means over all queries, from people's levels on some of them and a machine's on all.

Prediction-powered inference (Angelopoulos, Duchi and Zrnic, PPI++, arXiv 2311.01453, 2023). People
judged a simple random sample of n of N queries; Y is a query's value by people's levels, f by the
machine's. For a fixed weight

    mean(Y, sample) + weight (mean(f, all) - mean(f, sample))

is unbiased, whatever the machine's faults; the best weight is Cov(Y, f) / Var(f), which is PPI++'s
power-tuned lambda (1 + n / (N - n)): there the machine's mean leaves out the sample. Survey
sampling calls it the regression estimator (Cochran, Sampling Techniques, 3rd ed., chapter 7).

**The target** is the mean over these N queries, had people judged all. The only uncertainty is
which n were judged, so variances have the finite population correction 1 - n / N.

**Few queries.** A weight fitted to the values that it corrects makes them look too close. So each
query is corrected with the weight of the other n - 1 (Zrnic and Candes, Cross-prediction-powered
inference, PNAS 121, 2024); the spread of the residuals then includes the weight's uncertainty. It
uses Student's t with n - 3 degrees of freedom, for a mean, a weight and the choice that follows:
with n - 2, ten or twenty queries cover 1 % less often than people alone. Weights below 0 are 0.

**A useless machine** widens this interval. If it is not narrower than that of people alone, the
latter is returned. `python -m benchmarks.prediction_powered` measures the coverage.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from momentrank.errors import UsageError
from momentrank.matching.aligned import restore_own_ids
from momentrank.measures.base import EITHER, NULL
from momentrank.mismatches import find_unmatched, shorten
from momentrank.paired_tests import CLOSE, t_quantile
from momentrank.segments import Floats, make_frame
from momentrank.significance import CONFIDENCE

if TYPE_CHECKING:
    import pandas as pd

    from momentrank.formats.table import Truth
    from momentrank.measures.base import Measure
    from momentrank.scoring import Evaluator, PerQuery, Run

FITTED = 3
"""A mean, a weight, and the choice between both intervals."""
MIN_JUDGED = FITTED + 1


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
    """From people alone."""
    combined: Interval
    """From both; if the machine is of no use, the same."""
    machine: float
    """The mean from the machine alone, for which there is no valid interval."""
    weight: float
    """Of the machine; 0 if it is of no use."""
    effective: float
    """How many judged by people alone would give as narrow an interval as `combined`; n to N."""

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
    """Estimates by measure; also looked up by a measure's name."""

    def __missing__(self, key: "Measure | str") -> Estimate:
        for measure, estimate in self.items():
            if repr(measure) == str(key):
                return estimate
        raise KeyError(key)

    def to_frame(self) -> "pd.DataFrame":
        """Return a row per measure.

        Raises:
            UsageError: pandas is not installed.
        """
        rows = [
            {"measure": repr(measure), **estimate.as_json()} for measure, estimate in self.items()
        ]
        return make_frame(rows)


def estimate_mean(
    judged: Floats, predicted: Floats, others: Floats, confidence: float = CONFIDENCE
) -> Estimate:
    """Estimate the mean that people would give the whole population.

    Args:
        judged: people's values for the sample, shape (n,): a measure's by query, levels by pair.
        predicted: the machine's for the same, shape (n,).
        others: the machine's for the rest, shape (N - n,).
        confidence: of both intervals.

    If a partial sample has no spread, the bounds are NaN.

    Raises:
        UsageError: people judged fewer than four, or the shapes differ.
    """
    number = len(judged)
    if number < MIN_JUDGED or len(predicted) != number:
        raise UsageError(
            f"at least {MIN_JUDGED} values by people are needed, and as many by the machine, not"
            f" {number} and {len(predicted)}"
        )
    population = number + len(others)
    level = float(np.concatenate([predicted, others]).mean())
    unseen = 1 - number / population
    mean, spread = float(judged.mean()), float(judged.std(ddof=1))
    half = t_quantile(confidence, number - 1) * math.sqrt(unseen / number) * spread
    if spread <= CLOSE * abs(mean):
        half = math.nan if unseen else 0.0
    people = Interval(mean, mean - half, mean + half)
    alone = Estimate(number, population, people, people, level, 0.0, float(number))
    if not half > 0:
        return alone
    weights = fit_weights(judged, predicted)
    corrected = judged - weights * (predicted - level)
    left = float(corrected.std(ddof=FITTED))
    narrow = t_quantile(confidence, number - FITTED) * math.sqrt(unseen / number) * left
    if not weights.any() or narrow >= half:
        return alone
    value = float(corrected.mean())
    combined = Interval(value, value - narrow, value + narrow)
    worth = effective_number(number, population, narrow / half)
    return alone._replace(combined=combined, weight=float(weights.mean()), effective=worth)


def fit_weights(judged: Floats, predicted: Floats) -> Floats:
    """Return for each value the slope of people's on the machine's values over all others, (n,).

    Negative slopes, and those of a constant machine, are 0.
    """
    people, machine = judged - judged.mean(), predicted - predicted.mean()
    scale = len(judged) / (len(judged) - 1)  # leaving one out also moves the mean of the others
    both: Floats = people @ machine - scale * people * machine
    squares = machine @ machine
    rest = squares - scale * machine**2
    usable = (rest > CLOSE * squares) & (squares > CLOSE * (predicted @ predicted)) & (both > 0)
    slopes: Floats = np.divide(both, rest, out=np.zeros(len(judged)), where=usable)
    return slopes


def effective_number(judged: int, population: int, ratio: float) -> float:
    """Return how many judgments by people alone give an interval `ratio` times as wide as n do.

    From 1 / n' - 1 / N = ratio^2 (1 / n - 1 / N): n for a ratio of 1, all N for 0.
    """
    return 1 / (1 / population + (1 / judged - 1 / population) * ratio**2)


class Scorers(NamedTuple):
    """Both use the same measures and query names."""

    people: "Evaluator"
    machine: "Evaluator"


def join(people: "Evaluator", machine: "Truth", name: str = "the machine") -> Scorers:
    """Return the scorers by people's qrels and by a machine's; `name` is for messages.

    Raises:
        UsageError: a measure is not a mean, or counts silence, or people judged queries that the
            machine did not.
    """
    from momentrank.scoring import Evaluator

    if not people.measures:
        raise UsageError(f"the table of {people.convention.name} has no per-query values")
    for measure in people.measures:
        if people.convention.is_summed(measure) or measure.COLLECTIVE:
            what = "of the whole collection" if measure.COLLECTIVE else "a sum"
            raise UsageError(f"{measure!r} is {what}; --machine estimates means of queries only")
        if measure.over() in {NULL, EITHER}:
            raise UsageError(
                f"{measure!r} counts silence: with few queries that count its intervals would be"
                " too narrow; leave it out, or score people's qrels without --machine"
            )
    if people.convention.distinct:
        machine = machine.distinct()
    levels = restore_own_ids(machine.segments, people.qrels)
    judged = restore_own_ids(people.qrels, levels)
    missing = find_unmatched(judged.queries, levels.queries).not_in_run
    if missing:
        raise UsageError(
            f"{name}: lacks {len(missing)} of {len(judged.queries)} queries that people judged"
            f" ({shorten(missing)}): the machine must judge all of them"
        )
    scorers = (Evaluator(people.measures, qrels, people.convention) for qrels in (judged, levels))
    return Scorers(*scorers)


def score_queries(scorer: "Evaluator", run: "Run") -> "PerQuery":
    """Return the values of each query; a mean over some becomes one over all.

    Which queries have a relevant moment is known only for those that people judged, so a mean over
    these is a ratio of two means. It is linearised (Särndal, Swensson and Wretman, 1992): a query
    that counts has the value mean + (value - mean) / share that count, others the mean.
    """
    scored = scorer.per_query(run)
    if not scorer.convention.leaves_out:
        return scored
    queries, result = scorer.queries, dict(scored)
    for measure, (names, values) in scored.items():
        if not names:
            raise UsageError(f"{measure!r}: no query that people, or the machine, judged counts")
        if len(names) < len(queries):
            value_of, mean = dict(zip(names, values.tolist(), strict=True)), values.mean()
            each = np.array([value_of.get(name, mean) for name in queries])
            result[measure] = queries, mean + (each - mean) * len(queries) / len(names)
    return result


def estimate_run(scorers: Scorers, run: "Run", confidence: float = CONFIDENCE) -> Estimates:
    """Estimate the mean of each measure over the machine's queries.

    Raises:
        UsageError: people judged fewer than four queries, or whether a query counts depends on
            its levels, which are not known for all.
    """
    by_people, by_machine = (score_queries(scorer, run) for scorer in scorers)
    judged_queries = set(scorers.people.qrels.queries)
    result = Estimates()
    for measure, (names, judged) in by_people.items():
        all_names, predicted = by_machine[measure]
        if set(names) != judged_queries.intersection(all_names):
            raise UsageError(
                f"{scorers.people.convention.name} counts a query by its levels, which are not"
                " known for all: use --convention paper"
            )
        row_of = {name: row for row, name in enumerate(all_names)}
        rows = [row_of[name] for name in names]
        others = np.delete(predicted, rows)
        result[measure] = estimate_mean(judged, predicted[rows], others, confidence)
    return result
