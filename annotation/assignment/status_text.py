"""Where a campaign stands, as a page of text for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.assignment.progress import DECIDED
from pipeline.campaign.next_step import Step, format_steps
from pipeline.core import tables

PERSON = ("role", "done", "open", "hours", "per hour", "hours left", "refused")
Figures = Mapping[str, Any]


def text(name: str, figures: Figures) -> str:
    """Return the figures of `annotation.status` as a page of text."""
    steps = [Step(**step) for step in figures["next"]]
    parts = [
        [f"{name}: {figures['wanted']} judgments wanted; {_totals(figures)}", *format_steps(steps)],
        list(_people(figures)),
        list(_pace(figures)),
        list(_refused(figures["refused"])),
        list(_pairs(figures["pairs"])),
        list(_agreement(figures["agreement"])),
        list(_queries(figures)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _totals(figures: Figures) -> str:
    """Return how far judging is; judgments of which no two make a pair are said to be there."""
    pairs, judgments = figures["pairs"], figures["judgments"]
    decided = sum(pairs[name] for name in DECIDED)
    if judgments and not decided:
        return f"{judgments:,} judgments, no pair complete yet"
    return f"{judgments:,} made, {decided:,} of {pairs['all']:,} pairs decided"


def _people(figures: Figures) -> Iterator[str]:
    yield f"{_row('annotator', *PERSON)}  last judged"
    for number, who in figures["annotators"].items():
        role = who["role"] or "left"
        names = ("done", "open", "hours", "per_hour", "hours_left", "refused")
        cells = (who[name] for name in names)
        row = _row(number, role if who["active"] else f"({role})", *cells)
        instant = who["last_judged"]
        yield f"{row}  {'-' if instant is None else f'{instant[:10]} {instant[11:16]}'}"
    if figures["not_begun"]:
        yield f"not begun: annotator {', '.join(figures['not_begun'])}"
    for number, days in figures["not_seen"].items():
        yield f"not seen for {days} days: annotator {number}"


def _row(number: object, role: object, *figures: object) -> str:
    cells = "".join(f"{'-' if cell is None else cell:>11}" for cell in figures)
    return f"{number:>9}  {role:12}{cells}"


def _pace(figures: Figures) -> Iterator[str]:
    """Yield the pace and the forecast; of a closed campaign there is neither."""
    pace, forecast = figures["pace"], figures["forecast"]
    if forecast is None:
        return
    yield (
        f"pace: {pace['judgments_per_day']:,.1f} judgments a day by {pace['people']} people"
        f" (over {pace['days']:g} days; UTC)"
    )
    for day in pace["by_day"] if pace["people"] else []:
        yield f"  {day['date']}  {day['judgments']:>7,} judgments  {day['people']:>4} people"
    yield _forecast_line("open now", forecast["open"], forecast, "open")
    for name, word in (("low", "to come, at least"), ("high", "to come, at most")):
        yield _forecast_line(word, forecast["to_come"][name], forecast, name)


def _forecast_line(what: str, number: int, forecast: Figures, name: str) -> str:
    hours, date = forecast["hours"][name], forecast["dates"][name]
    hours_text = "" if hours is None else f", {hours:g} hours"
    end = f", done on {date}" if date else ", and nobody judges"
    return f"  {what:18}{number:>7,} judgments{hours_text}{end}"


def _refused(refused: Mapping[str, int]) -> Iterator[str]:
    if refused:
        yield f"answers that don't count (see {tables.REJECTED_JUDGMENTS.path})"
        yield from (f"  {reason:22}{number:>7}" for reason, number in refused.items())


def _pairs(pairs: Mapping[str, int]) -> Iterator[str]:
    yield f"pairs      {pairs['all']:>7}"
    for key, number in pairs.items():
        if key != "all":
            yield f"  {key.replace('_', ' '):22}{number:>7}"


def _agreement(agreed: Figures) -> Iterator[str]:
    yield f"of {agreed['pairs_with_two']} pairs with two levels"
    for key in ("exact", "within_1"):
        yield f"  {key.replace('_', ' '):22}{_share(agreed[key])}"


def _queries(figures: Figures) -> Iterator[str]:
    if figures["extended"]:
        yield "second batch judged, and the levels of the first by rank"
        for query, row in figures["extended"].items():
            levels = " ".join("-" if level is None else str(level) for level in row)
            yield f"  {query:22}{levels}"
    if figures["for_the_lead"]:
        yield f"for you to decide in {tables.EXTEND.path} (no level at the last ranks)"
        yield from (f"  {query}" for query in figures["for_the_lead"])


def _share(value: float | None) -> str:
    return f"{'-':>7}" if value is None else f"{100 * value:>6.1f} %"
