"""Check qrels, runs, training sets and video corpora in any known format.

A release's manifest.json, train_manifest.json and croissant.json are checked against the files
beside them, by SHA-256.

The first error in each file is reported with its place; the exit code is then 1.
"""

import argparse
import sys
from pathlib import Path

from momentrank import formats
from momentrank.cli import inputs
from momentrank.errors import MomentRankError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    inputs.add_times(parser)


def run(options: argparse.Namespace) -> int:
    """Check every file; return 1 if any is wrong."""
    wrong = 0
    for path in options.files:
        try:
            content = formats.describe(
                path,
                time=inputs.read_time_option(options),
                columns=options.columns,
                corpus=options.corpus,
            )
        except MomentRankError as exc:
            sys.stderr.write(f"momentrank: {exc}\n")
            wrong += 1
            continue
        levels = ", ".join(f"{n} of level {level}" for level, n in sorted(content.levels.items()))
        sys.stdout.write(f"{path}: {content.kind} ({content.format}): {content.counted}")
        sys.stdout.write(f": {levels}\n" if levels else "\n")
        sys.stdout.writelines(f"  {remark}\n" for remark in content.remarks)
        source = inputs.provenance(path, "")
        names = ("momentrank", "qrels_sha256", "release")
        parts = (f"{name.removeprefix('qrels_')} {source[name]}" for name in names)
        sys.stdout.write(f"  {', '.join(parts)}\n")
    return 1 if wrong else 0
