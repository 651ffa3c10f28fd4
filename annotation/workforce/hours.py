"""Hours: what people did and how long it took, by person and week, for payment.

All work counts, whatever it was for: votes, hidden checks, exam and feedback, adjudication. Voided
and refused answers are listed separately. None of it is released.
"""

from collections.abc import Collection, Sequence
from datetime import date

import pandas as pd

from annotation.roster.senders import is_own
from pipeline.campaign.effort import HOUR, active_seconds, bound_seconds
from pipeline.campaign.voided import mark_voided
from pipeline.core import tables

WORK = (tables.JUDGMENTS, tables.EXAM_ANSWERS, tables.ADJUDICATIONS)
"""The tables of people's work; refused answers are in `tables.REJECTED_JUDGMENTS`."""
DONE = ["annotator", "submitted_at", "seconds", "origin"]
KEY = ["annotator", "week"]
STATES = ("counted", "voided", "refused")
ALL = "all"


def list_work(
    done: Sequence[pd.DataFrame],
    voided: pd.DataFrame,
    refused: pd.DataFrame,
    imported: Collection[str] = (),
) -> pd.DataFrame:
    """Return a row for each answer: `annotator, submitted_at, seconds, state`.

    `done` are tables of judgments, `refused` is `tables.REJECTED_JUDGMENTS`: a draft was never
    submitted, and does not count as work, nor does what somebody else sent. An answer took no
    longer than the time since its annotator's last one, except `imported` ones (by origin): the
    server knows only when they were imported.
    """
    judged = pd.concat([frame[DONE] for frame in done], ignore_index=True)
    states = mark_voided(judged, voided).map({True: "voided", False: "counted"})
    own = (refused["reason"] != "draft") & is_own(refused)
    answers = refused.loc[own, DONE].assign(state="refused")
    work = pd.concat([judged.assign(state=states), answers], ignore_index=True)
    bounded = bound_seconds(work[~work["origin"].isin(list(imported))])
    return work.assign(seconds=bounded.reindex(work.index).fillna(work["seconds"]))


def measure_hours(
    work: pd.DataFrame, pause: float, first: date | None = None, last: date | None = None
) -> pd.DataFrame:
    """Return the work of each annotator and ISO week from the day `first` to `last` (UTC).

    Columns: `annotator, week`, then `judgments, hours, without_time` of non-voided answers, and
    `voided, voided_hours, refused, refused_hours`. An answer counts for at most `pause` minutes;
    one without a time for none. A week without work has no row.
    """
    days = work["submitted_at"].dt.date
    chosen = work[(days >= (first or date.min)) & (days <= (last or date.max))]
    week = chosen["submitted_at"].dt.strftime("%G-W%V")
    hours = active_seconds(chosen["seconds"], pause) / HOUR
    rows = chosen[["annotator"]].assign(week=week)
    for state in STATES:
        in_state = chosen["state"] == state
        rows[state] = in_state.astype("int64")
        rows[f"{state}_hours"] = hours.where(in_state).fillna(0.0)
    rows["without_time"] = ((chosen["state"] == "counted") & hours.isna()).astype("int64")
    named = rows.rename(columns={"counted": "judgments", "counted_hours": "hours"})
    table: pd.DataFrame = named.groupby(KEY)[TOTALS].sum()
    return table.reset_index()


TOTALS = ["judgments", "hours", "without_time", "voided", "voided_hours", "refused",
           "refused_hours"]  # fmt: skip


def add_totals(hours: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each annotator followed by their total, and finally everyone's total."""
    totals = hours.groupby("annotator")[TOTALS].sum().reset_index().assign(week=ALL)
    both = pd.concat([hours, totals]).sort_values("annotator", kind="stable")
    everybody = {name: hours[name].sum() for name in TOTALS} | dict.fromkeys(KEY, ALL)
    return pd.concat([both.astype({"annotator": object}), pd.DataFrame([everybody])])


def rate(hours: pd.DataFrame) -> pd.Series:
    """Return the judgments per hour, of those with a time; NaN if there are none."""
    known = hours["judgments"] - hours["without_time"]
    return known / hours["hours"].where(hours["hours"] > 0)


def text(hours: pd.DataFrame, pause: float) -> str:
    """Return the hours as a table for a terminal."""
    whole = add_totals(hours)
    shown = whole.assign(per_hour=rate(whole))[[*KEY, *TOTALS[:2], "per_hour", *TOTALS[2:]]]
    table = shown.to_string(index=False, na_rep="-", float_format="{:.2f}".format)
    return (
        f"{table}\n"
        "Weeks are ISO weeks, by the time of submission (UTC). An answer counts for at most"
        f" {pause:g} minutes (plan.pause), and no more than the time since their last one; one"
        " without a time for nothing.\n"
    )
