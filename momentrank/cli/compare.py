"""Compare runs query by query, with significance tests.

    momentrank compare test.qrels a.run b.run c.run 'nDCG(iou=0.5)@10' AxIoU@10

Prints the mean of each run, marked with the runs that it is significantly better than, and for
each pair of runs the difference of means with its interval, the p-values of a paired
randomisation test, of Student's t-test and of Wilcoxon's signed-rank test, before and after Holm's
correction over all pairs and measures, the effect size (Cohen's d for paired values), and the
number of queries that the second run wins, ties and loses.

With --by, also compares within groups of queries; Holm's correction is then over groups, too.

With --label-noise or --judgments, also prints the range of each difference had others made the
labels: if it may lose its sign there, it is within label noise.

With --unjudged bounds, also prints the bounds of each difference, whatever the levels of unjudged
results. If it may lose its sign there, it is within the bounds: who is better may depend on results
that nobody judged.
"""

import argparse
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from momentrank.cli import arguments, inputs, tables
from momentrank.cli.inputs import provenance
from momentrank.cli.scored import ALL
from momentrank.cli.tables import DASH, Cell, Numbers, Quantity, Row, describe
from momentrank.errors import UsageError
from momentrank.formats.source import count
from momentrank.measures import Measure
from momentrank.measures.parse import parse_measures
from momentrank.query_groups import Groups
from momentrank.scoring import Evaluator, PerQuery
from momentrank.significance import (
    CONFIDENCE,
    FEW,
    ROUNDS,
    TESTS,
    Band,
    Bands,
    Pair,
    as_columns,
    compare_runs,
    iterate_letters,
)
from momentrank.unjudged import BOUNDS

if TYPE_CHECKING:
    from momentrank.formats import Lists, Truth
    from momentrank.meta.band import Noise

P_VALUES = ("randomisation p (Holm)", "t-test p (Holm)", "Wilcoxon p (Holm)")
NOISE, UNJUDGED = "label noise", "unjudged"
NAMES = {NOISE: "noise", UNJUDGED: "unjudged"}
"""Of the columns of CSV and JSON."""
SCALED = ("difference", "low", "high")
"""The fields of a pair in the unit of its measure."""


class Compared(NamedTuple):
    """What is printed: each run's means, and the pairs that were tested."""

    means: dict[str, dict[Measure, float]]
    pairs: list[Pair]
    test: str
    alpha: float
    groups: Mapping[str, Sequence[str]] = MappingProxyType({})
    bands: Mapping[str, Bands] = MappingProxyType({})
    """The ranges of differences, if requested, by what they are under: `NOISE`, `UNJUDGED`."""

    def band(self, kind: str, pair: Pair) -> Band | None:
        """Return the range of a pair's difference; counts and the like have none by unjudged."""
        return self.bands[kind].get((repr(pair.measure), pair.first, pair.second))

    @property
    def letters(self) -> dict[str, str]:
        """Return the letter of each run: a, b, ..., z, aa, ab, ..."""
        return dict(zip(self.means, iterate_letters(), strict=False))

    def surpassed(self, run: str, measure: Measure) -> str:
        """Return the letters of the runs that a run is significantly better than."""
        letters = self.letters
        worse = [letters[name] for name in self._worse(run, measure)]
        return ("," if len(letters) > len(string.ascii_lowercase) else "").join(sorted(worse))

    def _worse(self, run: str, measure: Measure) -> Iterator[str]:
        for pair in self.pairs:
            significant = pair.comparison.is_significant(self.test, self.alpha)
            if pair.measure == measure and not pair.group and significant:
                worse, better = sorted(
                    (pair.first, pair.second), key=lambda name: self.means[name][measure]
                )
                if better == run:
                    yield worse


def show_means(compared: Compared, numbers: Numbers) -> Iterable[Row]:
    """Yield a row per run with its letter, and a column per measure."""
    measures = list(next(iter(compared.means.values())))
    yield ["", "run", *map(repr, measures)]
    columns = []
    for measure in measures:
        values = [means[measure] for means in compared.means.values()]
        cells = numbers.cells(describe(measure), values)
        columns.append(
            [
                cell._replace(above=compared.surpassed(run, measure))
                for run, cell in zip(compared.means, cells, strict=True)
            ]
        )
    for run, *cells in zip(compared.means, *columns, strict=True):
        yield [compared.letters[run], run, *cells]


