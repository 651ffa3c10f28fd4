"""Show one query's ranking beside its judged moments: matches, IoUs and gains.

Like Figure 7 of the TVR-Ranking paper, as text; with --html, as a page with a timeline per
video.
"""

import argparse
import sys
from pathlib import Path

from momentrank.cli import inputs, tables
from momentrank.cli.page import page
from momentrank.conventions import PAPER
from momentrank.errors import UsageError
from momentrank.explanation import DASH, Explanation, JudgedSegment, RankedResult, explain
from momentrank.ids import decode_id, own_ids
from momentrank.matching.aligned import restore_own_ids


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("qrels", type=Path, metavar="QRELS")
    parser.add_argument("run_file", type=Path, metavar="RUN")
    parser.add_argument("query", metavar="QUERY", help="the query's id")
    parser.add_argument("--iou", type=float, default=0.5, metavar="MU",
                        help="IoU threshold (default: 0.5)")  # fmt: skip
    parser.add_argument("-k", "--cutoff", type=int, default=10, metavar="K",
                        help="number of results to show (default: 10)")  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FILE", help="write an HTML page")
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Explain, and print."""
    if not 0 <= options.iou <= 1 or options.cutoff < 1:
        raise UsageError("--iou must be from 0 to 1, and --cutoff at least 1")
    source = inputs.provenance(options.qrels, PAPER)
    qrels = inputs.load_qrels(options, options.qrels)
    listed = inputs.load_run(options, options.run_file, options.cutoff)
    listed = restore_own_ids(listed, qrels)
    query = options.query if options.query in qrels.queries else decode_id(options.query)
    query = own_ids([query], qrels.queries).get(query, query)
    if query not in listed.queries:
        inputs.warn(f"{options.run_file}: the run has no query {query!r}")
    explanation = explain(qrels, listed, query, options.iou, options.cutoff)
    if options.html:
        options.html.write_text(page(explanation, source), encoding="utf-8")
    else:
        sys.stdout.write(text(explanation, source))
    return 0


def text(explanation: Explanation, source: dict[str, str]) -> str:
    """Return the explanation as text."""
    title = f"\nquery {explanation.query}, IoU >= {explanation.threshold:g}\n"
    counts = f"{explanation.judged} of the first {len(explanation.ranking)} results are judged\n\n"
    ranking = tables.align_columns([RANKING, *(_ranking_row(row) for row in explanation.ranking)])
    judged = [_truth_row(number, row) for number, row in enumerate(explanation.truth, start=1)]
    truth = tables.align_columns([TRUTH, *judged])
    return "".join([*tables.header(source, "table"), title, counts, *ranking, "\n", *truth])


RANKING = ("rank", "video", "start", "end", "took", "IoU", "level", "gain/log2", "nDCG so far")
TRUTH = ("", "video", "start", "end", "level", "taken by rank")


def _ranking_row(row: RankedResult) -> tuple[str, ...]:
    times = (f"{row.start:.2f}", f"{row.end:.2f}")
    return (str(row.rank), row.video, *times, *row.took, f"{row.gain:.4f}", f"{row.ndcg:.4f}")


def _truth_row(number: int, row: JudgedSegment) -> tuple[str, ...]:
    times = (f"{row.start:.2f}", f"{row.end:.2f}")
    return (f"#{number}", row.video, *times, str(row.level), str(row.rank or DASH))
