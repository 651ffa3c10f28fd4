"""Test whether runs are better than the first one, query by query.

For each other run: the difference of the means with its bootstrap interval, the p of a paired
randomisation test and after Holm's correction, the effect size (Cohen's d of paired values),
and on how many queries it wins, ties and loses.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

from momentrank import significance
from momentrank.cli import inputs
from momentrank.cli.judged import add_judged
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
                        help="the others are compared with RUN_A")  # fmt: skip
    inputs.add_convention(parser)
    parser.add_argument("--rounds", type=int, default=10_000, metavar="N",
                        help="random exchanges, and bootstrap samples (10000)")  # fmt: skip
    parser.add_argument("--confidence", type=float, default=0.95, metavar="C",
                        help="of the intervals (0.95)")  # fmt: skip
    parser.add_argument("--seed", type=int, default=2024, metavar="N",
                        help="the same seed gives the same numbers (2024)")  # fmt: skip
    inputs.add_printing(parser, "{measure: [a row for each run]}")
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Compare, and print."""
    named = inputs.split_names(options.names)
    measures = parse_measures(named.measures)
    if len(named.runs) < 2 or not measures:  # noqa: PLR2004  (one and another)
        raise UsageError(f"two runs or more and a measure are needed: {USAGE}")
    if options.rounds < 1 or options.seed < 0 or not 0 < options.confidence < 1:
        raise UsageError("--rounds must be from 1, --seed from 0, --confidence between 0 and 1")
    if not options.no_judged:
        measures = add_judged(measures)
    source = inputs.provenance(options.qrels, options.convention)
    evaluator = Evaluator(measures, inputs.load_qrels(options, options.qrels), options.convention)
    scored = {
        path: evaluator.per_query(inputs.load_for(options, path, evaluator)) for path in named.runs
    }
    source["test"] = (
        f"paired randomisation and bootstrap over queries,"
        f" {options.rounds} rounds, seed {options.seed}"
    )
    compared = {measure: _compare(options, measure, scored) for measure in measures}
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
    """A run's mean, and how it compares with the first one, which has no comparison."""

    run: str
    mean: float
    found: Comparison | None

    def as_json(self) -> dict[str, Any]:
        """Return what there is as one object."""
        compared = self.found._asdict() if self.found else {}
        return {"run": self.run, "mean": self.mean, **compared}


def _compare(
    options: argparse.Namespace, measure: Measure, scored: dict[Path, inputs.PerQuery]
) -> tuple[int, list[Row]]:
    """Return the number of queries, and a row for each run."""
    names = [values[measure][0] for values in scored.values()]
    if any(one != names[0] for one in names):
        raise UsageError(
            "the runs have different queries, and this convention scores only those of the run:"
            " compare with --convention paper"
        )
    if not names[0]:
        raise UsageError(f"{measure!r}: no query counts")
    values = [of_run[measure][1] for of_run in scored.values()]
    first, *others = values
    compared = significance.compare(
        first, others, rounds=options.rounds, confidence=options.confidence, seed=options.seed
    )
    rows = zip(scored, values, [None, *compared], strict=True)
    return len(names[0]), [Row(str(path), float(one.mean()), found) for path, one, found in rows]


def _print(options: argparse.Namespace, measure: Measure, rows: list[Row]) -> None:
    sys.stdout.writelines(
        inputs.align_columns([COLUMNS, *(_cells(options, measure, row) for row in rows)])
    )


def _cells(options: argparse.Namespace, measure: Measure, row: Row) -> tuple[str, ...]:
    digits = options.digits
    known = (row.run, inputs.number(row.mean, digits, measure))
    if row.found is None:
        return (*known, *[""] * (len(COLUMNS) - len(known)))
    found = row.found
    return (
        *known,
        f"{found.difference:+.{digits}f}",
        f"[{found.low:+.{digits}f}, {found.high:+.{digits}f}]",
        f"{found.p:.4g}",
        f"{found.p_holm:.4g}",
        "all alike" if found.effect is None else f"{found.effect:+.3f}",
        f"{found.wins}/{found.ties}/{found.losses}",
    )
