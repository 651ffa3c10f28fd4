"""Show one query's ranking next to its judged moments, as a measure sees them.

    momentrank explain test.qrels my.run q1 'nDCG(iou=0.5)@10' --html q1.html

Lists each result with the judged moment that it matched, the IoU, the level, whether it is
relevant, its gain, and the measure's value if the list ended there; with --html, as a page with a
timeline per video (Figure 7 of the TVR-Ranking paper).
"""

import argparse
import sys
from pathlib import Path

from momentrank.cli import inputs, tables
from momentrank.cli.inputs import provenance
from momentrank.errors import UsageError
from momentrank.explanation import default_measure, explain
from momentrank.ids import decode_id, own_ids, reveal
from momentrank.measures.parse import parse_measure
from momentrank.rankings import COLUMNS, DASH, Explanation, JudgedSegment, RankedResult, page
from momentrank.scoring import Evaluator
from momentrank.segments import find_null

SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", type=Path, metavar="QRELS", help="judged moments, in any format")
    parser.add_argument("run_file", type=Path, metavar="RUN", help="a run, in any format")
    parser.add_argument("query", metavar="QUERY", help="the query's id")
    parser.add_argument("measure", nargs="?", metavar="MEASURE",
                        help="default: nDCG(iou=0.5)@10, or the convention's own")  # fmt: skip
    inputs.add_convention(parser)
    parser.add_argument("-k", "--results", type=int, metavar="K",
                        help="number of results to show (default: the cutoff, or 10)")  # fmt: skip
    parser.add_argument("--html", type=Path, metavar="FILE", help="write an HTML page")
    inputs.add_negatives(parser)
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    if options.results is not None and options.results < 1:
        raise UsageError("--results must be at least 1")
    convention = inputs.convention_of(options)
    measure = parse_measure(options.measure) if options.measure else default_measure(convention)
    source = provenance(options.qrels, convention, options.negatives)
    truth = inputs.load_truth(options, options.qrels)
    evaluator = Evaluator([measure], truth, convention)
    qrels = evaluator.qrels
    lists = inputs.load_for(options, options.run_file, evaluator, truth)
    listed = lists[evaluator.convention.list_of(measure, lists)]
    query = options.query if options.query in qrels.queries else decode_id(options.query)
    query = own_ids([query], qrels.queries).get(query, query)
    if query not in listed.queries and query not in find_null(qrels):  # silence is an answer
        inputs.warn(f"{options.run_file}: the run has no query {query!r}")
    shown = options.results or measure.params.get("cutoff") or SHOWN
    explanation = explain(qrels, listed, query, measure, convention, shown)
    if options.html:
        options.html.write_text(page(explanation, source), encoding="utf-8")
    else:
        sys.stdout.write(text(explanation, source))
    return 0


def text(explanation: Explanation, source: dict[str, str]) -> str:
    results = [(str(row.rank), *_moment_cells(row), *row.cells) for row in explanation.ranking]
    ranking = tables.align_columns([RANKING, *results])
    judged = [
        (f"#{number}", *_moment_cells(row), str(row.level), ", ".join(map(str, row.ranks)) or DASH)
        for number, row in enumerate(explanation.truth, start=1)
    ]
    truth = tables.align_columns([TRUTH, *judged])
    lines = [f"\n{reveal(line)}\n" for line in (explanation.summary, explanation.counts)]
    return "".join([*tables.header(source, "table"), *lines, "\n", *ranking, "\n", *truth])


RANKING = ("rank", "video", "start", "end", *COLUMNS)
TRUTH = ("", "video", "start", "end", "level", "matched by rank")


def _moment_cells(row: RankedResult | JudgedSegment) -> tuple[str, str, str]:
    return row.video, f"{row.start:.2f}", f"{row.end:.2f}"
