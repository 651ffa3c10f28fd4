"""The lead's own page: figures of individual people, their flags, and pairs they disagree on.

It stays on the lead's machine: git ignores it, and it is in no cache and no release. Pace, forecast
and workload come from the plan (`campaign_state.json`) and are missing without an open campaign.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

import pandas as pd

from pipeline.campaign.pairs import PAIR_KEY
from pipeline.campaign.voided import count_withdrawn
from pipeline.pages.html_tables import UNKNOWN, Cell, Grid, Num, count, decimal, percent
from pipeline.pages.report_inputs import Metrics, Sources

CLIPS = "../clips/"
"""The path from the page to the clips."""
MOMENT = "{video_id}, {start:.1f} to {end:.1f} s, rank {rank}"
APART = 2
SHOWN = 150
OUTCOMES = {
    "discarded": "discarded",
    "unjudgeable": "can\u2019t be judged",
    "waiting": "waiting",
    "adjudicated": "level {level}, by the lead",
    "four": "level {level}, by four",
    "two": "level {level}, by two",
}
ORDER = {outcome: position for position, outcome in enumerate(OUTCOMES)}
FORMS = dict.fromkeys(("number", "couples", "in_bursts"), count)
FORMS |= dict.fromkeys(("most_frequent", "escalated", "exact"), percent)
FORMS |= dict.fromkeys(("gold", "hits", "repeats", "same", "near", "links"), count)
FORMS |= dict.fromkeys(("share", "low", "high", "early", "middle", "late"), percent)
"""The formats of figures that are not decimal numbers."""
PERSON = {
    "number": "Judgments",
    "mean": "Mean",
    "spread": "Spread",
    "bias": "Bias",
    "correlation": "Correlation",
    "most_frequent": "Most frequent level",
    "seconds": "Seconds, median",
    "in_bursts": "In bursts",
    "drift": "Drift",
    "escalated": "Escalated",
}
ANNOTATOR_PAIR = {
    "couples": "Pairs",
    "exact": "Same level",
    "plain": "\u03ba plain",
    "quadratic": "\u03ba quadratic",
}
CHECK = {
    "gold": "Gold",
    "hits": "Gold, within 1",
    "share": "Share",
    "low": "At least",
    "high": "At most",
    "early": "First third",
    "middle": "Second third",
    "late": "Last third",
    "repeats": "Judged twice",
    "same": "Twice the same level",
    "near": "Twice within 1",
    "kappa": "\u03ba quadratic",
    "links": "Decided before",
    "apart": "Away from old votes",
}


class Disputed(NamedTuple):
    """A pair that people disagree on, with each person's answer and its clip."""

    query: str
    caption: str
    moment: str
    outcome: str
    answers: list[str]
    clip: str | None


def flags(annotators: pd.DataFrame) -> list[str]:
    """Return who has a flag, with the reasons."""
    both = zip(annotators["annotator"], annotators["flags"].fillna(""), strict=True)
    return [f"{annotator}: {reasons}" for annotator, reasons in both if reasons]


def people(annotators: pd.DataFrame) -> Grid:
    """Return the figures of each person as a table."""
    rows = [[str(row["annotator"]), *_cells(row, PERSON)] for row in annotators.to_dict("records")]
    note = (
        "Mean and spread (standard deviation) of the levels. Bias: how far they are above the"
        " others\u2019 mean on the same pairs; correlation: with that mean. Drift: how much higher"
        " the bias is in the later half. In bursts: judgments made in long runs of very fast ones."
        " Escalated: share of pairs whose first two votes were too far apart."
    )
    return Grid("Annotators", ("Annotator", *PERSON.values()), rows, note)


def annotator_pairs(pairs: pd.DataFrame) -> Grid:
    """Return how well each two people agree."""
    rows = [
        [f"{row['annotator']} and {row['other']}", *_cells(row, ANNOTATOR_PAIR)]
        for row in pairs.to_dict("records")
    ]
    return Grid("Annotator pairs", ("Annotators", *ANNOTATOR_PAIR.values()), rows)


