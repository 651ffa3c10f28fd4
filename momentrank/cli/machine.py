"""What `evaluate --machine` prints: means from people and a machine, and from people alone."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from momentrank.cli import inputs, tables
from momentrank.cli.tables import DASH, Cell, Numbers, Quantity, Row, describe
from momentrank.errors import UsageError
from momentrank.prediction_powered import Estimates, Interval, estimate_run, join
from momentrank.scoring import Evaluator
from momentrank.significance import CONFIDENCE

UNSCALED = ("queries", "population", "effective_queries", "weight")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", type=Path, metavar="MACHINE",
                        help="a machine's qrels of all queries, of which people judged a random"
                             " sample: estimate the means over all with 95%% intervals, by"
                             " prediction-powered inference (PPI++)")  # fmt: skip


def check(options: argparse.Namespace) -> None:
    for name in ("per_query", "by", "group", "marks", "unjudged"):
        if getattr(options, name):
            raise UsageError(f"--machine: can't be combined with --{name.replace('_', '-')}")


def run(
    options: argparse.Namespace,
    people: Evaluator,
    paths: Sequence[Path],
    source: dict[str, str],
) -> int:
    if "momentrank" in map(str, paths):
        raise UsageError("momentrank: this name is already in use in the JSON; write ./momentrank")
    origin = inputs.provenance(options.machine, "")
    source |= {"machine": origin["qrels"], "machine_sha256": origin["qrels_sha256"]}
    truth = inputs.load_truth(options, options.machine, by_people=False)
    scorers = join(people, truth, str(options.machine))
    judged, number = len(people.qrels.queries), len(truth.segments.queries)
    source["people"] = f"{judged} of {number} queries, assumed to be a random sample"
    source["intervals"] = f"{CONFIDENCE:.0%}"
    inputs.note_left_out(source, people)
    if judged == number:
        inputs.warn(f"{options.machine}: people judged all of its queries: it adds nothing")

    runs = {
        str(path): estimate_run(scorers, inputs.load_for(options, path, scorers.machine, truth))
        for path in paths
    }
    _print(options.format or "table", runs, inputs.numbers(options), source)
    return 0


def _print(
    fmt: str, runs: Mapping[str, Estimates], numbers: Numbers, source: Mapping[str, str]
) -> None:
    if fmt == "json":
        content: dict[str, dict[str, Any]] = {}
        for run, measure, values in _plain_values(runs, numbers):
            content.setdefault(run, {})[measure] = values
        tables.show_json(source, content)
    elif fmt == "csv":
        records = (
            {"run": run, "measure": measure, **values}
            for run, measure, values in _plain_values(runs, numbers)
        )
        tables.show(fmt, source, tables.list_records(records, source))
    else:
        tables.show(fmt, source, _rows(runs, numbers))


def _rows(runs: Mapping[str, Estimates], numbers: Numbers) -> Iterator[Row]:
    yield ["run", "measure", "queries", "people alone", "with the machine", "worth", "weight",
           "machine alone"]  # fmt: skip
    for run, estimates in runs.items():
        for measure, estimate in estimates.items():
            quantity = describe(measure)
            spans = (
                _span(quantity, each, numbers) for each in (estimate.people, estimate.combined)
            )
            queries = f"{estimate.judged} of {estimate.population}"
            weights = [f"{estimate.effective:.1f}", f"{estimate.weight:.2f}"]
            alone = numbers.text(quantity, estimate.machine)
            yield [Cell(cell) for cell in (run, repr(measure), queries, *spans, *weights, alone)]


def _span(quantity: Quantity, interval: Interval, numbers: Numbers) -> str:
    value, low, high = (numbers.text(quantity, each) for each in interval)
    return f"{value} [{DASH if low == DASH else f'{low}, {high}'}]"


def _plain_values(
    runs: Mapping[str, Estimates], numbers: Numbers
) -> Iterator[tuple[str, str, dict[str, float | int | None]]]:
    for run, estimates in runs.items():
        for measure, estimate in estimates.items():
            quantity = describe(measure)
            values = {
                name: value if name in UNSCALED else numbers.plain(quantity, value)
                for name, value in estimate.as_json().items()
            }
            yield run, repr(measure), values
