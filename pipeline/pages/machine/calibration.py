"""The report's section on the machine judge: how well it agrees, and what to trust it with."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from pipeline.core.tables import LEVELS
from pipeline.pages.html_tables import UNKNOWN, Cell, Grid, Num, count, decimal, percent
from pipeline.pages.report_inputs import Metrics

HEADS = ("Pairs", "Ordinal \u03b1", "Quadratic \u03ba", "Exact", "Within 1", "Bias")
COMPARED = ("alpha", "kappa", "exact", "within_1", "bias")
ENDS = {"value": "more", "low": "low", "high": "high"}
EACH = (
    "Both are compared with the others\u2019 consensus, on the annotator\u2019s own pairs. The last"
    " column is from the alternative annotator test, which leaves out people with fewer than 30"
    " pairs."
)
BY = {"similarity": "Similarity", "seconds": "Seconds of the clip", "rank": "Rank"}
BESIDE = (
    "Each person\u2019s vote, and the machine\u2019s level of the same pair, are compared with the"
    " others\u2019 consensus, which includes neither: a first vote with the other first one, a"
    " later one with all others. In brackets: {interval} intervals, by a bootstrap over queries."
    " Bias: how far levels are above the reference on average."
)
CONTROL = (
    "Both are compared with people\u2019s consensus. The control\u2019s levels come from the"
    " similarity of query and caption alone: a model that does not beat it has not looked at the"
    " video. If the consensus rounds means up, single levels are below it."
)
BOTH = "Both qrels have the same pairs. Shuffled: the judged pairs in an uninformed order."
ORDERS = (
    "\u03c4-b of both orders. Bias: the machine\u2019s mean minus people\u2019s, over the runs"
    " that are not made from people\u2019s levels. Favour: how much higher runs by caption"
    " similarity rank, between a random order and the ideal one, minus how much higher others do."
    " Half is worth: if people had judged a random half of the queries and the machine all of them,"
    " a run\u2019s mean would be as certain as with this many queries judged by people alone"
    " (prediction-powered inference)."
)
BLIND = (
    "It was shown captions instead of pictures (judge.blind), so it looked at no clip, whatever its"
    " verdict."
)
SLICES = (
    "A slice runs from the given value to the next; ranks are those of the first batch."
    " Compared with people\u2019s consensus."
)


def list_verdicts(calibration: Metrics) -> list[str]:
    """Return what to trust the machine with, one sentence each."""
    return [verdict["text"] for verdict in calibration["verdicts"]]


def describe(calibration: Metrics) -> list[str]:
    """Return what the tables don't show: failures, standing among people, tests, favour.

    Audit and second looks are a campaign's alone.
    """
    if not calibration["answers"]["with_level"]:
        return []
    return [
        text
        for text in (
            BLIND if calibration.get("blind") else "",
            _answers_text(calibration["answers"]),
            _standing_text(calibration["standing"]),
            _test_text(calibration["alternative_test"]),
            _beyond_text(calibration["control"]),
            _favour_text(calibration.get("conclusions")),
            _audit_text(calibration["audit"]) if "audit" in calibration else "",
            describe_second_looks(calibration) if "second_looks" in calibration else "",
        )
        if text
    ]


def grids(calibration: Metrics) -> dict[str, list[Grid]]:
    """Return the section's tables, on agreement, levels and runs; none without any levels."""
    if not calibration["pairs"]:
        return {"machine": [], "machine_levels": [], "machine_rest": []}
    levels = [_confusion(calibration["confusion"]), _by_level(calibration["by_level"])]
    return {
        "machine": [_beside(calibration), *_control(calibration["control"])],
        "machine_levels": levels,
        "machine_rest": [_slices(calibration["slices"]), *_orders(calibration.get("conclusions"))],
    }


def beside_machine(annotators: pd.DataFrame) -> Grid:
    """Return each annotator next to the machine, for the lead only."""
    rows = [
        (
            str(row["annotator"]),
            count(row["votes"]),
            decimal(row["kappa"]),
            decimal(row["machine_kappa"]),
            _span({name: _known(row[f"kappa_{end}"]) for name, end in ENDS.items()}),
            decimal(row["bias"]),
            {"True": "yes", "False": "no"}.get(str(row["better"]), UNKNOWN),
        )
        for row in annotators.to_dict("records")
    ]
    heads = ("Annotator", "Votes", "\u03ba", "\u03ba of the machine", "Machine less annotator",
             "Bias", "Machine is the better alternative")  # fmt: skip
    return Grid("Annotators beside the machine", heads, rows, EACH)