def show_pairs(compared: Compared, numbers: Numbers) -> Iterable[Row]:
    """Yield a row per measure and pair: the second run's values minus the first one's."""
    group = ["group"] if compared.groups else []
    yield ["measure", *group, "queries", "runs", "difference", "interval", *P_VALUES, "effect",
           "win/tie/loss", *compared.bands]  # fmt: skip
    letters = compared.letters
    for pair in compared.pairs:
        measure, first, second, queries, stats, name = pair
        label = name or ALL
        quantity = describe(measure)
        difference, low, high = (
            numbers.text(quantity, value, "+")
            for value in (stats.difference, stats.low, stats.high)
        )
        tests = [f"{_p(stats.p(test))} ({_p(stats.p_holm(test))})" for test in TESTS]
        effect = DASH if stats.effect is None else f"{stats.effect:+.3f}"
        counts = [f"{stats.wins}/{stats.ties}/{stats.losses}"]
        runs = f"{letters[second]} - {letters[first]}"
        cells = [quantity.name, *(label for _ in group), str(queries), runs, difference]
        cells.append(f"[{low}, {high}]")
        counts += [
            _show_band(compared.band(kind, pair), stats.difference, quantity, numbers)
            for kind in compared.bands
        ]
        yield [Cell(cell) for cell in [*cells, *tests, effect, *counts]]


def _show_band(band: Band | None, difference: float, quantity: Quantity, numbers: Numbers) -> str:
    if band is None:
        return DASH
    low, high = (numbers.text(quantity, value, "+") for value in band)
    return f"[{low}, {high}]{' within' if band.can_turn(difference) else ''}"


def _p(value: float | None) -> str:
    return DASH if value is None else f"{value:.4g}"


def _rows(compared: Compared, numbers: Numbers) -> Iterator[dict[str, Any]]:
    for pair in compared.pairs:
        row, quantity = pair.as_json(), describe(pair.measure)
        scaled = {name: numbers.plain(quantity, row[name]) for name in SCALED}
        ranges: dict[str, float | bool | None] = {}
        for kind in compared.bands:
            band, name = compared.band(kind, pair), NAMES[kind]
            shown = band and Band(*(numbers.scale(quantity, value) for value in band))
            ranges |= as_columns(name, shown, pair.comparison.difference)
        yield {**row, **scaled, **ranges}


def as_json(compared: Compared, numbers: Numbers) -> dict[str, Any]:
    means = {
        run: {repr(m): numbers.plain(describe(m), value) for m, value in values.items()}
        for run, values in compared.means.items()
    }
    return {"means": means, "pairs": list(_rows(compared, numbers))}


USAGE = "momentrank compare QRELS RUN_A RUN_B [RUN ...] MEASURE [MEASURE ...]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", type=Path, metavar="QRELS", help="judged moments, in any format")
    parser.add_argument("names", nargs="+", metavar="RUN|MEASURE",
                        help="two or more runs, compared in all pairs, and measures:"
                             " 'nDCG(iou=0.5)@10', 'AxIoU@10'")  # fmt: skip
    inputs.add_convention(parser)
    parser.add_argument("--baseline", type=Path, metavar="RUN",
                        help="compare every run with this one only")  # fmt: skip
    add_tests(parser)
    add_noise(parser)
    parser.add_argument("--by", metavar="FILE", help=inputs.BY)
    inputs.add_negatives(parser)
    parser.add_argument("--unjudged", choices=[BOUNDS],
                        help="bounds of each difference by what unjudged results"
                             " may be")  # fmt: skip
    inputs.add_printing(parser, "the means of each run, and a row per pair and measure")
    inputs.add_files(parser)
    inputs.add_check(parser)


def add_tests(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--test", choices=TESTS, default=TESTS[0],
                        help=f"the test that decides the marks (default: {TESTS[0]})")  # fmt: skip
    parser.add_argument("--rounds", type=arguments.parse_positive, default=ROUNDS, metavar="N",
                        help=f"permutations and bootstrap samples (default: {ROUNDS})")  # fmt: skip
    parser.add_argument("--confidence", type=float, default=CONFIDENCE, metavar="C",
                        help="confidence level of the intervals; significant means a"
                             f" corrected p below 1 - C (default: {CONFIDENCE})")  # fmt: skip
    inputs.add_seed(parser)


def add_noise(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label-noise", type=arguments.parse_variance, metavar="V",
                        help="boundary noise: the variance of both ends in s^2")  # fmt: skip
    inputs.add_judgments(parser)


