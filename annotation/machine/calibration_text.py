"""Calibration as text for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.machine.confusion import STATISTICS

TITLES = {
    "alpha": "alpha, ordinal",
    "kappa": "kappa, quadratic",
    "exact": "exact",
    "within_1": "within 1",
    "bias": "bias",
}
WIDTH = 24
DRAWN = (
    "The file does not say which votes came first. The first two of four were drawn among those"
    " that are more than 1 apart, as the rule requires."
)
NO_QUERIES = (
    "The query of each pair is not known: intervals assume that pairs are independent, and are too"
    " narrow. Add pairs.csv (--pairs), or the judged moments of the release (--judged)."
)


def text(metrics: Mapping[str, Any], *, by_query: bool = True) -> str:
    """Return the figures of `calibrate` as lines."""
    return "\n".join(_lines(metrics, by_query=by_query)) + "\n"


def _lines(metrics: Mapping[str, Any], *, by_query: bool) -> Iterator[str]:
    for verdict in metrics["verdicts"]:
        yield verdict["text"]
    answers = metrics["answers"]
    asked, with_level = answers["asked"], answers["with_level"]
    yield ""
    compared = metrics["pairs"]
    yield f"answers {asked:,}   with a level {with_level:,}   compared with people {compared:,}"
    for reason, number in sorted(answers["reasons"].items()):
        yield f"  {reason:{WIDTH}}{number:,}"
    if not compared:
        return
    yield ""
    yield from _beside(metrics)
    yield from _standing(metrics["standing"])
    yield from _test(metrics["alternative_test"])
    yield from _control(metrics["control"])
    yield from _confusion(metrics["confusion"])
    yield from _slices(metrics["slices"])
    if metrics["first_votes"] == "drawn":
        yield DRAWN
    if not by_query:
        yield NO_QUERIES


def _beside(metrics: Mapping[str, Any]) -> Iterator[str]:
    yield f"against the others, on {metrics['people']['pairs']:,} votes"
    heads = ("people", "machine", "difference")
    yield f"{'':{WIDTH}}" + "".join(f"{head:>26}" for head in heads)
    for name in STATISTICS:
        cells = (_span(metrics[head][name]) for head in heads)
        yield f"  {TITLES[name]:{WIDTH - 2}}" + "".join(f"{cell:>26}" for cell in cells)


def _standing(standing: Mapping[str, Any]) -> Iterator[str]:
    count, below = standing["annotators"], standing["below_machine"]
    lowest, median, highest = (_number(standing[name]) for name in ("lowest", "median", "highest"))
    yield (
        f"Of {count} people it agrees with the others better than {below} do"
        f" (people's kappa: {lowest}, median {median}, {highest})."
    )


def _test(test: Mapping[str, Any]) -> Iterator[str]:
    yield f"alternative annotator test (epsilon {test['epsilon']:g})"
    yield f"  first votes against each other, easier to pass: {_result(test)}"
    yield f"  against all others, as published: {_result(test['published'])}"


def _result(test: Mapping[str, Any]) -> str:
    answer = {True: "yes", False: "no", None: "not enough"}[test["passed"]]
    rest = (
        test["why"]
        if test["passed"] is None
        else f"winning rate {test['winning_rate']:.2f}, advantage {test['advantage']:.2f},"
        f" of {test['counted']} annotators"
    )
    return f"{answer}; {rest}"


def _control(control: Mapping[str, Any] | None) -> Iterator[str]:
    if control is None:
        return
    yield f"{'beyond similarity':{WIDTH}}{_span(control['beyond']):>26}"
    if control["difference"] is not None:
        more = control["difference"]["kappa"]
        yield f"{'kappa above the control':{WIDTH}}{_span(more):>26}"


def _confusion(matrix: list[list[int]]) -> Iterator[str]:
    yield f"{'people, and machine':{WIDTH}}" + "".join(
        f"{level:>9}" for level in range(len(matrix))
    )
    for level, row in enumerate(matrix):
        yield f"  {level:<{WIDTH - 2}}" + "".join(f"{count:>9,}" for count in row)


def _slices(slices: list[dict[str, Any]]) -> Iterator[str]:
    for row in slices:
        name = f"{row['by']} from {row['low']:g}"
        cells = (_number(row[statistic]) for statistic in ("kappa", "within_1", "bias"))
        kappa, near, bias = cells
        yield f"{name:{WIDTH}}{row['pairs']:>9,}   kappa {kappa}   within 1 {near}   bias {bias}"


def _span(estimate: Mapping[str, float | None]) -> str:
    value, low, high = (_number(estimate[name]) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