def _known(value: float) -> float | None:
    return None if pd.isna(value) else float(value)


def _answers_text(answers: Any) -> str:  # noqa: ANN401  (JSON)
    asked, with_level = answers["asked"], answers["with_level"]
    reasons = ", ".join(f"{name}: {number:,}" for name, number in answers["reasons"].items())
    missing = f" The others have none ({reasons})." if reasons else ""
    stale = answers["stale"]
    old = f" {stale:,} more are for an older text or clip, and do not count." if stale else ""
    about = f"Of {asked:,} answers on pairs that people were shown, {with_level:,} have a level."
    return f"{about}{missing}{old}"


def _standing_text(standing: Any) -> str:  # noqa: ANN401  (JSON)
    number, below = standing["annotators"], standing["below_machine"]
    if not number:
        return ""
    spread = " to ".join(_plain(standing[name]) for name in ("lowest", "highest"))
    return (
        f"It agrees better with the others than {below} of {number} annotators do, on their own"
        f" pairs; people\u2019s \u03ba ranges from {spread}, the machine\u2019s is"
        f" {_plain(standing['machine_mean'])} on average."
    )


def _test_text(test: Any) -> str:  # noqa: ANN401  (JSON)
    about = f"The alternative annotator test (Calderon et al., 2025; \u03b5 = {test['epsilon']:g})"
    if test["passed"] is None:
        return f"{about} gives no verdict: {test['why']}."
    published = test["published"]
    answer = (
        "no verdict"
        if published["passed"] is None
        else (
            f"{'yes' if published['passed'] else 'no'}, the better alternative to"
            f" {percent(published['winning_rate'], 0)}"
        )
    )
    return (
        f"{about}: {'yes' if test['passed'] else 'no'}. It is the better alternative to"
        f" {percent(test['winning_rate'], 0)} of {test['counted']} annotators (half are required),"
        f" and is at least as close to the others in {percent(test['advantage'], 0)} of pairs."
        " A first vote is compared only with the other first one. That is easier to pass than the"
        f" published test, against all others: {answer}."
    )


def _beyond_text(control: Any) -> str:  # noqa: ANN401  (JSON)
    if not control or control["beyond"]["value"] is None:
        return ""
    return (
        "Given similarity and rank, its levels and people\u2019s still correlate by"
        f" {_span(control['beyond'])}: 0 would mean that it has seen nothing else."
    )


def _favour_text(conclusions: Any) -> str:  # noqa: ANN401  (JSON)
    name, effect = next(iter(conclusions["measures"].items())) if conclusions else ("", None)
    if not effect or not effect["favour"] or effect["favour"]["low"] is None:
        return ""
    favour = effect["favour"]
    verdict = (
        "it favours its own kind" if favour["low"] > 0 else "no favour for its own kind is shown"
    )
    beside = "" if conclusions["others"] else " There is no run of another kind to compare with."
    return (
        f"Under its qrels, runs by caption similarity rank {_span(favour)} higher ({name}),"
        f" between a random order and the ideal one: {verdict}.{beside}"
    )


def _audit_text(audit: Metrics | None) -> str:
    if audit is None:
        return "No audit was drawn using a machine\u2019s levels."
    start = f"The audit was drawn using the levels of {audit['machine']}"
    measured = [row for row in audit["widths"] if row["width_ratio"] is not None]
    if not measured:
        return f"{start}; too little of it is judged to measure the gain."
    ratios = ", ".join(
        f"{decimal(row['width_ratio'], 2)} (level {row['level']} or above)" for row in measured
    )
    return (
        f"{start}. Width of its intervals for relevant moments outside the pool, relative to those"
        f" of as many random moments drawn without them: {ratios}."
    )


def describe_second_looks(calibration: Metrics) -> str:
    """Return how many pairs are open and decided, or why the machine may choose none."""
    number = calibration.get("second_looks")
    if number is None:
        codes = ", ".join(verdict["code"] for verdict in calibration["verdicts"])
        return (
            "No second looks: only a judge that looks at clips, and in which no fault was found,"
            f" may choose pairs (verdict: {codes})."
        )
    again = calibration["decided_again"]
    decided = "; ".join(
        f"{rows['changed']:,} of {rows['decided']:,} {why} pairs changed"
        + (f" (mean change {rows['mean_change']:+.2f})" if rows["mean_change"] is not None else "")
        for why, rows in again.items()
    )
    return (
        f"Pairs for a second look, on the lead\u2019s page: {number:,}. Decided so far: {decided}."
    )


