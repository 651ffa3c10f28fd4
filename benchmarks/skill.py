"""The consensus weighted by skill, compared with the paper's rule, means and plain Dawid-Skene.

    python -m benchmarks.skill [--campaigns 50] [--pairs 1000] [--people 6] [--random 1]
    python -m benchmarks.skill --raw raw_annotation.csv

Simulated people have a bias and noise, and some answer at random; votes come as in a campaign, two
and two more if these are too far apart. Errors are measured against the drawn truth, on the pairs
to which the rule gives a level. With --raw one vote of each pair is held out (for a fifth of the
pairs with two), and predicted from the others: its log likelihood, and their consensus's error.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from annotation.votes import raw, skill
from annotation.votes.raw import Raw
from annotation.votes.rule import LEVELS, decide
from annotation.votes.skill import Fit, VoteSets
from annotation.votes.votes import FIRST_VOTES, MAX_DIFFERENCE, NO_LEVEL, Bools, Ints, select_rows
from benchmarks.script import parse_arguments, time_call
from pipeline.campaign.pairs import ALL_VOTES

Floats = npt.NDArray[np.float64]
SHARES = np.array([0.45, 0.2, 0.15, 0.12, 0.08])
BIAS, NOISE, NOISE_SPREAD = 0.3, 0.6, 0.3
BATCH = 20
HELD_OUT_OF_TWO = 0.2


class Drawn(NamedTuple):
    """A campaign's votes, and the true levels of its pairs."""

    truth: Ints
    pair: Ints
    annotator: Ints
    level: Ints


def draw_campaign(seed: int, pairs: int, people: int, random: int) -> Drawn:
    """Return votes of simulated people on pairs; the last `random` people don't look."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(LEVELS, pairs, p=SHARES)
    bias = rng.normal(0, BIAS, people)
    noise = NOISE * np.exp(rng.normal(0, NOISE_SPREAD, people))
    ratings = truth[:, None] + bias + rng.normal(size=(pairs, people)) * noise
    levels = np.clip(np.rint(ratings), 0, LEVELS - 1).astype(np.int64)
    levels[:, people - random :] = rng.integers(0, LEVELS, (pairs, random))
    batches = -(-pairs // BATCH)
    annotators = rng.random((batches, people)).argsort(axis=1)[
        np.arange(pairs) // BATCH, :ALL_VOTES
    ]
    votes = np.take_along_axis(levels, annotators, axis=1)
    apart = abs(votes[:, 0] - votes[:, 1]) > MAX_DIFFERENCE
    number = np.where(apart, ALL_VOTES, FIRST_VOTES)
    is_cast = np.arange(ALL_VOTES) < number[:, None]
    return Drawn(truth, np.repeat(np.arange(pairs), number), annotators[is_cast], votes[is_cast])


def plain_tables(counts: Floats) -> tuple[Floats, float]:
    """Return Dawid and Skene's tables: people's votes, with almost no prior."""
    total = counts + 1e-3
    tables = total / total.sum(axis=2, keepdims=True)
    return tables, float(1e-3 * np.log(tables).sum())


def fit_plain(votes: VoteSets, people: int) -> Fit:
    """Fit Dawid and Skene's own model."""
    return skill.fit(votes, skill.usual_tables(people), plain_tables)


def fit_figures(votes: VoteSets, people: int) -> Fit:
    """Fit bias, noise and random answers alone."""
    return skill.fit(votes, skill.usual_tables(people), skill.by_three_figures)


def fit_both(votes: VoteSets, people: int) -> Fit:
    """Fit the three figures, then tables drawn towards them: what `weigh` does."""
    prior = fit_figures(votes, people).tables
    return skill.fit(votes, prior, lambda counts: skill.by_own_answers(counts, prior))


MODELS: dict[str, Callable[[VoteSets, int], Fit]] = {
    "Dawid-Skene": fit_plain,
    "bias, noise, random": fit_figures,
    "both: skill_level": fit_both,
}


