"""The report's section on the machine judge: how far it agrees, and what it may be trusted with."""

from collections.abc import Iterator
from typing import Any

from pipeline.core.tables import LEVELS
from pipeline.pages.sources import Figures
from pipeline.pages.tables import UNKNOWN, Cell, Grid, Num, count, decimal, percent

HEADS = ("Pairs", "Ordinal \u03b1", "Quadratic \u03ba", "Exact", "Within 1", "Bias")
FIGURES = ("alpha", "kappa", "exact", "within_1", "bias")
BY = {"similarity": "Similarity", "seconds": "Seconds of the clip", "rank": "Rank"}
BESIDE = (
    "Each vote of a person, and the machine\u2019s level of the same pair, are held against the"
    " consensus of the others, which holds neither: a first vote against the other first one, a"
    " later one against all others. In brackets {interval} intervals, by a bootstrap over queries."
    " Bias: how far levels are above the reference on average."
)
CONTROL = (
    "Both against people\u2019s consensus. The control\u2019s levels are made of the similarity of"
    " query and caption alone: a model that does not beat it has not looked at the video."
)
ORDERS = (
    "Both qrels are of the same pairs. Bias: the machine\u2019s mean less people\u2019s, over the"
    " runs that are not made of people\u2019s levels. Favour: by how much more runs by caption"
    " similarity gain than others do. Shuffled are the judged pairs in an order that knows nothing."
)
SLICES = "A slice goes from the value given to the next one. Against people\u2019s consensus."


def list_verdicts(figures: Figures) -> list[str]:
    """Return what the machine may be trusted with, a sentence each."""
    return [one["text"] for one in figures["verdicts"]]


def describe(figures: Figures) -> list[str]:
    """Return what tables don't tell: failures, standing among people, the test, swaps."""
    if not figures["answers"]["with_level"]:
        return []
    return [
        text
        for text in (
            _answers_text(figures["answers"]),
            _standing_text(figures["standing"]),
            _test_text(figures["alternative_test"]),
            _beyond_text(figures["control"]),
            _second_looks_text(figures.get("second_looks")),
        )
        if text
    ]


def grids(figures: Figures) -> list[Grid]:
    """Return the section's tables; none where the machine has no levels."""
    if not figures["pairs"]:
        return []
    return [
        _beside(figures),
        *_control(figures["control"]),
        _confusion(figures["confusion"]),
        _by_level(figures["by_level"]),
        _slices(figures["slices"]),
        *_orders(figures.get("conclusions")),
    ]


def _answers_text(answers: Any) -> str:  # noqa: ANN401  (JSON)
    asked, given = answers["asked"], answers["with_level"]
    reasons = ", ".join(f"{name}: {number:,}" for name, number in answers["reasons"].items())
    missing = f" The others have none ({reasons})." if reasons else ""
    stale = answers["stale"]
    old = f" {stale:,} more are of an older text or clip, and count for nothing." if stale else ""
    about = f"Of {asked:,} answers on pairs that people were shown, {given:,} are a level."
    return f"{about}{missing}{old}"


def _standing_text(standing: Any) -> str:  # noqa: ANN401  (JSON)
    number, below = standing["annotators"], standing["below_machine"]
    if not number:
        return ""
    spread = " to ".join(_plain(standing[name]) for name in ("lowest", "highest"))
    return (
        f"Of {number} annotators it agrees better with the others than {below} do, on their own"
        f" pairs; people\u2019s \u03ba goes from {spread}, the machine\u2019s is"
        f" {_plain(standing['machine_mean'])} on average."
    )


def _test_text(test: Any) -> str:  # noqa: ANN401  (JSON)
    about = f"The alternative annotator test (Calderon et al., 2025; \u03b5 = {test['epsilon']:g})"
    if test["passed"] is None:
        return f"{about} gives no verdict: {test['why']}."
    return (
        f"{about}: {'yes' if test['passed'] else 'no'}. It is the better alternative to"
        f" {percent(test['winning_rate'], 0)} of {test['counted']} annotators (half are asked for),"
        f" and comes at least as close to the others in {percent(test['advantage'], 0)} of pairs."
    )


