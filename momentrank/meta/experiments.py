"""The experiments by name: what each takes, and the table that it gives."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from momentrank.errors import UsageError
from momentrank.formats import Lists
from momentrank.measures import AxIoU, Judged, Measure, R, nDCG
from momentrank.measures.counts import Count
from momentrank.meta import agreement, separation, stability
from momentrank.meta.values import Values
from momentrank.scoring import Evaluator

Row = NamedTuple
Tables = dict[str, list[Any]]
"""Rows, all of one NamedTuple, by the name of the table."""
Done = Callable[[int], object]
CUTOFFS, THRESHOLDS = (1, 5, 10), (0.3, 0.5, 0.7)


def default_measures() -> list[Measure]:
    """Return 21 measures: R and nDCG at three thresholds and cutoffs, and AxIoU."""
    grid = [(iou, cutoff) for iou in THRESHOLDS for cutoff in CUTOFFS]
    by_threshold = [measure(iou=iou) @ cutoff for measure in (R, nDCG) for iou, cutoff in grid]
    return [*by_threshold, *(AxIoU @ cutoff for cutoff in CUTOFFS)]


def check_measures(measures: Iterable[Measure]) -> None:
    """Check that of each measure a higher value is better.

    Raises:
        UsageError: one counts something.
    """
    for measure in measures:
        if isinstance(measure, Count) or measure.NAME == Judged.NAME:
            raise UsageError(f"{measure!r} does not order runs: name measures of quality")


class Systems:
    """Runs of some systems, and what scores them."""

    def __init__(self, evaluator: Evaluator, runs: Mapping[str, Lists]) -> None:
        """Take an evaluator and each run's lists, read as it asks, by the run's name.

        Raises:
            UsageError: a measure does not order runs.
        """
        check_measures(evaluator.measures)
        self.evaluator, self.runs = evaluator, runs

    @cached_property
    def values(self) -> Values:
        """The value of every measure, run and query."""
        scored = {name: self.evaluator.per_query(lists) for name, lists in self.runs.items()}
        return Values.build(scored, self.evaluator.measures)


class Settings(NamedTuple):
    """How the experiments are made; `sizes`: numbers of queries, by default ten."""

    seed: int = 2024
    trials: int = stability.TRIALS
    sizes: Sequence[int] = ()
    overlap: bool = False
    tau: float = stability.TAU
    difference: float = stability.DIFFERENCE
    rounds: int = 10_000


class Experiment(NamedTuple):
    """An experiment: how many steps it tells of, and the tables that it gives."""

    steps: Callable[[Systems, Settings], int]
    tables: Callable[[Systems, Settings, Done], Tables]


def _sizes(systems: Systems, how: Settings) -> list[int]:
    count = len(systems.values.queries)
    return sorted(set(how.sizes)) or stability.default_sizes(count, overlap=how.overlap)


def _agreement(systems: Systems, _: Settings, done: Done) -> Tables:
    rows = list(agreement.measure_agreement(systems.values))
    done(1)
    return {"agreement": rows}


def _stability(systems: Systems, how: Settings, done: Done) -> Tables:
    found = stability.measure_stability(
        systems.values,
        _sizes(systems, how),
        trials=how.trials,
        seed=how.seed,
        overlap=how.overlap,
        done=done,
    )
    rows = list(found)
    return {"stability": rows, "needed": stability.find_needed(rows, how.tau, how.difference)}


def _power(systems: Systems, how: Settings, done: Done) -> Tables:
    found = separation.measure_power(systems.values, rounds=how.rounds, seed=how.seed, done=done)
    return {"power": list(found)}


def _ties(systems: Systems, _: Settings, done: Done) -> Tables:
    rows = list(separation.measure_ties(systems.values))
    done(1)
    return {"ties": rows}


EXPERIMENTS: dict[str, Experiment] = {
    "agreement": Experiment(lambda *_: 1, _agreement),
    "stability": Experiment(
        lambda systems, how: how.trials * len(_sizes(systems, how)), _stability
    ),
    "power": Experiment(lambda systems, _: len(systems.evaluator.measures), _power),
    "ties": Experiment(lambda *_: 1, _ties),
}


def run_experiments(
    names: Sequence[str],
    systems: Systems,
    how: Settings,
    progress: Callable[[str, int], Done] = lambda *_: int,
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the tables of some of `EXPERIMENTS`, by name; `progress` begins a bar of so many steps.

    Raises:
        UsageError: the runs or the settings don't allow an experiment.
    """
    for name in names:
        one = EXPERIMENTS[name]
        yield from one.tables(systems, how, progress(name, one.steps(systems, how))).items()
