"""Hold a machine's levels against people's: what they may be trusted with, and what not.

    python -m annotation.calibration --people raw_annotation.csv --machine machine.csv
        [--pairs pairs.csv | --judged val.json test.json] [--epsilon E] [--json] [--lead FOLDER]

It reads votes (pair_id,worker,relevance) and a machine's levels (pair_id,level) of any collection.
"""

import argparse
import json
import sys
from functools import partial
from pathlib import Path

from annotation.machine.calibrate import calibrate
from annotation.machine.raw_files import compare_files
from annotation.machine.text import text
from pipeline.core import cli, csv_files
from pipeline.core.people_sections import Calibration

USUAL = Calibration(
    seed=2024,
    resamples=1000,
    confidence=0.95,
    epsilon=0.15,
    min_pairs=100,
    max_failed=0.05,
    max_same=0.9,
    max_bias=0.3,
    min_difference=2,
    runs=[],
)
"""What params.yaml says too; a collection's files are read outside of any project."""


def calibrate_files(options: argparse.Namespace) -> None:
    """Print what files say of a machine's levels."""
    compared = compare_files(options.people, options.machine, options.pairs, options.judged)
    params = USUAL.model_copy(update={"epsilon": options.epsilon})
    result = calibrate(compared.panel, compared.answers, params)
    if options.lead:
        csv_files.write_csv(options.lead / "calibration.csv", result.annotators)
    as_json = json.dumps(result.figures, indent=2, allow_nan=False) + "\n"
    as_text = text(result.figures, by_query=compared.by_query)
    sys.stdout.write(as_json if options.json else as_text)


def _parser() -> argparse.ArgumentParser:
    parser = cli.parser("Without --people it reads params.yaml in the current folder.")
    add = parser.add_argument
    add("--people", type=Path, metavar="FILE", help="raw judgments of any collection")
    add("--machine", type=Path, metavar="FILE", help="a machine's levels of its pairs")
    add("--pairs", type=Path, metavar="FILE", help="the query of each pair")
    add("--judged", type=Path, nargs="+", default=[], metavar="FILE", help="judged moments")
    add("--epsilon", type=cli.share, default=USUAL.epsilon, help="what a person costs (0.15)")
    add("--json", action="store_true", help="print JSON; what is not defined is null")
    add("--lead", type=Path, metavar="FOLDER", help="write the figures of each person there")
    return parser


if __name__ == "__main__":
    cli.run_command(partial(calibrate_files, _parser().parse_args()))
