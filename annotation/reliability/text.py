"""Agreement as a person reads it in a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

GROUPS = {
    "all": "all pairs",
    "two": "pairs with two scores",
    "four": "pairs with four scores",
    "first_two": "first two scores of all",
}


def text(figures: Mapping[str, Any]) -> str:
    """Return the figures of `annotation.agreement` as lines."""
    return "\n".join(_lines(figures)) + "\n"


def _lines(figures: Mapping[str, Any]) -> Iterator[str]:
    numbers = ("pairs", "scores", "annotators", "flagged")
    yield "   ".join(f"{name} {figures[name]:,}" for name in numbers)
    yield f"couples of two people   {_near(figures)}"
    yield f"one person twice        {_near(figures['one_person_twice'])}"
    yield from _kappa(figures["kappa"])
    for name, title in GROUPS.items():
        yield from _group(title, figures["groups"][name])
    yield "final levels            " + "   ".join(
        f"{row['level']}: {row['pairs']:,}" for row in figures["final_levels"]
    )
    yield from _alike(figures["similarity_1"])
    if figures["flagged"]:
        yield "Some annotators' figures are worth a look: --lead FOLDER writes them and why."
    yield figures["selection"]


def _near(group: Mapping[str, Any]) -> str:
    exact, near = _share(group["exact"]), _share(group["within_1"])
    return f"{group['couples']:>9,}   exact {exact}   within 1 {near}"


def _kappa(figures: Mapping[str, Any]) -> Iterator[str]:
    mean, whole = figures["mean_over_annotator_pairs"], figures["all_couples"]
    pairs = f"{figures['annotator_pairs']} annotator pairs, {figures['undefined']} undefined"
    yield f"Cohen's kappa, mean     {_both(mean)}   ({pairs})"
    yield f"  of all couples        {_both(whole)}"


def _both(kappa: Mapping[str, float | None]) -> str:
    return f"plain {_figure(kappa['plain'])}   quadratic {_figure(kappa['quadratic'])}"


def _group(title: str, group: Mapping[str, Any] | None) -> Iterator[str]:
    if group is None:
        yield f"{title:23} not known: the file does not tell when"
        return
    yield f"{title:23} {_near(group)}   ({group['pairs']:,} pairs)"
    for name, alpha in group["alpha"].items():
        interval = f"{_figure(alpha['low'])} to {_figure(alpha['high'])}"
        yield f"  alpha {name:15} {_figure(alpha['alpha'])}   ({interval})"


def _alike(figures: Mapping[str, Any] | None) -> Iterator[str]:
    if figures is None:
        yield "similarity 1.0          not known: the file does not tell similarities"
    else:
        share = _share(figures["share"])
        yield f"similarity 1.0          {figures['pairs']:,} pairs, {share} below level 4"


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2%}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
