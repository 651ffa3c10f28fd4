"""How a campaign gets on, for the lead's page: pace, forecast, and who has what to do.

The plan works it out (`campaign_state.json`); without an open campaign there is none of it.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pipeline.pages.lead import Flag
from pipeline.pages.sources import Figures
from pipeline.pages.tables import UNKNOWN, Cell, Grid, Num, count, decimal

FORECAST = {
    "open": "Open now",
    "low": "To come, at least",
    "high": "To come, at most",
}
NOTE = (
    "To come: what is open, and what disputes and second batches will add, by their shares so far"
    " (95 % intervals). Hours by the median time of a judgment, days by the pace."
)


def absent(state: Figures) -> list[Flag]:
    """Return who has tasks, and has not begun or was not seen for a week."""
    begun = [Flag(number, _idle(state, number)) for number in state.get("not_begun", [])]
    away = state.get("not_seen", {})
    return begun + [
        Flag(number, [f"not seen for {days} days, with {_open(state, number)} pairs open"])
        for number, days in away.items()
    ]


def _idle(state: Figures, number: str) -> list[str]:
    refused = state["annotators"][number]["refused"]
    told = [f"{refused:,} answers in their project don\u2019t count"] if refused else []
    return ["has not begun", *told]


def _open(state: Figures, number: str) -> str:
    return f"{state['annotators'][number]['open']:,}"


def as_of(state: Figures) -> str:
    """Return when the plan was made, to the minute; nothing where there is none."""
    return str(state.get("as_of", ""))[:16].replace("T", " ")


def forecast(state: Figures) -> Grid | None:
    """Return what is to come, as judgments, hours and a day."""
    found = state.get("forecast")
    if found is None:
        return None
    numbers = {"open": found["open"], **found["to_come"]}
    rows = [
        [
            title,
            count(numbers[name]),
            decimal(found["hours"][name], 1),
            found["dates"][name] or UNKNOWN,
        ]
        for name, title in FORECAST.items()
    ]
    return Grid("Forecast", ("", "Judgments", "Hours", "Done on"), rows, NOTE)


def pace(state: Figures) -> Grid | None:
    """Return judgments and people by day, of the last seven."""
    found = state.get("pace")
    if found is None:
        return None
    rows = [[day["date"], count(day["judgments"]), count(day["people"])] for day in found["by_day"]]
    mean = f"{found['judgments_per_day']:,.1f} judgments a day by {found['people']} people"
    note = f"{mean}, over {found['days']:g} days."
    return Grid("The last seven days", ("Day (UTC)", "Judgments", "People"), rows, note)


def workload(state: Figures) -> Grid | None:
    """Return what each person has done and has left."""
    if state.get("pace") is None:
        return None
    rows = [[number, *_cells(who)] for number, who in state["annotators"].items()]
    head = ("Annotator", "Role", "Done", "Open", "Hours", "Per hour", "Hours left", "Refused")
    return Grid("Work, done and left", (*head, "Last judged (UTC)"), rows)


def _cells(who: Mapping[str, Any]) -> list[Cell]:
    role = who["role"] or "left"
    return [
        role if who["active"] else f"({role})",
        count(who["done"]),
        count(who["open"]),
        decimal(who["hours"]),
        count(who["per_hour"]),
        decimal(who["hours_left"]),
        count(who["refused"]),
        Num((who["last_judged"] or UNKNOWN)[:16].replace("T", " ")),
    ]


def refused(rejected: pd.DataFrame) -> Grid:
    """Return how many answers are no judgments, by reason and annotator."""
    numbers = pd.crosstab(rejected["reason"], rejected["annotator"])
    order = numbers.sum(axis=1).sort_values(ascending=False, kind="stable").index
    rows = [
        [reason, count(numbers.loc[reason].sum()), *map(count, numbers.loc[reason])]
        for reason in order
    ]
    head = ("Reason", "All", *(f"Annotator {number}" for number in numbers.columns))
    note = "Each stands in datasets/work/rejected_judgments.csv." if rows else "There are none."
    return Grid("By reason", head, rows, note)
