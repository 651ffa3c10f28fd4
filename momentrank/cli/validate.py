"""Check qrels, runs, training sets and video corpora in any known format.

    momentrank validate submission.jsonl --like qvhighlights --qrels val.jsonl

A release's manifest.json, train_manifest.json, machine_manifest.json and croissant.json are checked
against the files next to them, by SHA-256. With --like, runs are also checked against a benchmark's
submission rules: format, ids, number of results, times, direction of scores, videos.

The first error in each file is reported with its location; the exit code is then 1.
"""

import argparse
import sys
from pathlib import Path

from momentrank import formats
from momentrank.cli import inputs
from momentrank.cli.inputs import provenance
from momentrank.conventions import CONVENTIONS
from momentrank.errors import MomentRankError
from momentrank.ids import reveal
from momentrank.submission import Findings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--like", dest="convention", choices=CONVENTIONS, metavar="CONVENTION",
                        help="check runs against a benchmark's submission rules:"
                             f" {', '.join(CONVENTIONS)}")  # fmt: skip
    parser.add_argument("--qrels", type=Path, metavar="FILE",
                        help="the runs' qrels, to compare ids and videos")  # fmt: skip
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Check every file; return 1 if any is wrong."""
    truth = None
    if options.qrels is not None:
        truth = inputs.load_truth(options, options.qrels)
    wrong = 0
    for path in options.files:
        try:
            problems = _report(options, path, truth)
        except MomentRankError as exc:
            problems = [str(exc)]
        for problem in problems:
            inputs.warn(problem)
        wrong += bool(problems)
    return 1 if wrong else 0


def _report(options: argparse.Namespace, path: Path, truth: formats.Truth | None) -> list[str]:
    """Print what a file is; return what is wrong with it."""
    content, lists = inputs.examine(options, path, truth)
    levels = ", ".join(f"{n} of level {level}" for level, n in sorted(content.levels.items()))
    sys.stdout.write(f"{reveal(str(path))}: {content.kind} ({content.format}): {content.counted}")
    sys.stdout.write(f": {levels}\n" if levels else "\n")
    sys.stdout.writelines(f"  {reveal(remark)}\n" for remark in content.remarks)
    notes = Findings([], [])
    if content.kind == "run" and (options.convention or truth):
        notes = inputs.find_problems(options, lists, content, truth)
        sys.stdout.writelines(f"  {reveal(remark)}\n" for remark in notes.remarks)
    source = provenance(path, "")
    names = ("momentrank", "qrels_sha256", "release")
    hashes = (f"{name.removeprefix('qrels_')} {source[name]}" for name in names)
    sys.stdout.write(f"  {', '.join(hashes)}\n")
    return [f"{path}: {problem}" for problem in notes.problems]
