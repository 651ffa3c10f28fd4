"""Score runs against qrels.

    momentrank evaluate test.qrels my.run 'nDCG(iou=0.5)@10' 'R@1,0.7'
    momentrank evaluate val.jsonl submission.jsonl --convention qvhighlights

By default, it prints the convention's own: a benchmark's table with the benchmark's names, or
nDCG(iou=0.3|0.5|0.7)@10|20|40. One run prints trec_eval's three columns: measure, query, value;
`all` is the mean over queries (for counts, the sum). Several runs or groups print a table in which
the best values are marked. Each nDCG@K is accompanied by Judged@K, the share of its results that
people have judged. Queries without a relevant moment are left out, and counted, except by measures
of silence: NullAcc, AUROC, AUARC and nDCG(silence=True).

With --unjudged, each value is followed by a second one: the highest that the unjudged results
could make it (bounds), or what an audit's rates let expect (docs/scoring.md, Unjudged results). One
line says what noise in the boundaries of the judged moments does to nDCG(iou=0.7)@10; it also comes
(on stderr) if the qrels are a release's.

With --machine, each mean is over all queries of MACHINE, of which people judged a random
sample: from both, unbiased whatever the machine's faults, and from people alone. `worth` is how
many queries judged by people alone would give as narrow an interval.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from momentrank import conventions
from momentrank.cli import inputs, machine, scored, tables
from momentrank.cli.inputs import provenance
from momentrank.cli.scored import Marks, Results, Scored, score, score_table
from momentrank.cli.tables import Numbers, Quantity
from momentrank.conventions.base import Convention
from momentrank.errors import UsageError
from momentrank.formats.source import count, sha256_of
from momentrank.measures import Measure
from momentrank.measures.parse import parse_measures
from momentrank.scoring import Evaluator
from momentrank.unjudged import BOUNDS, EXPECTED, UPPER, Find

if TYPE_CHECKING:
    from momentrank.meta.boundaries import BoundaryNoise

Seeds = dict[str, list[Path]]
FOR_PAPERS = ("markdown", "latex")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("qrels", type=Path, metavar="QRELS", help="judged moments, in any format")
    parser.add_argument("names", nargs="*", metavar="RUN|MEASURE",
                        help="runs and measures: 'nDCG(iou=0.5)@10', 'AxIoU@10'")  # fmt: skip
    inputs.add_convention(parser)
    parser.add_argument(
        "-q", "--per-query", action="store_true", help="also print the values of each query"
    )
    inputs.add_printing(parser, "{run: {measure: value}}")
    parser.add_argument("--group", action="append", default=[], metavar="NAME=RUN,RUN,...",
                        help="mean and standard deviation over several seeds' runs")  # fmt: skip
    parser.add_argument("--by", metavar="FILE", help=inputs.BY)
    inputs.add_negatives(parser)
    parser.add_argument("--marks", action="store_true",
                        help="mark values that differ significantly from the first"
                             " run's")  # fmt: skip
    parser.add_argument("--unjudged", metavar="bounds|RATES",
                        help="also print each value with unjudged results as good as the measure"
                             " allows (bounds), or as expected by RATES, a CSV file: rank_low,"
                             "rank_high,level,share")  # fmt: skip
    machine.add_arguments(parser)
    inputs.add_files(parser)
    inputs.add_check(parser)


def run(options: argparse.Namespace) -> int:
    named = inputs.split_names(options.names)
    convention = conventions.get(inputs.convention_of(options))
    measures = _measures(options, named.measures, convention)
    seeds = _seeds(options.group, named.runs)
    if not named.runs and not seeds:
        raise UsageError("no run given: momentrank evaluate QRELS RUN [RUN ...] [MEASURE ...]")
    _check_printing(options, named.runs, measures, convention.name)
    source = provenance(options.qrels, convention.name, options.negatives)
    truth = inputs.load_truth(options, options.qrels)
    evaluator = Evaluator(measures, truth, convention)
    find = _assume(options, evaluator, source)
    if options.machine:
        return machine.run(options, evaluator, list(dict.fromkeys(named.runs)), source)
    groups = inputs.group(options, evaluator)
    inputs.note_left_out(source, evaluator)
    noise: list[BoundaryNoise] = []
    is_noisy = find or (convention.bounded and source["release"] != inputs.UNKNOWN)

    def score_file(path: Path) -> Scored:
        lists = inputs.load_for(options, path, evaluator, truth)
        if not measures:
            return score_table(convention, evaluator.qrels, lists, groups)
        if is_noisy:
            from momentrank.meta.boundaries import measure_boundary_noise

            noise.extend(measure_boundary_noise(evaluator, {str(path): lists}))
        return score(evaluator, lists, groups, per_query=options.per_query, find=find)

    paths = dict.fromkeys([*named.runs, *(path for paths in seeds.values() for path in paths)])
    runs = {str(path): score_file(path) for path in paths}
    results = Results(
        runs,
        shown=list(map(str, named.runs)),
        seeds={name: list(map(str, paths)) for name, paths in seeds.items()},
        quantities=_shown(next(iter(runs.values())), () if measures else convention.brief),
        groups=groups,
        order=evaluator.qrels.queries if options.per_query else [],
        assumed=(UPPER if options.unjudged == BOUNDS else EXPECTED) if find else "",
    )
    if noise:
        from momentrank.meta.boundaries import describe

        if find:
            source["boundaries"] = describe(noise)
        else:
            inputs.warn(describe(noise))
    if options.marks:
        source["marks"], marks = _compare_with_first(results, evaluator.measures)
        results = results._replace(marks=marks)
    _print(options, results, _numbers(options, None if measures else convention), source)
    return 0


def _assume(
    options: argparse.Namespace, evaluator: Evaluator, source: dict[str, str]
) -> Find | None:
    """Return what computes the second values; say in the header what they are."""
    if options.unjudged is None:
        return None
    if options.unjudged == BOUNDS:
        source["unjudged"] = "first value: not relevant; second: as good as the measure allows"
    else:
        path = Path(options.unjudged)
        if not path.is_file():
            raise UsageError(f"--unjudged {path}: no such file; write bounds, or a file of rates")
        source["unjudged"] = f"first value: not relevant; second: expected by {path}"
        source["unjudged_sha256"] = sha256_of(path)
    return evaluator.assume(options.unjudged)


def _measures(
    options: argparse.Namespace, names: Sequence[str], convention: Convention
) -> list[Measure]:
    """Return the measures to score; none if the convention's own table is printed."""
    measures = parse_measures(names) or convention.defaults()
    return measures if options.no_judged or options.machine else inputs.add_judged(measures)


