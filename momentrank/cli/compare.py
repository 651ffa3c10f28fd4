"""Compare runs with the first one, query by query, with significance tests.

For each other run: the difference of means with its bootstrap interval, the p-value of a paired
randomisation test before and after Holm's correction, the effect size (Cohen's d for paired
values), and the number of queries that it wins, ties and loses.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from momentrank import significance
from momentrank.cli import inputs
from momentrank.errors import UsageError
from momentrank.measures import Measure
from momentrank.measures.parse import parse_measures
from momentrank.scoring import Evaluator
from momentrank.significance import Comparison

USAGE = "momentrank compare QRELS RUN_A RUN_B [RUN ...] MEASURE [MEASURE ...]"
COLUMNS = ("run", "mean", "difference", "interval", "p", "p (Holm)", "effect", "win/tie/loss")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("qrels", type=Path, metavar="QRELS")
    parser.add_argument("names", nargs="+", metavar="RUN_A RUN_B ... MEASURE",
                        help="runs and measures; every run is compared with RUN_A")  # fmt: skip
    inputs.add_convention(parser)
    parser.add_argument("--rounds", type=int, default=10_000, metavar="N",
                        help="permutations and bootstrap samples (default: 10000)")  # fmt: skip
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C",
                        help="confidence level of the intervals (default: 0.95)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=2024, metavar="N",
                        help="random seed (default: 2024)")  # fmt: skip
    inputs.add_printing(parser, "{measure: [a row per run]}")
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Compare, and print."""
    named = inputs.split_names(options.names)
    measures = parse_measures(named.measures)
    if not named.runs[1:] or not measures:
        raise UsageError(f"at least two runs and a measure are needed: {USAGE}")
    if options.rounds < 1 or options.seed < 0 or not 0 < options.confidence < 1:
        raise UsageError(
            "--rounds must be at least 1, --seed at least 0, and --confidence between 0 and 1"
        )
    if not options.no_judged:
        measures = inputs.add_judged(measures)
    source = inputs.provenance(options.qrels, options.convention)
    evaluator = Evaluator(measures, inputs.load_qrels(options, options.qrels), options.convention)
    scored = {
        path: evaluator.per_query(inputs.load_for(options, path, evaluator)) for path in named.runs
    }
    source["test"] = (
        f"paired randomisation and bootstrap over queries,"
        f" {options.rounds} rounds, seed {options.seed}"
    )
    compared = {measure: _compare(options, measure, scored) for measure in evaluator.measures}
    if options.json:
        content = {
            repr(measure): [row.as_json() for row in rows]
            for measure, (_, rows) in compared.items()
        }
        sys.stdout.write(json.dumps({"momentrank": source, **content}, indent=2) + "\n")
        return 0
    sys.stdout.writelines(inputs.header(source))
    for measure, (queries, rows) in compared.items():
        sys.stdout.write(f"\n{measure!r}, {queries} queries\n")
        _print(options, measure, rows)
    return 0


class Row(NamedTuple):
    """A run's mean and its comparison with the first run, which itself has none."""

    run: str
    mean: float
    comparison: Comparison | None

    def as_json(self) -> dict[str, Any]:
        """Return the run, its mean and its comparison as one object."""
        compared = self.comparison._asdict() if self.comparison else {}
        return {"run": self.run, "mean": self.mean, **compared}


def _compare(
    options: argparse.Namespace, measure: Measure, scored: dict[Path, inputs.PerQuery]
) -> tuple[int, list[Row]]:
    """Return the number of queries, and a row for each run."""
    names = [values[measure][0] for values in scored.values()]
    if any(one != names[0] for one in names):
        raise UsageError(
            "the runs have different queries, and this convention scores only those in the run:"
            " use --convention paper"
        )
    if not names[0]:
        raise UsageError(f"{measure!r}: there are no queries to compare")
    values = [of_run[measure][1] for of_run in scored.values()]
    first, *others = values
    compared = significance.compare(
        first, others, rounds=options.rounds, confidence=options.confidence, seed=options.seed
    )
    rows = zip(scored, values, [None, *compared], strict=True)
    return len(names[0]), [Row(str(path), float(one.mean()), other) for path, one, other in rows]


def _print(options: argparse.Namespace, measure: Measure, rows: list[Row]) -> None:
    sys.stdout.writelines(
        inputs.align_columns([COLUMNS, *(_cells(options, measure, row) for row in rows)])
    )


def _cells(options: argparse.Namespace, measure: Measure, row: Row) -> tuple[str, ...]:
    digits = options.digits
    mean = (row.run, inputs.number(row.mean, digits, measure))
    test = row.comparison
    if test is None:
        return (*mean, *[""] * (len(COLUMNS) - len(mean)))
    return (
        *mean,
        f"{test.difference:+.{digits}f}",
        f"[{test.low:+.{digits}f}, {test.high:+.{digits}f}]",
        f"{test.p:.4g}",
        f"{test.p_holm:.4g}",
        "all alike" if test.effect is None else f"{test.effect:+.3f}",
        f"{test.wins}/{test.ties}/{test.losses}",
    )
