"""Show one query's ranking beside its ground truth: what took what, with which IoU and gain.

As Figure 7 of the TVR-Ranking paper, in text, or with --html as a page with a time line for
each video.
"""

import argparse
import sys
from pathlib import Path

from momentrank.cli import inputs
from momentrank.cli.page import page
from momentrank.conventions import PAPER
from momentrank.errors import UsageError
from momentrank.explanation import DASH, Explanation, JudgedSegment, RankedResult, explain
from momentrank.ids import decode_id, own_ids
from momentrank.matching.own_ids import restore_own_ids


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("qrels", type=Path, metavar="QRELS")
    parser.add_argument("run_file", type=Path, metavar="RUN")
    parser.add_argument("query", metavar="QUERY", help="the query's id")
    parser.add_argument("--iou", type=float, default=0.5, metavar="MU",
                        help="threshold of the IoU (0.5)")  # fmt: skip
    parser.add_argument("-k", "--cutoff", type=int, default=10, metavar="K",
                        help="so many results are shown (10)")  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page")
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Explain, and print."""
    if not 0 <= options.iou <= 1 or options.cutoff < 1:
        raise UsageError("--iou must be from 0 to 1, --cutoff 1 or more")
    source = inputs.provenance(options.qrels, PAPER)
    qrels = inputs.load_qrels(options, options.qrels)
    listed = inputs.load_run(options, options.run_file, options.cutoff)
    listed = restore_own_ids(listed, qrels)
    query = options.query if options.query in qrels.queries else decode_id(options.query)
    query = own_ids([query], qrels.queries).get(query, query)
    if query not in listed.queries:
        inputs.warn(f"{options.run_file}: the run lacks the query {query!r}")
    found = explain(qrels, listed, query, options.iou, options.cutoff)
    if options.html:
        options.html.write_text(page(found, source), encoding="utf-8")
    else:
        sys.stdout.write(text(found, source))
    return 0


def text(found: Explanation, source: dict[str, str]) -> str:
    """Return the explanation as text."""
    asked = f"\nquery {found.query}, IoU >= {found.threshold:g}\n"
    judged = f"{found.judged} of the first {len(found.ranking)} results are judged\n\n"
    ranking = inputs.align_columns([RANKING, *(_ranking_row(row) for row in found.ranking)])
    known = [_truth_row(number, row) for number, row in enumerate(found.truth, start=1)]
    truth = inputs.align_columns([TRUTH, *known])
    return "".join([*inputs.header(source), asked, judged, *ranking, "\n", *truth])


RANKING = ("rank", "video", "start", "end", "took", "IoU", "level", "gain/log2", "nDCG so far")
TRUTH = ("", "video", "start", "end", "level", "taken by rank")


def _ranking_row(row: RankedResult) -> tuple[str, ...]:
    times = (f"{row.start:.2f}", f"{row.end:.2f}")
    return (str(row.rank), row.video, *times, *row.took, f"{row.gain:.4f}", f"{row.ndcg:.4f}")


def _truth_row(number: int, row: JudgedSegment) -> tuple[str, ...]:
    times = (f"{row.start:.2f}", f"{row.end:.2f}")
    return (f"#{number}", row.video, *times, str(row.level), str(row.rank or DASH))