def _shown(scored: Scored, brief: Sequence[str]) -> list[Quantity]:
    """Return what is printed except in CSV and JSON: all, or a table's chosen cells."""
    cells = {quantity.name: quantity for quantity in scored.total}
    return [cells[name] for name in brief if name in cells] or list(scored.total)


def _compare_with_first(results: Results, measures: Sequence[Measure]) -> tuple[str, Marks]:
    """Return what the marks mean, and the runs and measures that get one."""
    from momentrank.significance import CONFIDENCE, TESTS, compare_runs

    ranked = [m for m in measures if tables.describe(m).is_ranked and not m.COLLECTIVE]
    values = {run: results.runs[run].per_query for run in results.shown}
    first = results.shown[0]
    tested = [m for m in ranked if len(values[first][m][0])]
    empty = ", ".join(repr(m) for m in ranked if m not in tested)
    pairs = compare_runs(values, tested, baseline=first)
    alpha = round(1 - CONFIDENCE, 12)
    test = f"p < {alpha:g}, {TESTS[0]}, Holm's correction over {count(len(pairs), 'comparison')}"
    untested = f"; over no query, so not tested: {empty}" if empty else ""
    return f"{scored.MARK}: differs from {first} ({test}){untested}", {
        (pair.second, repr(pair.measure))
        for pair in pairs
        if pair.comparison.is_significant(TESTS[0], alpha)
    }


def _check_printing(
    options: argparse.Namespace,
    runs: Sequence[Path],
    measures: Sequence[Measure],
    convention: str,
) -> None:
    if options.per_query and not measures:
        raise UsageError(
            f"--per-query: {convention}'s own table has no per-query values;"
            " name a measure, such as 'R@1,0.5'"
        )
    if options.marks and (not measures or options.format in {"json", "csv"} or not runs[1:]):
        raise UsageError("--marks: only in a table of several runs by measures")
    if options.machine:
        machine.check(options)
    if options.per_query and options.format in FOR_PAPERS:
        raise UsageError(f"--per-query: not in --format {options.format}; use csv or json")


def _seeds(texts: Sequence[str], runs: Sequence[Path]) -> Seeds:
    seeds: Seeds = {}
    taken = {"momentrank", *map(str, runs)}
    for text in texts:
        name, _, listed = text.partition("=")
        paths = listed.split(",")
        if not name or not all(paths) or len(set(paths)) < len(paths):
            raise UsageError(f"--group {text}: write NAME=a.run,b.run, each run once")
        if name in taken:
            raise UsageError(f"--group {text}: the name {name!r} is already in use")
        taken.add(name)
        seeds[name] = [Path(path) for path in paths]
    return seeds


def _numbers(options: argparse.Namespace, table: Convention | None) -> Numbers:
    """Return how numbers are shown; a benchmark's own table as the benchmark shows it."""
    if table is None:
        return inputs.numbers(options)
    if options.digits is None and (table.percent or not options.percent):
        return Numbers(table.digits, rounding=table.rounded)
    numbers = inputs.numbers(options)
    return numbers._replace(percent=options.percent or table.percent)


def _print(
    options: argparse.Namespace, results: Results, numbers: Numbers, source: dict[str, str]
) -> None:
    fmt = options.format
    if fmt == "json":
        tables.show_json(source, scored.as_json(results, numbers))
    elif fmt == "csv":
        tables.show(fmt, source, scored.as_csv(results, numbers, source))
    elif fmt is None and len(results.shown) == 1 and not results.seeds:
        sys.stdout.writelines(scored.columns(results, numbers, source))
    else:
        rows = scored.by_run if fmt in FOR_PAPERS else scored.by_measure
        tables.show(fmt or "table", source, rows(results, numbers))
