"""What `evaluate --machine` prints: means by people and a machine, beside those by people alone."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from momentrank.cli import inputs, tables
from momentrank.cli.tables import DASH, Cell, Numbers, Quantity, Row, describe
from momentrank.errors import UsageError
from momentrank.prediction_powered import (
    CONFIDENCE,
    Estimates,
    Interval,
    estimate_run,
    join,
)
from momentrank.scoring import Evaluator

UNSCALED = ("queries", "population", "effective_queries", "weight")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", type=Path, metavar="MACHINE",
                        help="a machine's qrels of all queries, where people judged a random part"
                             " of them (QRELS): estimate the means over all, with 95%% intervals,"
                             " by prediction-powered inference (PPI++); not into qrels,"
                             " ever")  # fmt: skip


def check(options: argparse.Namespace) -> None:
    """Refuse what makes no sense together with a machine.

    Raises:
        UsageError: an option, and what is wrong with it.
    """
    given = {
        "--per-query": options.per_query,
        "--by": options.by,
        "--group": options.group,
        "--marks": options.marks,
    }
    for name, value in given.items():
        if value:
            raise UsageError(f"--machine: not together with {name}: it estimates means of runs")


def run(
    options: argparse.Namespace,
    people: Evaluator,
    paths: Sequence[Path],
    source: dict[str, str],
) -> int:
    """Estimate each run's means, and print them."""
    if "momentrank" in map(str, paths):
        raise UsageError("momentrank: this name is already in use in the JSON; write ./momentrank")
    source |= _describe(options.machine)
    truth = inputs.load_truth(options, options.machine)
    scorers = join(people, truth.segments, str(options.machine))
    judged, number = len(people.qrels.queries), len(truth.segments.queries)
    source["people"] = f"{judged} of {number} queries, taken for a random sample of them"
    source["intervals"] = f"{CONFIDENCE:.0%}"
    if judged == number:
        inputs.warn(f"{options.machine}: people judged all of its queries: it adds nothing")

    def estimate(path: Path) -> Estimates:
        lists = inputs.load_for(options, path, scorers.machine, truth)
        return estimate_run(scorers, lists)

    found = {str(path): estimate(path) for path in paths}
    _print(options.format or "table", found, inputs.numbers(options), source)
    return 0


def _describe(path: Path) -> dict[str, str]:
    origin = inputs.provenance(path, "")
    return {"machine": origin["qrels"], "machine_sha256": origin["qrels_sha256"]}


def _print(
    fmt: str, found: Mapping[str, Estimates], numbers: Numbers, source: Mapping[str, str]
) -> None:
    if fmt == "json":
        content: dict[str, Any] = {"momentrank": dict(source)}
        for one in _figures(found, numbers):
            content.setdefault(one.run, {})[one.measure] = one.values
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    elif fmt == "csv":
        sys.stdout.writelines(tables.write(_csv(found, numbers, source), fmt))
    else:
        sys.stdout.writelines(tables.header(source, fmt))
        sys.stdout.writelines(tables.write(_rows(found, numbers), fmt))


def _rows(found: Mapping[str, Estimates], numbers: Numbers) -> Iterator[Row]:
    """Yield a row per run and measure."""
    yield ["run", "measure", "queries", "people alone", "with the machine", "worth", "weight",
           "machine alone"]  # fmt: skip
    for run, estimates in found.items():
        for measure, one in estimates.items():
            quantity = describe(measure)
            spans = (_span(quantity, each, numbers) for each in (one.people, one.combined))
            queries = f"{one.judged} of {one.population}"
            figures = [f"{one.effective:.1f}", f"{one.weight:.2f}"]
            alone = numbers.text(quantity, one.machine)
            yield [Cell(cell) for cell in (run, repr(measure), queries, *spans, *figures, alone)]


def _span(quantity: Quantity, interval: Interval, numbers: Numbers) -> str:
    value, low, high = (numbers.text(quantity, each) for each in interval)
    return f"{value} [{DASH if low == DASH else f'{low}, {high}'}]"


class Figures(NamedTuple):
    """The plain values of a run's measure."""

    run: str
    measure: str
    values: dict[str, float | int | None]


def _figures(found: Mapping[str, Estimates], numbers: Numbers) -> Iterator[Figures]:
    for run, estimates in found.items():
        for measure, one in estimates.items():
            quantity = describe(measure)
            values = {
                name: value if name in UNSCALED else numbers.plain(quantity, value)
                for name, value in one.as_json().items()
            }
            yield Figures(run, repr(measure), values)


def _csv(
    found: Mapping[str, Estimates], numbers: Numbers, source: Mapping[str, str]
) -> Iterator[Row]:
    for at, one in enumerate(_figures(found, numbers)):
        if not at:
            yield ["run", "measure", *one.values, *source]
        values = ("" if value is None else repr(value) for value in one.values.values())
        yield [one.run, one.measure, *values, *source.values()]