def compare(drawn: Drawn, people: int) -> dict[str, tuple[float, float]]:
    """Return squared error and share of exact levels of each method, on pairs the rule decides."""
    pairs = len(drawn.truth)
    rule = decide(drawn.pair, drawn.level, pairs, closed=True)
    decided = rule.level != NO_LEVEL
    mean = np.bincount(drawn.pair, drawn.level, pairs) / np.bincount(drawn.pair, minlength=pairs)
    votes, place = skill.group_votes(drawn.pair, drawn.annotator * LEVELS + drawn.level, people)
    levels = {"the rule": rule.level, "mean, nearest": np.floor(mean + 0.5)}
    for name, model in MODELS.items():
        levels[name] = nearest(model(votes, people).probability[place])
    return {
        name: (float((error**2).mean()), float((error == 0).mean()))
        for name, level in levels.items()
        for error in [(level - drawn.truth)[decided]]
    }


def nearest(probability: Floats) -> Floats:
    """Return the level nearest to the mean, halves up."""
    return np.asarray(np.floor(probability @ np.arange(LEVELS) + 0.5))


def print_simulated(campaigns: int, pairs: int, people: int, random: int) -> None:
    """Print the means over simulated campaigns."""
    figures = [
        compare(draw_campaign(seed, pairs, people, random), people) for seed in range(campaigns)
    ]
    print(f"{campaigns} campaigns, {pairs:,} pairs, {people} people, {random} at random")
    print(f"{'':22}{'squared error':>15}{'exact':>9}")
    for name in figures[0]:
        error, exact = np.mean([campaign[name] for campaign in figures], axis=0)
        print(f"{name:22}{error:15.3f}{exact:9.1%}")


def hold_out(judgments: Raw) -> Bools:
    """Mark one vote, drawn at random, of each pair with four; and of a fifth of those with two."""
    rng = np.random.default_rng(0)
    order = np.lexsort((rng.random(len(judgments.pair)), judgments.pair))
    _, first = np.unique(judgments.pair[order], return_index=True)
    votes = np.bincount(judgments.pair)
    chosen = rng.random(len(votes)) < HELD_OUT_OF_TWO
    selected = (votes == ALL_VOTES) | ((votes == FIRST_VOTES) & chosen)
    held = np.zeros(len(judgments.pair), dtype=np.bool_)
    held[order[first[selected]]] = True
    return held


def print_held_out(judgments: Raw) -> None:
    """Print how well the other votes predict the held-out ones."""
    pairs, people = len(judgments.pairs), len(judgments.annotators)
    held = hold_out(judgments)
    rest, own = select_rows(judgments, ~held), select_rows(judgments, held)
    groups = {number: np.bincount(judgments.pair)[own.pair] == number for number in (4, 2)}
    votes, place = skill.group_votes(rest.pair, rest.annotator * LEVELS + rest.level, people)
    mean = np.bincount(rest.pair, rest.level, pairs) / np.bincount(rest.pair, minlength=pairs)
    print(f"held out: {groups[4].sum():,} fourth votes, {groups[2].sum():,} second votes")
    print(f"{'':22}{'log likelihood':>20}{'squared error of the consensus':>34}")
    print(f"{'':22}{'4th':>10}{'2nd':>10}{'4th':>24}{'2nd':>10}")
    print(f"{'mean':22}{'':20}{_errors(mean[own.pair], own, groups)}")
    for name, model in MODELS.items():
        fitted = model(votes, people)
        true = fitted.probability[place[own.pair]]
        predicted = np.einsum("vt,vtl->vl", true, fitted.tables[own.annotator])
        likelihood = np.log(predicted[np.arange(len(predicted)), own.level])
        parts = "".join(f"{likelihood[group].mean():10.3f}" for group in groups.values())
        print(f"{name:22}{parts}{_errors(true @ np.arange(LEVELS), own, groups)}")


def _errors(mean: npt.NDArray[Any], votes: Raw, groups: dict[int, Bools]) -> str:
    error = mean - votes.level
    four, two = ((error[group] ** 2).mean() for group in groups.values())
    return f"{four:24.3f}{two:10.3f}"


def main() -> None:
    """Compare on simulated people, or on a file of raw judgments."""
    options = parse_arguments(
        __doc__, raw=Path, campaigns=50, pairs=1000, people=6, random=1, repeat=3
    )
    if options.raw is None:
        print_simulated(options.campaigns, options.pairs, options.people, options.random)
        return
    judgments = raw.read(options.raw)
    votes = judgments.pair, judgments.annotator, judgments.level, len(judgments.pairs)
    seconds, _ = time_call(lambda: skill.weigh(*votes), options.repeat)
    print(f"{len(judgments.pair):,} judgments of {len(judgments.pairs):,} pairs: {seconds:.2f} s")
    print_held_out(judgments)


if __name__ == "__main__":
    main()