def run(options: argparse.Namespace) -> int:
    named = inputs.split_names(options.names)
    paths = list(dict.fromkeys([*([options.baseline] if options.baseline else []), *named.runs]))
    measures = parse_measures(named.measures)
    _check(options, paths, measures)
    convention = inputs.convention_of(options)
    source = provenance(options.qrels, convention, options.negatives)
    truth = inputs.load_truth(options, options.qrels)
    evaluator = Evaluator(
        measures if options.no_judged else inputs.add_judged(measures),
        truth,
        convention,
    )
    groups = inputs.group(options, evaluator)
    inputs.note_left_out(source, evaluator)
    noise = load_noise(options, evaluator.truth)
    if options.unjudged:
        evaluator.assume(options.unjudged)
    scored: dict[str, PerQuery] = {}
    lists_by_run: dict[str, Lists] = {}
    for path in paths:
        lists = inputs.load_for(options, path, evaluator, truth)
        scored[str(path)] = evaluator.per_query(lists)
        if noise or options.unjudged:  # else keep only one run in memory
            lists_by_run[str(path)] = lists
    # Judged, unless requested, is shown but not tested.
    asked = evaluator.measures[: len(set(map(evaluator.convention.resolve, measures)))]
    compared = _compare(options, evaluator, scored, asked, groups)
    source["tests"] = (
        f"paired over queries, two-sided, Holm's correction over"
        f" {count(len(compared.pairs), 'comparison')};"
        f" randomisation and bootstrap: {options.rounds} rounds, seed {options.seed};"
        f" intervals: bootstrap, Student's t below {FEW} queries"
    )
    bands: dict[str, Bands] = {}
    if noise:
        bands[NOISE] = _bands(options, noise, asked, evaluator.truth, lists_by_run)
        source[NOISE] = f"{noise.describe()}; within: the difference may lose its sign"
    if options.unjudged:
        names = dict.fromkeys((pair.first, pair.second) for pair in compared.pairs)
        bands[UNJUDGED] = evaluator.bound_differences(lists_by_run, names)
        source[UNJUDGED] = (
            "bounds of the difference, whatever the levels of unjudged results; within: it may lose"
            " its sign"
        )
    compared = compared._replace(bands=bands)
    _print(options.format or "table", compared, inputs.numbers(options), source)
    return 0


def load_noise(options: argparse.Namespace, truth: "Truth") -> "Noise | None":
    if options.label_noise is None and options.judgments is None:
        return None
    from momentrank.meta.band import Noise

    judgments = inputs.load_judgments(options, truth)
    return Noise(options.label_noise, judgments, seed=options.seed)


def _bands(
    options: argparse.Namespace,
    noise: "Noise",
    measures: Sequence[Measure],
    truth: "Truth",
    lists: Mapping[str, "Lists"],
) -> Bands:
    from momentrank.meta.band import measure_bands
    from momentrank.meta.systems import Systems

    convention = inputs.convention_of(options)
    systems = Systems(Evaluator(measures, truth, convention), lists)
    return measure_bands(systems, noise, options.confidence)


def _compare(
    options: argparse.Namespace,
    evaluator: Evaluator,
    scored: Mapping[str, PerQuery],
    measures: Sequence[Measure],
    groups: Groups,
) -> Compared:
    pairs = compare_runs(
        scored,
        measures,
        baseline=str(options.baseline) if options.baseline else None,
        rounds=options.rounds,
        confidence=options.confidence,
        seed=options.seed,
        groups=groups,
    )
    means = {name: dict(evaluator.totals(of_run)) for name, of_run in scored.items()}
    return Compared(means, pairs, options.test, round(1 - options.confidence, 12), groups)


def _check(options: argparse.Namespace, paths: Sequence[Path], measures: Sequence[Measure]) -> None:
    if not paths[1:] or not measures:
        raise UsageError(f"at least two runs and a measure are needed: {USAGE}")
    check_tests(options)
    for name in ("label_noise", "judgments", "unjudged"):
        if options.by and getattr(options, name) is not None:
            raise UsageError(f"--by: can't be combined with --{name.replace('_', '-')}")


def check_tests(options: argparse.Namespace) -> None:
    if not 0 < options.confidence < 1:
        raise UsageError("--confidence must be between 0 and 1")


def _print(fmt: str, compared: Compared, numbers: Numbers, source: dict[str, str]) -> None:
    if fmt == "json":
        tables.show_json(source, as_json(compared, numbers))
    elif fmt == "csv":
        tables.show(fmt, source, tables.list_records(_rows(compared, numbers), source))
    else:
        source["marks"] = (
            f"^a: better than run a with p < {compared.alpha:g} ({compared.test}, Holm)"
        )
        tables.show(fmt, source, show_means(compared, numbers), show_pairs(compared, numbers))
