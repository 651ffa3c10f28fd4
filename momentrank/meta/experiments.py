"""The experiments by name: what each takes, and the table that it returns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from momentrank.errors import UsageError
from momentrank.measures import AxIoU, Measure, R, nDCG
from momentrank.meta import (
    agreement,
    axioms,
    estimation,
    noise,
    selection,
    separation,
    stability,
    votes,
)
from momentrank.meta.systems import Systems
from momentrank.significance import ROUNDS, SEED

Tables = dict[str, list[Any]]
"""Rows, all of one NamedTuple, by the name of the table."""
Done = Callable[[int], object]
CUTOFFS, THRESHOLDS = (1, 5, 10), (0.3, 0.5, 0.7)


def cell_text(value: object, digits: int) -> str:
    """Return a value of a table as text, floats with `digits` digits; None is empty."""
    if value is None:
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def default_measures() -> list[Measure]:
    """Return 21 measures: R and nDCG at three thresholds and cutoffs, and AxIoU."""
    grid = [(iou, cutoff) for iou in THRESHOLDS for cutoff in CUTOFFS]
    by_threshold = [measure(iou=iou) @ cutoff for measure in (R, nDCG) for iou, cutoff in grid]
    return [*by_threshold, *(AxIoU @ cutoff for cutoff in CUTOFFS)]


class Settings(NamedTuple):
    """The experiments' settings; `sizes`: numbers of queries, by default ten."""

    seed: int = SEED
    trials: int = stability.TRIALS
    sizes: Sequence[int] = ()
    overlap: bool = False
    tau: float = stability.TAU
    difference: float = stability.DIFFERENCE
    rounds: int = ROUNDS
    copies: int = noise.COPIES
    kinds: Sequence[str] = noise.KINDS[:1]
    variances: Sequence[float] = noise.VARIANCES
    judgments: votes.Judgments | None = None
    validation: Systems | None = None


class Experiment(NamedTuple):
    """An experiment: the rows of its table, and how many steps it reports; None: it is one."""

    rows: Callable[[Systems, Settings, Done], Iterable[Any]]
    steps: Callable[[Systems, Settings], int] | None = None


def _sizes(systems: Systems, how: Settings) -> list[int]:
    count = len(systems.values.queries)
    return sorted(set(how.sizes)) or stability.default_sizes(count, overlap=how.overlap)


def _stability(systems: Systems, how: Settings, done: Done) -> Iterator[stability.Stability]:
    return stability.measure_stability(
        systems.values,
        _sizes(systems, how),
        trials=how.trials,
        seed=how.seed,
        overlap=how.overlap,
        done=done,
    )


def _power(systems: Systems, how: Settings, done: Done) -> Iterator[separation.Power]:
    return separation.measure_power(systems.values, rounds=how.rounds, seed=how.seed, done=done)


def _selection(systems: Systems, how: Settings, _: Done) -> Iterator[selection.Selection]:
    if how.validation is None:
        raise UsageError("selection: name the validation qrels (--val)")
    return selection.measure_selection(how.validation.values, systems.values)


def _label_noise(systems: Systems, how: Settings, done: Done) -> Iterator[noise.LabelNoise]:
    if not how.kinds and not how.judgments:
        raise UsageError("label-noise: name a kind of noise, or raw judgments (--judgments)")
    options: dict[str, Any] = {"copies": how.copies, "seed": how.seed, "done": done}
    yield from noise.measure_label_noise(systems, how.kinds, how.variances, **options)
    if how.judgments:
        yield from votes.measure_level_noise(systems, how.judgments, **options)


def _noisy_truths(_: Systems, how: Settings) -> int:
    return how.copies * (len(how.kinds) * len(how.variances) + bool(how.judgments))


EXPERIMENTS: dict[str, Experiment] = {
    "effectiveness": Experiment(
        lambda systems, *_: agreement.measure_effectiveness(systems.values)
    ),
    "agreement": Experiment(lambda systems, *_: agreement.measure_agreement(systems.values)),
    "stability": Experiment(
        _stability, lambda systems, how: how.trials * len(_sizes(systems, how))
    ),
    "power": Experiment(_power, lambda systems, _: len(systems.evaluator.measures)),
    "ties": Experiment(lambda systems, *_: separation.measure_ties(systems.values)),
    "axioms": Experiment(
        lambda systems, _, done: axioms.measure_axioms(systems, done=done),
        lambda systems, _: len(systems.runs),
    ),
    "selection": Experiment(_selection),
    "label-noise": Experiment(_label_noise, _noisy_truths),
    "estimation": Experiment(lambda systems, *_: estimation.measure_estimation(systems)),
}


def run_experiments(
    names: Sequence[str],
    systems: Systems,
    how: Settings,
    progress: Callable[[str, int], Done] = lambda *_: int,
) -> Iterator[tuple[str, list[Any]]]:
    """Yield the tables of some of `EXPERIMENTS`, by name; `progress` begins a bar with its steps.

    Raises:
        UsageError: the runs or the settings don't allow an experiment.
    """
    for name in names:
        experiment = EXPERIMENTS[name]
        bar = progress(name, experiment.steps(systems, how) if experiment.steps else 1)
        rows = list(experiment.rows(systems, how, bar))
        if not experiment.steps:
            bar(1)
        yield name, rows
        if name == "stability":
            yield "needed", stability.find_needed(rows, how.tau, how.difference)
