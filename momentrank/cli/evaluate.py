"""Score runs against qrels.

One run gives trec_eval's three columns: measure, query, value; `all` is the mean over queries
(the sum, for counts). Several runs, or groups of them, give a table with the best marked.
Without measures: nDCG(iou=0.3|0.5|0.7)@10|20|40. With nDCG comes Judged: how much of what is
scored people have looked at.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from momentrank import conventions
from momentrank.calc import Evaluator, aggregated
from momentrank.cli import inputs
from momentrank.errors import UsageError
from momentrank.measures import AP, REGISTRY, Judged, Measure, P, nDCG
from momentrank.measures.counts import Count
from momentrank.measures.parse import parse_measures

Scores = dict[Measure, float]
PerQuery = dict[str, Scores]
MODELS = ("overlap", "bin", "tol")
SHALLOW = (5, 10, 20)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Say what the verb takes."""
    parser.add_argument("qrels", type=Path, metavar="QRELS")
    parser.add_argument("names", nargs="*", metavar="RUN ... MEASURE",
                        help="runs, and measures: 'nDCG(iou=0.5)@10', 'AxIoU@10'")  # fmt: skip
    inputs.add_convention(parser)
    parser.add_argument("-q", "--per-query", action="store_true", help="each query's values too")
    parser.add_argument("--json", action="store_true", help="print JSON: {run: {measure: value}}")
    parser.add_argument("--digits", type=int, default=4, help="digits after the point (4)")
    parser.add_argument("--no-judged", action="store_true", help="no Judged beside nDCG")
    parser.add_argument("--group", action="append", default=[], metavar="NAME=RUN,RUN,...",
                        help="mean and standard deviation over runs of several seeds")  # fmt: skip
    inputs.add_files(parser)


def run(options: argparse.Namespace) -> int:
    """Score, and print."""
    named = inputs.named(options.names)
    groups = _groups(options.group)
    if not named.runs and not groups:
        raise UsageError("no run is named: momentrank evaluate QRELS RUN [RUN ...] [MEASURE ...]")
    measures = parse_measures(named.measures) or defaults(options.convention)
    if not options.no_judged:
        measures = with_judged(measures)
    evaluator = Evaluator(measures, inputs.load_qrels(options, options.qrels), options.convention)
    paths = dict.fromkeys([*named.runs, *(path for paths in groups.values() for path in paths)])
    scored = {path: _score(options, path, evaluator) for path in paths}
    source = inputs.provenance(options.qrels, options.convention)
    if options.json:
        _print_json(options, scored, groups, source)
    elif len(named.runs) == 1 and not groups:
        _print_columns(options, scored[named.runs[0]], source)
    else:
        _print_table(options, {path: scored[path] for path in named.runs}, groups, scored, source)
    return 0


def defaults(convention: str) -> list[Measure]:
    """Return what is scored where no measure is named."""
    if convention == conventions.SH_EVAL:
        counts = [measure for measure in REGISTRY.values() if isinstance(measure, Count)]
        return [*counts, *(m for match in MODELS for m in _of_model(match))]
    return [nDCG(iou=iou) @ cutoff for iou in (0.3, 0.5, 0.7) for cutoff in (10, 20, 40)]


def _of_model(match: str) -> Iterable[Measure]:
    yield AP(match=match)
    yield from (P(match=match) @ cutoff for cutoff in SHALLOW)
    yield from (Judged(match=match) @ cutoff for cutoff in SHALLOW)


def with_judged(measures: Sequence[Measure]) -> list[Measure]:
    """Return measures with Judged beside every nDCG with a cutoff."""
    judged = [
        Judged(**{name: m.params[name] for name in ("iou", "strict") if name in m.params}) @ cutoff
        for m in measures
        if m.NAME == nDCG.NAME and (cutoff := m.params.get("cutoff"))
    ]
    return list(dict.fromkeys([*measures, *judged]))