def hidden_checks(checks: pd.DataFrame) -> Grid | None:
    """Return how people judged pairs whose level is known, and pairs they judged twice."""
    rows = [[str(row["annotator"]), *_cells(row, CHECK)] for row in checks.to_dict("records")]
    note = (
        "Gold pairs, whose level is known: how many were judged within 1 of it, with a 95 %"
        " interval, and the share in each third of them by time. Pairs judged twice: how the second"
        " level compares with the first. Neither counts for the consensus."
    )
    return Grid("Hidden checks", ("Annotator", *CHECK.values()), rows, note) if rows else None


def stopped(state: Metrics) -> list[str]:
    """Return the people whom the exam or hidden checks have stopped, and why."""
    since = {
        annotator: f"no new tasks since {stop['since'][:10]}"
        for annotator, stop in state.get("checks", {}).get("stopped", {}).items()
    }
    return [
        f"{annotator}: {since.get(annotator, 'was stopped')}: {why}"
        for annotator, why in state.get("stopped", {}).items()
    ]


def _cells(row: Mapping[Any, Any], names: dict[str, str]) -> list[Cell]:
    return [FORMS.get(name, decimal)(row.get(name)) for name in names]


def list_disputed(sources: Sources) -> list[Disputed]:
    """Return the pairs whose scores are 2 or more apart, or that nobody could judge.

    Those that wait for a second look, which is blind, are left out. Discarded pairs come first,
    then unjudgeable, waiting and settled ones; within each group, those furthest apart.
    """
    table = _select_disputed(sources)
    queries = sources.queries.set_index("query_id")["query"]
    clips = sources.clips.set_index("moment_id")["clip"].to_dict()
    answers = _answers(sources.votes)
    return [
        Disputed(
            query=str(queries.get(row["query_id"], row["query_id"])),
            caption=row["caption"],
            moment=MOMENT.format_map(row),
            outcome=OUTCOMES[row["outcome"]].format(level=row["level"]),
            answers=answers.get((row["query_id"], row["moment_id"]), []),
            clip=link_clip(clips.get(row["moment_id"])),
        )
        for row in table.to_dict("records")
    ]


def _select_disputed(sources: Sources) -> pd.DataFrame:
    scores = sources.consensus[[*PAIR_KEY, "scores"]]
    looks = sources.second_looks
    blind = looks.loc[looks["decided"].isna(), PAIR_KEY].apply(tuple, axis=1)
    scores = scores[~scores[PAIR_KEY].apply(tuple, axis=1).isin(blind)]
    pairs = sources.collection.pairs.drop(columns="scores").merge(scores, on=PAIR_KEY)
    pairs = pairs.assign(apart=[max(s) - min(s) if len(s) else 0 for s in pairs["scores"]])
    disputed = pairs[(pairs["apart"] >= APART) | (pairs["outcome"] == "unjudgeable")]
    disputed = disputed.assign(order=disputed["outcome"].map(ORDER))
    return disputed.sort_values(["order", "apart", "pair_id"], ascending=[True, False, True])


def _answers(judgments: pd.DataFrame) -> dict[tuple[str, str], list[str]]:
    ordered = judgments.sort_values(["submitted_at", "annotator"])
    said = ordered["level"].astype("str").where(ordered["level"].notna(), ordered["reason"])
    answers: dict[tuple[str, str], list[str]] = {}
    for query, moment, annotator, what in zip(
        ordered["query_id"], ordered["moment_id"], ordered["annotator"], said, strict=True
    ):
        answers.setdefault((query, moment), []).append(f"{annotator}: {what}")
    return answers


def link_clip(clip: str | None) -> str | None:
    """Return the address of a clip from the lead's page."""
    return None if clip is None else CLIPS + quote(clip, safe="")


FORECAST = {"open": "Open now", "low": "To come, at least", "high": "To come, at most"}
FORECAST_NOTE = (
    "To come: what is open, and what disputes and second batches will add, by their shares so far"
    " (95 % intervals). Hours are estimated from the median time of a judgment, days from the pace."
)


