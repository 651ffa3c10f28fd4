"""The state of a campaign, as a page of text for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.assignment.progress import DECIDED
from pipeline.campaign.next_step import PEOPLE, Step, format_steps
from pipeline.campaign.yields import describe_prospect
from pipeline.core import tables

PERSON = ("role", "done", "open", "hours", "per hour", "hours left", "refused")
Status = Mapping[str, Any]
VOID = "python -m annotation.people void {} --from {}"


def text(name: str, status: Status) -> str:
    """Return the figures of `annotation.status` as a page of text."""
    steps = [Step(**step) for step in status["next"]]
    sections = [
        [f"{name}: {_wanted(status)}; {_totals(status)}", *format_steps(steps)],
        list(_people(status)),
        list(_checks(status["checks"])),
        list(_pace(status)),
        list(_refused(status["refused"])),
        list(_pairs(status["pairs"])),
        list(_yield(status)),
        list(_queries(status)),
    ]
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _wanted(status: Status) -> str:
    """Return the number of judgments wanted now, and of those that wait for room."""
    later = status.get("later", 0)
    return f"{status['wanted']:,} judgments wanted now" + (f", {later:,} later" if later else "")


def _totals(status: Status) -> str:
    """Return the progress of judging, also when no pair is complete yet."""
    pairs, judgments = status["pairs"], status["judgments"]
    decided = sum(pairs[name] for name in DECIDED)
    if judgments and not decided:
        return f"{judgments:,} judgments, no pair complete yet"
    return f"{judgments:,} made, {decided:,} of {pairs['all']:,} pairs decided"


def _people(status: Status) -> Iterator[str]:
    yield f"{_row('annotator', *PERSON)}  last judged"
    for number, person in status["annotators"].items():
        role = person["role"] or "left"
        names = ("done", "open", "hours", "per_hour", "hours_left", "refused")
        cells = (person[name] for name in names)
        row = _row(number, role if person["active"] else f"({role})", *cells)
        instant = person["last_judged"]
        yield f"{row}  {'-' if instant is None else f'{instant[:10]} {instant[11:16]}'}"
    if status["not_begun"]:
        yield f"not begun: annotator {', '.join(status['not_begun'])}"
    for number, days in status["not_seen"].items():
        yield f"not seen for {days} days: annotator {number}"


def _row(number: object, role: object, *values: object) -> str:
    cells = "".join(f"{'-' if cell is None else cell:>11}" for cell in values)
    return f"{number:>9}  {role:12}{cells}"


def _checks(checks: Status) -> Iterator[str]:
    """Yield who was stopped by hidden checks, and where gold runs out."""
    for number, stop in checks["stopped"].items():
        since, last = (stop[name][:10] for name in ("since", "last"))
        yield f"no longer asked: annotator {number}, who last judged on {last}; since {since}:"
        yield f"  {stop['reason']}"
        yield f"  `checked_from: DATE` in {PEOPLE} forgives earlier answers; `active: false` ends"
        yield f"  their work; to void their judgments since: {VOID.format(number, since)}"
    if checks.get("without_gold"):
        some = ", ".join(map(str, checks["without_gold"]))
        yield (
            f"not enough gold for annotator {some}: {checks['gold']} pairs are gold, but too few"
            f" of the queries they judge; add levels to {tables.GOLD.path}"
        )
    if link := checks.get("link"):
        of = f"{link['pairs']} decided pairs, twice each, by {link['people']} new people"
        yield f"link: {link['made']} judgments of {of}"
    if checks.get("unusable"):
        yield f"{checks['unusable']} pairs of known level can't be asked: no candidates, or no clip"


def _pace(status: Status) -> Iterator[str]:
    """Yield the pace and the forecast; a closed campaign has neither."""
    pace, forecast = status["pace"], status["forecast"]
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
    share = sum(status["checks"]["shares"].values())
    if share and forecast["to_come"]["high"] > forecast["open"]:
        yield (
            f"  hidden checks come with tasks not handed out yet: up to"
            f" {100 * share / (1 - share):.1f} % more, not counted here"
        )


def _forecast_line(what: str, number: int, forecast: Status, name: str) -> str:
    hours, date = forecast["hours"][name], forecast["dates"][name]
    hours_text = "" if hours is None else f", {hours:g} hours"
    end = f", done on {date}" if date else ", but nobody is judging"
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


def _yield(status: Status) -> Iterator[str]:
    """Yield what each step found, and what the next batch of the open queries would bring."""
    if status["yield"]:
        yield f"{'yield':22}{'pairs':>9}{'judgments':>11}{'level 2+':>10}{'per 100 judgments':>19}"
    for row in status["yield"]:
        each = "-" if row["per_judgment"] is None else f"{100 * row['per_judgment']:.1f}"
        numbers = f"{row['pairs']:>9,}{row['judgments']:>11,}{row['relevant']:>10,}{each:>19}"
        yield f"  {row['step']:20}{numbers}"
    for prospect in status.get("prospects", []):
        yield f"  {describe_prospect(prospect)}"
    if audit := status["audit"]:
        later = "" if audit["judged"] == audit["queries"] else ": it tells nothing before all are"
        yield (
            f"  audit of {audit['queries']:,} queries: {audit['drawn']:,} drawn,"
            f" {audit['judged']:,} judged{later}"
        )


def _queries(status: Status) -> Iterator[str]:
    if status["for_the_lead"]:
        yield f"for you to decide in {tables.EXTEND.path} (no level at the last ranks)"
        yield from (f"  {query}" for query in status["for_the_lead"])