def _beside(calibration: Metrics) -> Grid:
    interval = percent(calibration["confidence"], 0)
    names = {"people": "People", "machine": "Machine", "difference": "Machine less people"}
    rows = [_row(title, calibration[name]) for name, title in names.items()]
    heads = ("Levels", "Votes", *HEADS[1:])
    return Grid("The machine beside people", heads, rows, BESIDE.format(interval=interval))


def _control(control: Any) -> Iterator[Grid]:  # noqa: ANN401  (JSON)
    if control and control["control"]:
        names = {"machine": "Machine", "control": "Control", "difference": "Machine less control"}
        rows = [_row(title, control[name]) for name, title in names.items()]
        yield Grid("The machine beside caption similarity", ("Levels", *HEADS), rows, CONTROL)


def _row(title: str, measured: Any) -> list[Cell]:  # noqa: ANN401  (JSON)
    return [title, count(measured.get("pairs")), *(_span(measured[name]) for name in COMPARED)]


def _span(estimate: Metrics, digits: int = 2) -> Num:
    """Format a figure with its interval."""
    if estimate["value"] is None:
        return Num(UNKNOWN)
    bounds = (round(estimate[name], digits) + 0.0 for name in ("value", "low", "high"))  # no -0
    value, low, high = (decimal(bound, digits) for bound in bounds)
    return Num(f"{value} ({low} to {high})", estimate["value"])


def _plain(value: float | None) -> str:
    return decimal(value, 2)


def _confusion(matrix: list[list[int]]) -> Grid:
    rows = [(f"Level {level}", *map(count, row)) for level, row in zip(LEVELS, matrix, strict=True)]
    heads = ("By people", *(f"Level {level}" for level in LEVELS))
    groups = [("By the machine", len(LEVELS))]
    return Grid("Levels by people and by the machine", heads, rows, groups=groups)


def _by_level(levels: list[Metrics]) -> Grid:
    rows = [
        (
            f"Level {row['level']}",
            count(row["votes"]),
            decimal(row["people"]),
            decimal(row["machine"]),
        )
        for row in levels
    ]
    note = "How far people and the machine are above the others\u2019 consensus, by its level."
    return Grid("Bias by level", ("Others", "Votes", "People", "Machine"), rows, note)


def _slices(slices: list[Metrics]) -> Grid:
    rows = [
        (
            _name_slice(row),
            count(row["pairs"]),
            *(decimal(row[name], 3) for name in COMPARED),
        )
        for row in slices
    ]
    return Grid("Where the machine differs", ("Slice", *HEADS), rows, SLICES)


def _name_slice(row: Metrics) -> str:
    if row["by"] == "first_batch":
        return "First batch" if row["low"] else "Judged otherwise"
    return f"{BY[row['by']]} from {row['low']:g}"


def _orders(conclusions: Any) -> Iterator[Grid]:  # noqa: ANN401  (JSON)
    if not conclusions:
        return
    runs, queries = conclusions["runs"], f"{conclusions['queries']:,} test queries"
    measures = conclusions["measures"].items()
    scores = [
        (name, *(decimal(scores[judge][run], 3) for run in runs for judge in ("people", "machine")))
        for name, scores in measures
    ]
    heads = ("Measure", *(["People", "Machine"] * len(runs)))
    groups = [(run, 2) for run in runs]
    yield Grid(f"Runs under both qrels ({queries})", heads, scores, BOTH, groups)
    rows: list[list[Cell]] = [
        [
            name,
            decimal(scores["tau_b"]),
            _swap(scores["swap"]),
            _span(scores["bias"], 3),
            _span(scores["favour"], 3) if scores["favour"] else Num(UNKNOWN),
            _worth(scores["worth"]),
        ]
        for name, scores in measures
    ]
    heads = ("Measure", "\u03c4", "Largest swap", "Bias", "Favour", "Half is worth")
    yield Grid(f"What changes under the machine\u2019s qrels ({queries})", heads, rows, ORDERS)


def _worth(worth: Metrics | None) -> Num:
    if worth is None or worth["effective"] is None:
        return Num(UNKNOWN)
    return Num(f"{worth['judged']:,} judged: {worth['effective']:,.0f}", worth["effective"])


def _swap(swap: Metrics | None) -> str:
    if swap is None:
        return "none"
    people, machine = (decimal(swap[name], 3) for name in ("people", "machine"))
    return f"{swap['better']} over {swap['worse']}: {people}, by the machine {machine}"
