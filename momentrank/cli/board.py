"""Make a benchmark's page from a folder of runs.

    momentrank board runs --qrels test.qrels --out site 'nDCG(iou=0.5)@10' AxIoU@10

Each run has a YAML file of the same stem: name, authors, link, date, and what the system reads
(reads: [video, sound, subtitles, captions]). The first measure orders the runs; --out gets
index.html, a page for each run with three telling queries, and board.json, all of them or none.
With --hidden, the page has only what keeps the levels secret.
"""

import argparse
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from momentrank.board.entries import read_entries
from momentrank.board.rows import Entry
from momentrank.board.site import check_place, render, write_site
from momentrank.board.standings import Settings, build_board
from momentrank.cli import inputs
from momentrank.cli.compare import add_noise, add_tests, check_tests, load_noise
from momentrank.cli.inputs import provenance
from momentrank.collection.declarations import STRATA
from momentrank.errors import UsageError
from momentrank.formats import Lists
from momentrank.measures.parse import parse_measures
from momentrank.query_groups import LENGTH, Groups, group_queries
from momentrank.scoring import Evaluator


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", type=Path, metavar="RUNS", help="a folder of runs and their YAML")
    parser.add_argument("names", nargs="+", metavar="MEASURE",
                        help="'nDCG(iou=0.5)@10' AxIoU@10; the first one orders the"
                             " runs")  # fmt: skip
    parser.add_argument("--qrels", type=Path, required=True, metavar="QRELS")
    parser.add_argument("--out", type=Path, required=True, metavar="SITE",
                        help="the folder to write; an earlier board in it is replaced")  # fmt: skip
    parser.add_argument("--title", default="Board", metavar="TEXT", help="of the page")
    parser.add_argument("--hidden", action="store_true",
                        help="show only what keeps the levels secret")  # fmt: skip
    inputs.add_convention(parser)
    add_tests(parser)
    add_noise(parser)
    parser.add_argument("--by", metavar="FILE", help=inputs.BY)
    inputs.add_negatives(parser)
    inputs.add_files(parser)
    inputs.add_check(parser)


def run(options: argparse.Namespace) -> int:
    check_tests(options)
    check_place(options.out)
    entries = read_entries(options.runs)
    measures = parse_measures(options.names)
    convention = inputs.convention_of(options)
    source = provenance(options.qrels, convention, options.negatives)
    truth = inputs.load_truth(options, options.qrels)
    asked = measures if options.hidden else inputs.add_judged(measures)
    evaluator = Evaluator(asked, truth, convention)
    inputs.note_left_out(source, evaluator)
    noise = None if options.hidden else load_noise(options, evaluator.truth)
    if noise:
        source["label noise"] = noise.describe()
    settings = Settings(
        options.test, options.rounds, options.confidence, options.seed, noise,
        telling=not options.hidden,
    )  # fmt: skip
    source["tests"] = f"{options.test}: {options.rounds} rounds, seed {options.seed}"

    def read(entry: Entry) -> Lists:
        return inputs.load_for(options, entry.run, evaluator, truth)

    tested = evaluator.measures[: len(set(map(evaluator.convention.resolve, measures)))]
    board = build_board(
        entries, read, evaluator, tested, settings, _group(options, evaluator), source
    )
    by = (options.by or STRATA[0]).partition(":")[0]
    board = replace(board, by=by if by in {*STRATA, LENGTH} else "group")
    if options.hidden:
        from momentrank.board.hidden import conceal, make_key

        board = conceal(board, make_key(options.qrels))
    write_site(options.out, render(board, options.title))
    return 0


def _group(options: argparse.Namespace, evaluator: Evaluator) -> Groups:
    """Return the groups that --by asks for, or the release's strata, if it has them."""
    if options.by:
        return inputs.group(options, evaluator)
    with suppress(UsageError):
        return group_queries(STRATA[0], evaluator.qrels, inputs.warn, options.qrels)
    return {}
