"""What a machine judge can be trusted with, in sentences that name its fault: pure.

Faults are checked in order, and one that explains the others ends the search: a judge that always
gives the same level also agrees with nobody, but saying so would add nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from pipeline.core.people_sections import Calibration

Code = Literal[
    "none", "few", "fails", "constant", "similarity", "lenient", "severe", "weak", "control", "good"
]


class Verdict(NamedTuple):
    """A verdict: its code, and the sentence that states it with its figures."""

    code: Code
    text: str


def judge(metrics: Mapping[str, Any], params: Calibration, *, is_control: bool) -> list[Verdict]:
    """Return what is wrong with a machine, if anything, from the figures of `calibrate`.

    `is_control` says that the machine is the similarity control itself.
    """
    if not metrics["answers"]["with_level"]:
        return [Verdict("none", "The machine has no levels, so nothing is known about it.")]
    if metrics["pairs"] < params.min_pairs:
        pairs, least = metrics["pairs"], params.min_pairs
        text = f"{pairs} pairs have a level by people and by the machine; {least} are needed."
        return [Verdict("few", f"Not enough to say: {text}")]
    if is_control:
        return [Verdict("control", CONTROL)]
    faults = list(_faults(metrics, params))
    return faults or [Verdict("good", _praise(metrics))]


CONTROL = (
    "These levels are the similarity control\u2019s: no clip was looked at. A model that does not"
    " beat them has not looked at the video either."
)


def _faults(metrics: Mapping[str, Any], params: Calibration) -> Iterator[Verdict]:
    answers = metrics["answers"]
    failed = 1 - answers["with_level"] / answers["asked"]
    if failed > params.max_failed:
        yield Verdict(
            "fails",
            f"Fails too often: {failed:.1%} of {answers['asked']:,} answers have no level"
            f" (allowed: at most {params.max_failed:.0%}).",
        )
    level, share = _most_frequent(metrics["confusion"], axis=1)
    _, of_people = _most_frequent(metrics["confusion"], axis=0)
    if share > params.max_same >= of_people:
        yield Verdict("constant", f"Constant: {share:.0%} of its levels are {level}.")
        return
    control = metrics["control"]
    beyond = control and control["beyond"]
    if beyond and beyond["value"] is not None and not _is_above(beyond, params.min_beyond):
        yield Verdict(
            "similarity",
            "No better than caption similarity: once that is known, its levels tell next to nothing"
            f" of people\u2019s (correlation {_span(beyond)}). Nothing shows that it has looked at"
            " the video.",
        )
        return
    bias = metrics["machine"]["bias"]
    if abs(bias["value"] or 0) > params.max_bias:
        lenient = bias["value"] > 0
        yield Verdict(
            "lenient" if lenient else "severe",
            f"{'Lenient' if lenient else 'Severe'}: on average its levels differ from people\u2019s"
            f" by {_span(bias)} (allowed: at most {params.max_bias:g}).",
        )
        return
    more = control and control["difference"] and control["difference"]["kappa"]
    if more and more["value"] is not None and not _is_above(more, 0):
        yield Verdict(
            "weak",
            "Agrees with people no better than the similarity control: \u03ba differs by"
            f" {_span(more)}.",
        )


def _most_frequent(confusion: list[list[int]], axis: int) -> tuple[int, float]:
    """Return the level most often given by people (axis 0) or the machine (1), and its share."""
    lines = list(zip(*confusion, strict=True)) if axis else confusion
    counts = [sum(line) for line in lines]
    return counts.index(max(counts)), max(counts) / sum(counts)


def _is_above(estimate: Mapping[str, float | None], bound: float) -> bool:
    low = estimate["low"]
    return low is not None and low > bound


def _span(estimate: Mapping[str, float | None]) -> str:
    value, low, high = (estimate[name] for name in ("value", "low", "high"))
    if value is None or low is None or high is None:
        return "not defined"
    return f"{value:.2f}, {low:.2f} to {high:.2f}".replace("-", "\u2212")


def _praise(metrics: Mapping[str, Any]) -> str:
    test, sound = metrics["alternative_test"], "No fault was found"
    if metrics["control"] is None:
        sound += " (without similarities, so whether it looks at the video is not known)"
    if test["passed"] is None:
        return f"{sound}; whether it may take a person\u2019s place is not known: {test['why']}."
    if test["passed"]:
        published = "passes" if test["published"]["passed"] else "fails"
        return (
            f"{sound}, and it passes the alternative annotator test with first votes compared only"
            f" with each other, which is easier to pass than the published test: that one it"
            f" {published}."
        )
    return (
        f"{sound}, but it is not as good as one more person: it fails the alternative annotator"
        " test."
    )
