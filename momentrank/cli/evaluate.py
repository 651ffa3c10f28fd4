"""Score runs against qrels.

One run prints trec_eval's three columns: measure, query, value; `all` is the mean over queries
(for counts, the sum). Several runs or groups print a table in which the best values are marked.
Default measures: nDCG(iou=0.3|0.5|0.7)@10|20|40. Each nDCG@K is accompanied by Judged@K, the
share of its results that people have judged.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from momentrank import conventions
from momentrank.cli import inputs
from momentrank.errors import UsageError
from momentrank.ids import encode_id
from momentrank.measures import Measure
from momentrank.measures.counts import Count
from momentrank.measures.parse import parse_measures
from momentrank.scoring import Evaluator, aggregate

Scores = dict[Measure, float]
Groups = dict[str, list[Path]]
ALL = "all"


class Scored(NamedTuple):
    """A run's values over all queries and, on request, per query."""

    total: Scores
    queries: dict[str, Scores]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the subcommand."""
    parser.add_argument("qrels", type=Path, metavar="QRELS")
    parser.add_argument("names", nargs="*", metavar="RUN ... MEASURE",
                        help="runs and measures: 'nDCG(iou=0.5)@10', 'AxIoU@10'")  # fmt: skip
    inputs.add_convention(parser)
    parser.add_argument(
        "-q", "--per-query", action="store_true", help="also print the values of each query"
    )
    inputs.add_printing(parser, "{run: {measure: value}}")
    parser.add_argument("--group", action="append", default=[], metavar="NAME=RUN,RUN,...",
                        help="mean and standard deviation over several seeds' runs")  # fmt: skip
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Score, and print."""
    named = inputs.split_names(options.names)
    measures = parse_measures(named.measures) or conventions.get(options.convention).defaults()
    groups = _groups(options.group, named.runs)
    if not named.runs and not groups:
        raise UsageError("no run given: momentrank evaluate QRELS RUN [RUN ...] [MEASURE ...]")
    if not options.no_judged:
        measures = inputs.add_judged(measures)
    source = inputs.provenance(options.qrels, options.convention)
    evaluator = Evaluator(measures, inputs.load_qrels(options, options.qrels), options.convention)
    paths = dict.fromkeys([*named.runs, *(path for paths in groups.values() for path in paths)])
    scored = {path: _score(options, path, evaluator) for path in paths}
    if options.json:
        _print_json(scored, groups, source)
    elif len(named.runs) == 1 and not groups:
        _print_columns(options, scored[named.runs[0]], source)
    else:
        sys.stdout.writelines(inputs.header(source))
        order = evaluator.qrels.queries if options.per_query else []
        rows = _table(options, named.runs, groups, scored, order)
        sys.stdout.writelines(
            inputs.align_columns([["measure", *map(str, named.runs), *groups], *rows])
        )
    return 0


def _groups(texts: Sequence[str], runs: Sequence[Path]) -> Groups:
    groups: Groups = {}
    taken = {"momentrank", *map(str, runs)}
    for text in texts:
        name, _, listed = text.partition("=")
        paths = listed.split(",")
        if not name or not all(paths) or len(set(paths)) < len(paths):
            raise UsageError(f"--group {text}: write NAME=a.run,b.run, each run once")
        if name in taken:
            raise UsageError(f"--group {text}: the name {name!r} is already in use")
        taken.add(name)
        groups[name] = [Path(path) for path in paths]
    return groups


def _score(options: argparse.Namespace, path: Path, evaluator: Evaluator) -> Scored:
    run = inputs.load_for(options, path, evaluator)
    by_measure = evaluator.per_query(run)
    total = {measure: aggregate(measure, values) for measure, (_, values) in by_measure.items()}
    queries: dict[str, Scores] = {}
    if options.per_query:
        for measure, (names, values) in by_measure.items():
            for name, value in zip(names, values.tolist(), strict=True):
                queries.setdefault(name, {})[measure] = value
    return Scored(total, queries)


def _print_columns(options: argparse.Namespace, scored: Scored, source: dict[str, str]) -> None:
    rows = [(name, ALL, value) for name, value in source.items()]
    for query, scores in scored.queries.items():
        rows += _columns(encode_id(query), scores, options.digits)
    rows += _columns(ALL, scored.total, options.digits)
    sys.stdout.writelines("\t".join(row) + "\n" for row in rows)


def _columns(query: str, scores: Scores, digits: int) -> list[tuple[str, str, str]]:
    return [
        (repr(measure), query, inputs.number(value, digits, measure))
        for measure, value in scores.items()
    ]


def _print_json(scored: dict[Path, Scored], groups: Groups, source: dict[str, str]) -> None:
    content: dict[str, Any] = {"momentrank": source}
    for path, values in scored.items():
        if str(path) in content:
            raise UsageError(f"{path}: this name is already in use in the JSON; write ./{path}")
        content[str(path)] = _by_name(values.total)
        if values.queries:
            queries = {query: _by_name(scores) for query, scores in values.queries.items()}
            content[str(path)]["queries"] = queries
    for name, paths in groups.items():
        content[name] = {
            repr(measure): _spread([scored[path].total[measure] for path in paths])._asdict()
            for measure in scored[paths[0]].total
        }
    sys.stdout.write(json.dumps(content, indent=2) + "\n")


def _by_name(scores: Scores) -> dict[str, Any]:
    return {repr(measure): value for measure, value in scores.items()}


class Spread(NamedTuple):
    """The mean over runs and the standard deviation (n - 1); None for a single run."""

    mean: float
    sd: float | None


def _spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)


def _table(
    options: argparse.Namespace,
    runs: Sequence[Path],
    groups: Groups,
    scored: dict[Path, Scored],
    queries: Sequence[str],
) -> Iterable[list[str]]:
    """Yield a row per measure and a column per run; a star marks the best value of a row."""
    measures = next(iter(scored.values())).total
    for query in queries:
        for measure in measures:
            values = [scored[path].queries.get(query, {}).get(measure) for path in runs]
            empty = [""] * len(groups)
            if any(value is not None for value in values):
                name = f"{measure!r} {encode_id(query)}"
                yield [name, *_cells(measure, values, options.digits), *empty]
    for measure in measures:
        totals = [scored[path].total[measure] for path in runs]
        spreads = [_spread([scored[path].total[measure] for path in paths])
                   for paths in groups.values()]  # fmt: skip
        means = [spread.mean for spread in spreads]
        cells = _cells(measure, [*totals, *means], options.digits)
        for at, spread in enumerate(spreads, start=len(totals)):
            if spread.sd is not None:
                value, _, star = cells[at].partition(" ")
                cells[at] = f"{value} \u00b1 {spread.sd:.{options.digits}f} {star}".rstrip()
        yield [repr(measure), *cells]


def _cells(measure: Measure, values: Sequence[float | None], digits: int) -> list[str]:
    best = max(value for value in values if value is not None)
    marked = not isinstance(measure, Count) and len(values) > 1
    return [
        ""
        if value is None
        else inputs.number(value, digits, measure) + (" *" if marked and value == best else "")
        for value in values
    ]
