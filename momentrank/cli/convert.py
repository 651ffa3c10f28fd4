"""Convert qrels or a run to another format.

    momentrank convert predictions.json my.run --to segments

The input format is detected from the content. If OUT ends in .gz, it is compressed.
"""

import argparse
import sys
from pathlib import Path

from momentrank.cli import inputs
from momentrank.formats.write import QRELS_WRITTEN, RUNS_WRITTEN, convert


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="qrels or a run")
    parser.add_argument("out", type=Path, metavar="OUT", help="the file to write")
    names = list(dict.fromkeys([*QRELS_WRITTEN, *RUNS_WRITTEN]))
    parser.add_argument("--to", choices=names, required=True, metavar="FORMAT",
                        help=f"qrels: {', '.join(QRELS_WRITTEN)};"
                             f" runs: {', '.join(RUNS_WRITTEN)}")  # fmt: skip
    parser.add_argument(
        "--tag", default="momentrank", help="the run's name, in formats that have one"
    )
    parser.add_argument("--qrels", type=Path, metavar="FILE",
                        help="the qrels, if a run names no queries or videos")  # fmt: skip
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    truth = inputs.load_truth(options, options.qrels) if options.qrels else None
    content, lists = inputs.examine(options, options.file, truth)
    content.warn(options.file, inputs.warn)
    convert(content, lists, (options.file, options.out), options.to, options.tag)
    sys.stderr.write(f"momentrank: wrote {options.out} ({content.kind}, {options.to} format)\n")
    return 0
