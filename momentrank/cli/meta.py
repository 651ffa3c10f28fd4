"""Examine the measures: which agree, are stable, or distinguish runs.

The experiments of Togashi et al. (AxIoU, CVPR 2022) on any qrels and runs:

  effectiveness  the mean of each run by each measure
  agreement      tau-b and tau_ap between the orders of the runs by every two measures
  stability      tau-b between the orders on two disjoint halves of queries, at several sizes;
                 and the queries needed for a tau-b, or to trust a difference
  power          the share of pairs of runs with p < .05 in a paired randomisation test
  ties           the share of queries on which all runs have the same value
  axioms         INV-k and MON-k on these runs, with an example where a measure breaks them
  label-noise    how far the means would move had others drawn the boundaries or, with --judgments,
                 given the levels
  estimation     theoretical bias, variance and MSE of AxIoU@1 and R@1 if IoUs were noisy
  selection      with --val: choose a run by each measure on validation; how good it is here

    momentrank meta val.jsonl a.run b.run c.run --only stability --tau 0.9 AxIoU@5 'R@1,0.5'

Default measures: R and nDCG at IoU 0.3, 0.5, 0.7 and cutoffs 1, 5, 10, and AxIoU at the cutoffs.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from momentrank import conventions
from momentrank.cli import arguments, inputs, tables
from momentrank.cli.inputs import provenance
from momentrank.errors import UsageError
from momentrank.measures import Measure
from momentrank.measures.parse import parse_measures
from momentrank.scoring import Evaluator
from momentrank.significance import ROUNDS

if TYPE_CHECKING:  # imported when needed: other verbs, and --help, do without
    from momentrank.formats import Truth
    from momentrank.meta.experiments import Settings, Tables
    from momentrank.meta.systems import Systems

NAMES = (
    *("effectiveness", "agreement", "stability", "power", "ties"),
    *("axioms", "label-noise", "estimation"),
)
SELECTION = "selection"
NOISE = ("ends", "written", "none")
USAGE = "momentrank meta QRELS RUN RUN [RUN ...] [MEASURE ...]"
DIGITS = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", type=Path, metavar="QRELS", help="judged moments, in any format")
    parser.add_argument("names", nargs="+", metavar="RUN|MEASURE",
                        help="two or more runs, and measures: 'nDCG(iou=0.5)@10'")  # fmt: skip
    inputs.add_convention(parser)
    parser.add_argument("--only", type=_names, metavar="NAME,...",
                        help="some of the experiments (default: all possible ones)")  # fmt: skip
    inputs.add_seed(parser)
    parser.add_argument("--trials", type=arguments.parse_positive, default=5_000, metavar="N",
                        help="stability: pairs of halves per size (default: 5000)")  # fmt: skip
    parser.add_argument("--sizes", type=arguments.parse_positives, default=[], metavar="N,...",
                        help="stability: queries in a half (default: ten sizes)")  # fmt: skip
    parser.add_argument("--overlap", action="store_true",
                        help="stability: draw both halves from all queries")  # fmt: skip
    parser.add_argument("--tau", type=float, default=0.9, metavar="T",
                        help="stability: the target tau-b (default: 0.9)")  # fmt: skip
    parser.add_argument("--difference", type=float, default=0.05, metavar="D",
                        help="stability: the difference of means to trust, at 5 %% of swaps"
                             " (default: 0.05)")  # fmt: skip
    parser.add_argument("--rounds", type=arguments.parse_positive, default=ROUNDS, metavar="N",
                        help=f"power: permutations (default: {ROUNDS})")  # fmt: skip
    parser.add_argument("--noise", action="append", choices=NOISE, metavar="KIND",
                        help="label-noise: ends (start and end normal), written (start normal,"
                             " length exponential), none (levels only); may be repeated"
                             " (default: ends)")  # fmt: skip
    parser.add_argument("--variances", type=arguments.parse_variances, metavar="V,...",
                        default=[1.0, 2.0, 3.0, 4.0],
                        help="label-noise: in square seconds (default: 1,2,3,4)")  # fmt: skip
    parser.add_argument("--copies", type=arguments.parse_positive, default=100, metavar="N",
                        help="label-noise: noisy truths per variance (default: 100)")  # fmt: skip
    inputs.add_judgments(parser)
    parser.add_argument("--val", type=Path, metavar="QRELS", help="selection: the validation qrels")
    parser.add_argument("--val-runs", metavar="RUN,...",
                        help="selection: the validation runs, in the order of the others"
                             " (default: the same files)")  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write a page with figures")
    parser.add_argument("--json", action="store_true", help="print JSON, not TSV")
    inputs.add_negatives(parser)
    inputs.add_files(parser)
    inputs.add_check(parser)


def run(options: argparse.Namespace) -> int:
    from momentrank.cli.progress import Progress
    from momentrank.meta import experiments

    named = inputs.split_names(options.names)
    if not named.runs[1:]:
        raise UsageError(f"at least two runs are needed, to compare their order: {USAGE}")
    if options.html and not options.html.parent.is_dir():
        raise UsageError(f"--html: {options.html.parent}: no such folder")
    measures = _measures(named.measures, inputs.convention_of(options))
    truth = inputs.load_truth(options, options.qrels)
    systems = _read(options, truth, measures, named.runs)
    how = _settings(options, systems.evaluator.truth, measures, named.runs)
    chosen = options.only or [*NAMES, *([SELECTION] if options.val else [])]
    results = dict(experiments.run_experiments(chosen, systems, how, Progress().begin))
    source = provenance(options.qrels, inputs.convention_of(options), options.negatives)
    source |= {"runs": ", ".join(systems.runs), "queries": str(len(systems.values.queries))}
    inputs.note_left_out(source, systems.evaluator)
    source |= {"seed": str(options.seed), "draws": _describe_draws(options)}
    if options.json:
        objects = {name: [row._asdict() for row in rows] for name, rows in results.items()}
        tables.show_json(source, objects)
    else:
        sys.stdout.writelines(as_tsv(results, source))
    if options.html:
        from momentrank.meta.page import write_page

        write_page(options.html, results, source)
        inputs.warn(f"wrote {options.html}")
    return 0


def _describe_draws(options: argparse.Namespace) -> str:
    """Return how much was drawn, which a seed alone does not show."""
    halves = "sets" if options.overlap else "disjoint sets"
    return (
        f"{options.trials:,} pairs of {halves} for each size; {options.rounds:,} permutations;"
        f" {options.copies:,} noisy truths for each noise"
    )


def _measures(names: list[str], convention: str) -> list[Measure]:
    from momentrank.meta.experiments import default_measures

    if not names and convention != conventions.PAPER:
        raise UsageError(f"name the measures to examine with --convention {convention}")
    return parse_measures(names) or default_measures()


def _read(
    options: argparse.Namespace, truth: "Truth", measures: list[Measure], paths: list[Path]
) -> "Systems":
    from momentrank.meta.systems import Systems

    convention = conventions.get(inputs.convention_of(options))
    evaluator = Evaluator(measures, truth, convention)
    runs = {str(path): inputs.load_for(options, path, evaluator, truth) for path in paths}
    return Systems(evaluator, runs)


def _settings(
    options: argparse.Namespace, truth: "Truth", measures: list[Measure], paths: list[Path]
) -> "Settings":
    from momentrank.meta.experiments import Settings

    if not -1 <= options.tau <= 1 or not options.difference > 0:
        raise UsageError("--tau must be from -1 to 1, and --difference above 0")
    kinds = [kind for kind in dict.fromkeys(options.noise or NOISE[:1]) if kind != NOISE[-1]]
    fields = {name: value for name, value in vars(options).items() if name in Settings._fields}
    judgments = inputs.load_judgments(options, truth)
    validation = _validation(options, measures, paths) if options.val else None
    more = {"kinds": kinds, "judgments": judgments, "validation": validation}
    return Settings(**{**fields, **more})


def _validation(
    options: argparse.Namespace, measures: list[Measure], paths: list[Path]
) -> "Systems":
    if options.val_runs:
        paths = [Path(name) for name in options.val_runs.split(",")]
    if len(set(paths)) < len(paths):
        raise UsageError("--val-runs: a run is given twice")
    return _read(options, inputs.load_truth(options, options.val), measures, paths)


def as_tsv(results: "Tables", source: Mapping[str, str]) -> Iterator[str]:
    """Yield each table with its name above it and its columns in the first line."""
    from momentrank.meta.experiments import cell_text

    yield from tables.header(source, "table")
    for name, rows in results.items():
        yield f"\n# table: {name}\n"
        if rows:
            yield "\t".join(rows[0]._fields) + "\n"
        for row in rows:
            yield "\t".join(cell_text(value, DIGITS) for value in row) + "\n"


def _names(text: str) -> list[str]:
    names = (*NAMES, SELECTION)
    if unknown := [name for name in text.split(",") if name not in names]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not one of {', '.join(names)}")
    return text.split(",")
