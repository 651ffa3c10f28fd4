"""Convert qrels or a run to another format.

The input format is detected from the content. If OUT ends in .gz, it is compressed.
"""

import argparse
import sys
from pathlib import Path

from momentrank import formats
from momentrank.cli import inputs
from momentrank.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("out", type=Path, metavar="OUT")
    names = list(dict.fromkeys([*formats.QRELS_WRITTEN, *formats.RUNS_WRITTEN]))
    parser.add_argument("--to", choices=names, required=True, metavar="FORMAT",
                        help=f"qrels: {', '.join(formats.QRELS_WRITTEN)};"
                             f" runs: {', '.join(formats.RUNS_WRITTEN)}")  # fmt: skip
    parser.add_argument(
        "--tag", default="momentrank", help="the run's name, in formats that have one"
    )
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Read one file and write the other."""
    if options.out.exists() and options.out.samefile(options.file):
        raise UsageError(f"{options.out}: input and output must be different files")
    kind = formats.describe(
        options.file,
        time=inputs.read_time_option(options),
        columns=options.columns,
        corpus=options.corpus,
    ).kind
    if kind == "qrels":
        formats.write_qrels(
            options.out, inputs.load_truth(options, options.file).segments, options.to
        )
    elif kind == "run":
        segments = inputs.load_run(options, options.file)
        formats.write_run(options.out, segments, options.to, tag=options.tag)
    else:
        raise UsageError(f"{options.file}: {kind}; only qrels and runs can be converted")
    sys.stderr.write(f"momentrank: {options.out}: {kind}, {options.to}\n")
    return 0
