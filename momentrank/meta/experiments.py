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
    """An experiment: how many steps it reports, and the tables that it returns."""

    steps: Callable[[Systems, Settings], int]
    tables: Callable[[Systems, Settings, Done], Tables]


def _at_once(name: str, rows: Callable[[Systems], Iterable[Any]]) -> "Experiment":
    """Return an experiment of one table, without settings, in one step."""

    def tables(systems: Systems, _: Settings, done: Done) -> Tables:
        listed = list(rows(systems))
        done(1)
        return {name: listed}

    return Experiment(lambda *_: 1, tables)


def _sizes(systems: Systems, how: Settings) -> list[int]:
    count = len(systems.values.queries)
    return sorted(set(how.sizes)) or stability.default_sizes(count, overlap=how.overlap)


def _stability(systems: Systems, how: Settings, done: Done) -> Tables:
    curves = stability.measure_stability(
        systems.values,
        _sizes(systems, how),
        trials=how.trials,
        seed=how.seed,
        overlap=how.overlap,
        done=done,
    )
    rows = list(curves)
    return {"stability": rows, "needed": stability.find_needed(rows, how.tau, how.difference)}


def _power(systems: Systems, how: Settings, done: Done) -> Tables:
    rows = separation.measure_power(systems.values, rounds=how.rounds, seed=how.seed, done=done)
    return {"power": list(rows)}


def _axioms(systems: Systems, _: Settings, done: Done) -> Tables:
    return {"axioms": axioms.measure_axioms(systems, done=done)}


def _selection(systems: Systems, how: Settings, done: Done) -> Tables:
    if how.validation is None:
        raise UsageError("selection: name the validation qrels (--val)")
    rows = list(selection.measure_selection(how.validation.values, systems.values))
    done(1)
    return {"selection": rows}


def _label_noise(systems: Systems, how: Settings, done: Done) -> Tables:
    if not how.kinds and not how.judgments:
        raise UsageError("label-noise: name a kind of noise, or raw judgments (--judgments)")
    options: dict[str, Any] = {"copies": how.copies, "seed": how.seed, "done": done}
    rows = list(noise.measure_label_noise(systems, how.kinds, how.variances, **options))
    if how.judgments:
        rows += votes.measure_level_noise(systems, how.judgments, **options)
    return {"label-noise": rows}


def _noisy_truths(_: Systems, how: Settings) -> int:
    return how.copies * (len(how.kinds) * len(how.variances) + bool(how.judgments))


EXPERIMENTS: dict[str, Experiment] = {
    "effectiveness": _at_once(
        "effectiveness", lambda systems: agreement.measure_effectiveness(systems.values)
    ),
    "agreement": _at_once("agreement", lambda systems: agreement.measure_agreement(systems.values)),
    "stability": Experiment(
        lambda systems, how: how.trials * len(_sizes(systems, how)), _stability
    ),
    "power": Experiment(lambda systems, _: len(systems.evaluator.measures), _power),
    "ties": _at_once("ties", lambda systems: separation.measure_ties(systems.values)),
    "axioms": Experiment(lambda systems, _: len(systems.runs), _axioms),
    "selection": Experiment(lambda *_: 1, _selection),
    "label-noise": Experiment(_noisy_truths, _label_noise),
    "estimation": _at_once("estimation", estimation.measure_estimation),
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
        bar = progress(name, experiment.steps(systems, how))
        yield from experiment.tables(systems, how, bar).items()
