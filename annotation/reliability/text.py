"""Agreement as a person reads it in a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

GROUPS = {
    "all": "all pairs",
    "two": "pairs with two scores",
    "four": "pairs with four scores",
    "first_two": "first two scores of all",
}


def text(found: Mapping[str, Any]) -> str:
    """Return the figures of `annotation.agreement` as lines."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    numbers = ("pairs", "scores", "annotators", "flagged")
    yield "   ".join(f"{name} {found[name]:,}" for name in numbers)
    yield f"couples of two people   {_near(found)}"
    yield f"one person twice        {_near(found['one_person_twice'])}"
    yield from _kappa(found["kappa"])
    for name, title in GROUPS.items():
        yield from _group(title, found["groups"][name])
    yield "final levels            " + "   ".join(
        f"{row['level']}: {row['pairs']:,}" for row in found["final_levels"]
    )
    yield from _alike(found["similarity_1"])
    if found["flagged"]:
        yield "Some annotators' figures are worth a look: --lead FOLDER writes them and why."
    yield found["selection"]


def _near(group: Mapping[str, Any]) -> str:
    exact, near = _share(group["exact"]), _share(group["within_1"])
    return f"{group['couples']:>9,}   exact {exact}   within 1 {near}"


def _kappa(found: Mapping[str, Any]) -> Iterator[str]:
    mean, whole = found["mean_over_annotator_pairs"], found["all_couples"]
    pairs = f"{found['annotator_pairs']} annotator pairs, {found['undefined']} undefined"
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


def _alike(found: Mapping[str, Any] | None) -> Iterator[str]:
    if found is None:
        yield "similarity 1.0          not known: the file does not tell similarities"
    else:
        share = _share(found["share"])
        yield f"similarity 1.0          {found['pairs']:,} pairs, {share} below level 4"


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2%}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