def _groups(texts: Sequence[str]) -> dict[str, list[Path]]:
    groups = {}
    for text in texts:
        name, _, runs = text.partition("=")
        if not name or not runs or name in groups:
            raise UsageError(f"--group {text}: write NAME=a.run,b.run, each name once")
        groups[name] = [Path(run) for run in runs.split(",")]
    return groups


def _score(options: argparse.Namespace, path: Path, evaluator: Evaluator) -> PerQuery:
    """Return the values of each query of a run, and `all`, which is the last."""
    run = inputs.load_for(options, path, evaluator)
    by_measure = evaluator.per_query(run)
    values: PerQuery = {}
    if options.per_query:
        for measure, (names, numbers) in by_measure.items():
            for name, value in zip(names, numbers.tolist(), strict=True):
                values.setdefault(name, {})[measure] = value
    total = {measure: aggregated(measure, numbers) for measure, (_, numbers) in by_measure.items()}
    return {**values, ALL: total}


ALL = "all"


def _print_columns(options: argparse.Namespace, scored: PerQuery, source: dict[str, str]) -> None:
    rows = [(name, ALL, value) for name, value in source.items()]
    rows += [
        (repr(measure), query, inputs.number(value, options.digits, measure))
        for query, scores in scored.items()
        for measure, value in scores.items()
    ]
    sys.stdout.writelines("\t".join(row) + "\n" for row in rows)


def _print_json(
    options: argparse.Namespace,
    scored: dict[Path, PerQuery],
    groups: dict[str, list[Path]],
    source: dict[str, str],
) -> None:
    content: dict[str, Any] = {"momentrank": source}
    for path, values in scored.items():
        content[str(path)] = _named_scores(values[ALL])
        if options.per_query:
            queries = {query: _named_scores(s) for query, s in values.items() if query != ALL}
            content[str(path)]["queries"] = queries
    for name, paths in groups.items():
        content[name] = {
            repr(measure): dict(zip(("mean", "sd"), _spread(measure, paths, scored), strict=True))
            for measure in scored[paths[0]][ALL]
        }
    sys.stdout.write(json.dumps(content, indent=2) + "\n")


def _named_scores(scores: Scores) -> dict[str, Any]:
    return {repr(measure): value for measure, value in scores.items()}


def _spread(
    measure: Measure, paths: Sequence[Path], scored: dict[Path, PerQuery]
) -> tuple[float, float]:
    """Return the mean over runs, and the standard deviation (n - 1); 0 of a single one."""
    values = [scored[path][ALL][measure] for path in paths]
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def _print_table(
    options: argparse.Namespace,
    runs: dict[Path, PerQuery],
    groups: dict[str, list[Path]],
    scored: dict[Path, PerQuery],
    source: dict[str, str],
) -> None:
    """Print measures down and runs across, the best of each row marked with a star."""
    sys.stdout.writelines(f"# {name}: {value}\n" for name, value in source.items())
    rows = [["measure", *map(str, runs), *groups]]
    first = next(iter(scored.values()))
    for query in first:
        for measure in first[query]:
            values = [values.get(query, {}).get(measure, 0.0) for values in runs.values()]
            spreads = [
                _spread(measure, paths, scored) if query == ALL else None
                for paths in groups.values()
            ]
            name = repr(measure) if query == ALL else f"{measure!r} {query}"
            rows.append([name, *_cells(measure, values, spreads, options.digits)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def _cells(
    measure: Measure,
    values: Sequence[float],
    spreads: Sequence[tuple[float, float] | None],
    digits: int,
) -> list[str]:
    best = max([*values, *(spread[0] for spread in spreads if spread)])

    def star(value: float) -> str:
        return " *" if value == best and not isinstance(measure, Count) else ""

    marks = [inputs.number(value, digits, measure) + star(value) for value in values]
    for spread in spreads:
        shown = f"{spread[0]:.{digits}f} \u00b1 {spread[1]:.{digits}f}" if spread else ""
        marks.append(shown + star(spread[0]) if spread else "")
    return marks
