"""Agreement as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

GROUPS = {
    "all": "all pairs",
    "two": "pairs with two scores",
    "four": "pairs with four scores",
    "first_two": "first two scores of all",
}


def text(metrics: Mapping[str, Any]) -> str:
    """Return the figures of `annotation.agreement` as lines."""
    return "\n".join(_lines(metrics)) + "\n"


def _lines(metrics: Mapping[str, Any]) -> Iterator[str]:
    numbers = ("pairs", "scores", "annotators", "flagged")
    yield "   ".join(f"{name} {metrics[name]:,}" for name in numbers)
    yield f"couples of two people   {_near(metrics)}"
    yield from _one_person(metrics["groups"])
    yield from _kappa(metrics["kappa"])
    for name, title in GROUPS.items():
        yield from _group(title, metrics["groups"][name])
    yield from _limits(metrics["first_two_limits"])
    yield from _people(metrics["people_per_pair"])
    yield from _disputes(metrics["disputes"])
    yield from _min_max(metrics["min_max"])
    yield "final levels            " + "   ".join(
        f"{row['level']}: {row['pairs']:,}" for row in metrics["final_levels"]
    )
    yield from _alike(metrics["similarity_1"])
    if metrics["flagged"]:
        yield "Some annotators are flagged: --lead FOLDER writes their statistics, with reasons."
    yield metrics["selection"]


def _near(group: Mapping[str, Any]) -> str:
    exact, near = _share(group["exact"]), _share(group["within_1"])
    return f"{group['couples']:>9,}   exact {exact}   within 1 {near}"


def _one_person(groups: Mapping[str, Any]) -> Iterator[str]:
    yield f"one person twice        {_near(groups['all']['one_person_twice'])}"
    for name in ("two", "four"):
        if groups[name]["one_person_twice"]["couples"]:
            yield f"  of {name + ' scores':18} {_near(groups[name]['one_person_twice'])}"


def _limits(limits: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the limits for the first two scores."""
    if limits is None:
        return
    yield f"  at the closest and widest   {limits['pairs']:,} pairs that two people judged"
    closest, widest = limits["closest"], limits["widest"]
    for title, name in (("exact", "exact"), ("within 1", "within_1")):
        yield f"  {title:21} {_share(widest[name])} to {_share(closest[name])}"
    for name, low in widest["alpha"].items():
        yield f"  alpha {name:15} {_format(low)} to {_format(closest['alpha'][name])}"


def _people(rows: Sequence[Mapping[str, int]]) -> Iterator[str]:
    yield "pairs by scores and people"
    for row in rows:
        people = f"{row['people']} {'person' if row['people'] == 1 else 'people'}"
        yield f"  {row['scores']} by {people:16} {row['pairs']:>9,}"


def _disputes(counts: Mapping[str, int]) -> Iterator[str]:
    yield f"two scores, too far apart {counts['two_apart']:>7,}   (two more are missing)"
    yield f"four scores, all within 1 {counts['four_together']:>7,}   (two were enough)"


def _min_max(rows: Sequence[Mapping[str, int]]) -> Iterator[str]:
    """Yield the matrix of Figure 5a: a line for each lowest level, a column for each highest."""
    pairs = {(row["min"], row["max"]): row["pairs"] for row in rows}
    total = sum(pairs.values())
    levels = sorted({low for low, _ in pairs})
    yield "lowest level, and highest" + "".join(f"{high:>9}" for high in levels)
    for low in levels:
        shares = (pairs.get((low, high)) for high in levels)
        cells = ("" if n is None else _share(n / total if total else None) for n in shares)
        yield f"  {low:<23}" + "".join(f"{cell:>9}" for cell in cells)


def _kappa(metrics: Mapping[str, Any]) -> Iterator[str]:
    mean, whole = metrics["mean_over_annotator_pairs"], metrics["all_couples"]
    pairs = f"{metrics['annotator_pairs']} annotator pairs, {metrics['undefined']} undefined"
    yield f"Cohen's kappa, mean     {_both(mean)}   ({pairs})"
    yield f"  of all couples        {_both(whole)}"


def _both(kappa: Mapping[str, float | None]) -> str:
    return f"plain {_format(kappa['plain'])}   quadratic {_format(kappa['quadratic'])}"


def _group(title: str, group: Mapping[str, Any] | None) -> Iterator[str]:
    if group is None:
        yield f"{title:23} not known: the file has no times"
        return
    yield f"{title:23} {_near(group)}   ({group['pairs']:,} pairs)"
    for name, alpha in group["alpha"].items():
        interval = f"{_format(alpha['low'])} to {_format(alpha['high'])}"
        yield f"  alpha {name:15} {_format(alpha['alpha'])}   ({interval})"


def _alike(metrics: Mapping[str, Any] | None) -> Iterator[str]:
    if metrics is None:
        yield "similarity 1.0          not known: the file has no similarities"
    else:
        share = _share(metrics["share"])
        yield f"similarity 1.0          {metrics['pairs']:,} pairs, {share} below level 4"


def _share(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2%}"


def _format(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