def _beyond_text(control: Any) -> str:  # noqa: ANN401  (JSON)
    if not control or control["beyond"]["value"] is None:
        return ""
    return (
        "Once similarity and rank are known, its levels and people\u2019s still correlate by"
        f" {_span(control['beyond'], 2)}: 0 would mean that it has seen nothing else."
    )


def _second_looks_text(number: int | None) -> str:
    if number is None:
        return ""
    return f"Pairs for a second look, on the lead\u2019s page: {number:,}."


def _beside(figures: Figures) -> Grid:
    interval = percent(figures["confidence"], 0)
    names = {"people": "People", "machine": "Machine", "difference": "Machine less people"}
    rows = [_row(title, figures[name]) for name, title in names.items()]
    heads = ("Levels", "Votes", *HEADS[1:])
    return Grid("The machine beside people", heads, rows, BESIDE.format(interval=interval))


def _control(control: Any) -> Iterator[Grid]:  # noqa: ANN401  (JSON)
    if control and control["control"]:
        names = {"machine": "Machine", "control": "Control", "difference": "Machine less control"}
        rows = [_row(title, control[name]) for name, title in names.items()]
        yield Grid("The machine beside caption similarity", ("Levels", *HEADS), rows, CONTROL)


def _row(title: str, measured: Any) -> list[Cell]:  # noqa: ANN401  (JSON)
    return [title, count(measured.get("pairs")), *(_span(measured[name]) for name in FIGURES)]


def _span(figure: Figures, digits: int = 3) -> Num:
    """Write a figure with its interval."""
    if figure["value"] is None:
        return Num(UNKNOWN)
    value, low, high = (decimal(figure[name], digits) for name in ("value", "low", "high"))
    return Num(f"{value} ({low} to {high})", figure["value"])


def _plain(value: float | None) -> str:
    return decimal(value, 2)


def _confusion(matrix: list[list[int]]) -> Grid:
    rows = [(f"Level {level}", *map(count, row)) for level, row in zip(LEVELS, matrix, strict=True)]
    heads = ("By people", *(f"{level} by the machine" for level in LEVELS))
    return Grid("Levels by people and by the machine", heads, rows)


def _by_level(levels: list[Figures]) -> Grid:
    rows = [
        (
            f"Level {row['level']}",
            count(row["votes"]),
            decimal(row["people"]),
            decimal(row["machine"]),
        )
        for row in levels
    ]
    note = "How far people and the machine are above the others\u2019 consensus, where it is so."
    return Grid("Bias by level", ("Others", "Votes", "People", "Machine"), rows, note)


def _slices(slices: list[Figures]) -> Grid:
    rows = [
        (
            f"{BY[row['by']]} from {row['low']:g}",
            count(row["pairs"]),
            *(decimal(row[name], 3) for name in FIGURES),
        )
        for row in slices
    ]
    return Grid("Where the machine is off", ("Slice", *HEADS), rows, SLICES)


def _orders(conclusions: Any) -> Iterator[Grid]:  # noqa: ANN401  (JSON)
    if not conclusions:
        return
    runs = conclusions["runs"]
    rows: list[list[Cell]] = []
    for name, measure in conclusions["measures"].items():
        scores = [decimal(measure[who][run], 3) for run in runs for who in ("people", "machine")]
        favour = _span(measure["favour"]) if measure["favour"] else Num(UNKNOWN)
        rest = [decimal(measure["tau_b"]), _span(measure["bias"]), favour]
        rows.append([name, *scores, *rest, _swap(measure["swap"])])
    yield Grid(
        f"Runs under both qrels ({conclusions['queries']:,} test queries)",
        ("Measure", *(["People", "Machine"] * len(runs)), "\u03c4", "Bias", "Favour", "Swap"),
        rows,
        ORDERS,
        [*((run, 2) for run in runs), ("", 4)],
    )


def _swap(swap: Figures | None) -> str:
    if swap is None:
        return "none"
    people, machine = (decimal(swap[name], 3) for name in ("people", "machine"))
    return f"{swap['better']} over {swap['worse']}: {people}, by the machine {machine}"