def absent(state: Metrics) -> list[str]:
    """Return who has tasks but has not begun, or was not seen for a week."""
    annotators, away = state.get("annotators", {}), state.get("not_seen", {})
    idle = {number: annotators[number]["refused"] for number in state.get("not_begun", [])}
    refused = "; {:,} answers in their project don\u2019t count"
    return [
        *(f"{n}: has not begun{refused.format(k) if k else ''}" for n, k in idle.items()),
        *(
            f"{n}: not seen for {days} days, with {annotators[n]['open']:,} pairs open"
            for n, days in away.items()
        ),
    ]


def format_plan_time(state: Metrics) -> str:
    """Return when the plan was made, to the minute; an empty text without a plan."""
    return str(state.get("as_of", ""))[:16].replace("T", " ")


def forecast(state: Metrics) -> Grid | None:
    """Return what is still to come, as judgments, hours and a day."""
    plan = state.get("forecast")
    if plan is None:
        return None
    numbers = {"open": plan["open"], **plan["to_come"]}
    hours, days = plan["hours"], plan["dates"]
    rows = [
        [title, count(numbers[name]), decimal(hours[name], 1), days[name] or UNKNOWN]
        for name, title in FORECAST.items()
    ]
    return Grid("Forecast", ("", "Judgments", "Hours", "Done on"), rows, FORECAST_NOTE)


def pace(state: Metrics) -> Grid | None:
    """Return judgments and people by day, for the last seven days."""
    plan = state.get("pace")
    if plan is None:
        return None
    rows = [[day["date"], count(day["judgments"]), count(day["people"])] for day in plan["by_day"]]
    mean = f"{plan['judgments_per_day']:,.1f} judgments a day by {plan['people']} people"
    note = f"{mean}, over {plan['days']:g} days."
    return Grid("The last seven days", ("Day (UTC)", "Judgments", "People"), rows, note)


def workload(state: Metrics) -> Grid | None:
    """Return what each person has done and has left."""
    if state.get("pace") is None:
        return None
    rows = [[number, *_work_cells(annotator)] for number, annotator in state["annotators"].items()]
    head = ("Annotator", "Role", "Done", "Open", "Hours", "Per hour", "Hours left", "Refused")
    return Grid("Workload", (*head, "Last judged (UTC)"), rows)


def _work_cells(annotator: Mapping[str, Any]) -> list[Cell]:
    role = annotator["role"] or "left"
    return [
        role if annotator["active"] else f"({role})",
        count(annotator["done"]),
        count(annotator["open"]),
        decimal(annotator["hours"]),
        count(annotator["per_hour"]),
        decimal(annotator["hours_left"]),
        count(annotator["refused"]),
        Num((annotator["last_judged"] or UNKNOWN)[:16].replace("T", " ")),
    ]


def count_refused(rejected: pd.DataFrame) -> Grid:
    """Return how many answers are not judgments, by reason and who sent them."""
    numbers = pd.crosstab(rejected["reason"], rejected["sent_by"].fillna("nobody recorded"))
    order = numbers.sum(axis=1).sort_values(ascending=False, kind="stable").index
    rows = [
        [reason, count(numbers.loc[reason].sum()), *map(count, numbers.loc[reason])]
        for reason in order
    ]
    head = ("Reason", "All", *map(str.capitalize, numbers.columns))
    note = "Each is listed in datasets/work/rejected_judgments.csv." if rows else "None."
    return Grid("By reason", head, rows, note)


def list_withdrawn(sources: Sources) -> Grid:
    """Return whose votes are voided, how many, and why."""
    counts = count_withdrawn(sources.judgments, sources.voided)
    rows: list[list[Cell]] = [
        [
            str(row["annotator"]),
            f"{row['since']:%Y-%m-%d %H:%M}",
            UNKNOWN if pd.isna(row["until"]) else f"{row['until']:%Y-%m-%d %H:%M}",
            count(counts.get(row["annotator"], 0)),
            "" if pd.isna(row["note"]) else row["note"],
        ]
        for row in sources.voided.to_dict("records")
    ]
    note = "They stay in judgments.csv; others judge these pairs." if rows else "None."
    head = ("Annotator", "From (UTC)", "Until", "Votes of this annotator", "Why")
    return Grid("Withdrawn votes", head, rows, note)
