"""Find what gives a published number, if you get another one.

    momentrank reconcile val.jsonl my.jsonl 'R@1,0.5' --published 53.94

Papers and scripts differ in more than they say. This tries, on your files:

  the measure   by every convention; by `paper` also with IoU > and >= the threshold, and both gains
  the queries   with those that the run lacks as 0 or left out; the same for those without a
                relevant moment
  the results   after non-maximum suppression (NMS) at 0.4 to 0.7; rounded to clips of 2 s, seconds
  the moments   merged where they overlap; from a query's first start to its last end; the first
  the units     clips of 2 s, frames (if that brings results and moments nearer); percent, fraction

and prints what gives the number to its digits, what was varied, or else the nearest values. At most
one change of the files is made at a time. Without a measure, it tries those that the qrels allow:
R@1|5|10 at IoU 0.3|0.5|0.7, mIoU, mAP, nDCG, VR and the benchmark's own table.

Of many values, some match by chance: the head says how many were tried, and how many matches the
values close by let expect; `?` marks what may be chance. Name the measure, and all digits.
"""

import argparse
import re
from pathlib import Path

from momentrank.cli import inputs, tables
from momentrank.cli.progress import Progress
from momentrank.cli.tables import Row
from momentrank.conventions.base import Convention
from momentrank.formats.benchmarks.tvr import TASKS
from momentrank.formats.source import count
from momentrank.measures.parse import parse_measures
from momentrank.reconciliation import Published, Reconciliation, reconcile
from momentrank.scoring import Evaluator

SHOWN, MORE_DIGITS = 10, 2


class WholeRun(Convention):
    """What reads the whole lists of each task, whether or not they meet the qrels."""

    name, source = "reconcile", ""
    tasks, needs_match = TASKS, False


def parse_published(text: str) -> Published:
    """Parse a number as it was printed."""
    if not re.fullmatch(r"\d*\.?\d+", text):
        raise argparse.ArgumentTypeError(f"must be a number such as 53.94 or .539, not {text!r}")
    return Published(float(text), 10.0 ** -len(text.partition(".")[2]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", type=Path, metavar="QRELS", help="judged moments, in any format")
    parser.add_argument("file", type=Path, metavar="RUN", help="a run, in any format")
    parser.add_argument("names", nargs="*", metavar="MEASURE", help="what the number may be")
    parser.add_argument("--published", type=parse_published, required=True, metavar="NUMBER",
                        help="the number, with all its digits: 53.94")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print all combinations as JSON")
    inputs.add_negatives(parser)
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    measures = parse_measures(options.names)
    truth = inputs.load_truth(options, options.qrels)
    lists = inputs.load_for(options, options.file, Evaluator([], truth, WholeRun()), truth)
    found = reconcile(truth, lists, measures, options.published, Progress().begin)
    source = inputs.provenance(options.qrels, "each in turn", options.negatives)
    source |= {"tried": describe(found)}
    if options.json:
        rows = [each._asdict() for each in found.combinations]
        tables.show_json(source, {"doubtful": found.is_doubtful, "combinations": rows})
    else:
        tables.show("table", source, _rows(found, options.published))
    return 0


def describe(found: Reconciliation) -> str:
    """Return how much was tried, and what chance would give."""
    doubt = " (?: may be chance)" if found.is_doubtful else ""
    return (
        f"{count(found.tried, 'combination')}, {count(found.values, 'different value')}; matching:"
        f" {found.matching}, expected by chance: {found.by_chance:.2g}{doubt}"
    )


def _rows(found: Reconciliation, published: Published) -> list[Row]:
    digits = len(f"{published.step:.15g}".partition(".")[2]) + MORE_DIGITS
    head = "gives it" if found.matching else "nearest"
    rows: list[Row] = [(head, "value", "distance", "convention", "varied")]
    mark = " ?" if found.is_doubtful else ""
    for each in found.combinations[:SHOWN]:
        value, distance = (f"{number:.{digits}f}" for number in (each.value, each.distance))
        varied = "; ".join(each.varied) or tables.DASH
        rows.append((each.measure + mark, value, distance, each.convention, varied))
    if len(found.combinations) > SHOWN and found.matching:
        rows.append((f"and {len(found.combinations) - SHOWN} more (--json)", "", "", "", ""))
    return rows
