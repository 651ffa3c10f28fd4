"""A pull: what people have judged in Label Studio, merged with what was pulled before."""

from collections import Counter
from datetime import UTC, datetime

import pandas as pd

from annotation.answers import exam_answers, reader
from annotation.answers.adjudications import fetch_decisions
from annotation.answers.departures import find_left, update_departures
from annotation.answers.history import REFUSED, STATES, History, first_pairs, history
from annotation.answers.judgments import SortedAnswers, Trust, sort_answers
from annotation.answers.reader import owners
from annotation.label_studio import projects
from annotation.label_studio.connection import Connection
from pipeline.campaign.campaign import CampaignError
from pipeline.core import cli, tables
from pipeline.core.params import load
from pipeline.core.progress import progress

OUTPUTS = (
    tables.JUDGMENT_HISTORY,
    tables.JUDGMENTS,
    tables.OPEN_TASKS,
    tables.REJECTED_JUDGMENTS,
    tables.DEPARTURES,
    tables.ADJUDICATIONS,
)
FEW_LOST, LOST_SHARE = 2, 0.001
"""Losing up to that many judgments, or that share of all, is an accident, and only logged."""


def fetch(
    connection: Connection,
    departed: pd.DataFrame,
    *,
    full: bool = False,
    trust: Trust | None = None,
) -> SortedAnswers:
    """Return the rows of all projects of the campaign.

    `departed` is `tables.DEPARTURES` as of now. `trust` says which imported answers count; by
    default, those that counted before.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: it is another campaign's, or a project's annotator has no known account.
    """
    rows = SortedAnswers([], [], [], [])
    open_projects = projects.find_projects(connection.studio, connection.campaign)
    before = tables.JUDGMENT_HISTORY.read()
    trusted = trust or set(before.loc[before["state"] == "trusted", "origin"]).__contains__
    people, seen_pairs = owners(connection, open_projects), first_pairs(before)
    until = {person.number: person.until for person in connection.roster.annotators}
    left = find_left(departed, until, before)
    for listed in progress("pull", people, total=len(people), unit="projects"):
        owner = listed._replace(left=left(listed.annotator))
        tasks = reader.read(connection.studio, open_projects[owner.annotator], full=full)
        project = sort_answers(tasks.values(), owner, connection.signer, trusted, seen_pairs)
        for name, project_rows in project._asdict().items():
            getattr(rows, name).extend(project_rows)
    for row in rows.judgments:
        row["guideline"] = reader.find_guideline(
            connection.campaign, row["guideline_sha"], row["submitted_at"]
        )
    return rows


def record_departures(connection: Connection) -> pd.DataFrame:
    """Return `tables.DEPARTURES` as of now: anyone not listed is not active."""
    listed, accounts = connection.roster
    active = {person.number for person in listed if person.active}
    inactive = ({person.number for person in listed} | accounts.keys()) - active
    return update_departures(tables.DEPARTURES.read(), inactive, datetime.now(UTC))


def merge_history(before: pd.DataFrame, rows: SortedAnswers) -> History:
    """Merge rows with the versions pulled earlier; nothing is written."""
    now = pd.DataFrame(rows.judgments, columns=tables.JUDGMENT_HISTORY.columns)
    answers = [row for row in rows.rejected if row["reason"] != "draft"]
    refused = pd.DataFrame(answers, columns=REFUSED)
    times = pd.to_datetime(refused["updated_at"], format="ISO8601", utc=True)
    return history(before, tables.JUDGMENT_HISTORY.check(now), refused.assign(updated_at=times))


def refuse_loss(merged: History) -> None:
    """Refuse if many judgments have disappeared from the server since the last pull.

    Raises:
        CampaignError: more have than someone would delete by accident.
    """
    if len(merged.vanished) > max(FEW_LOST, LOST_SHARE * len(merged.judgments)):
        raise CampaignError(
            f"{describe_loss(merged)}; nothing was written, and {tables.JUDGMENTS.path} still has"
            " them. Restore the server; if that is impossible:"
            " python -m annotation.pull --accept-loss (they still count), then dvc repro"
        )


def describe_loss(merged: History) -> str:
    """Return how many judgments disappeared, and whose they were."""
    some = Counter(f"annotator {number}" for number in merged.vanished["annotator"])
    whose = ", ".join(f"{count} by {name}" for name, count in sorted(some.items()))
    return f"{len(merged.vanished)} judgments disappeared from the server ({whose})"


def other_tables(rows: SortedAnswers) -> list[pd.DataFrame]:
    """Return the tables of open tasks and of answers that are not judgments."""
    both = ((tables.OPEN_TASKS, rows.open_tasks), (tables.REJECTED_JUDGMENTS, rows.rejected))
    frames = ((table, pd.DataFrame(some, columns=table.columns)) for table, some in both)
    return [
        table.check(frame).sort_values(table.columns, ignore_index=True) for table, frame in frames
    ]


def summarize(rows: SortedAnswers, merged: History) -> dict[str, object]:
    """Return the metrics."""
    return {
        "judgments": len(merged.judgments),
        "open_tasks": len(rows.open_tasks),
        "duplicate_tasks": len(rows.duplicates),
        "versions": {state: int((merged.versions["state"] == state).sum()) for state in STATES},
        "rejected": dict(sorted(Counter(row["reason"] for row in rows.rejected).items())),
    }


def remarks(rows: SortedAnswers, merged: History) -> list[str]:
    """Return what else the lead should know, a line each."""
    imported = sum(row["reason"] == "imported" for row in rows.rejected)
    tampered = int((merged.versions["state"] == "tampered").sum())
    texts = {
        f"{len(rows.duplicates)} tasks exist more than once; `dvc repro push` closes duplicates":
            rows.duplicates,
        f"{imported} answers were imported, under unverified names; if you imported them:"
        " python -m annotation.pull --trust-imported": imported,
        f"{tampered} judgments, or their tasks, were changed by someone else; what their"
        " annotators answered still counts": tampered,
        f"{describe_loss(merged)}; they still count": len(merged.vanished),
    }  # fmt: skip
    return [text for text, true in texts.items() if true]


def pull(
    connection: Connection,
    *,
    accept_loss: bool = False,
    full: bool = False,
    trust: Trust | None = None,
) -> None:
    """Write everything that people have judged so far.

    Raises:
        StudioError: the server can't be reached or fails; nothing is written.
        CampaignError: it is another campaign's, or many judgments have disappeared from it.
    """
    departed = record_departures(connection)
    rows = fetch(connection, departed, full=full, trust=trust)
    merged = merge_history(tables.JUDGMENT_HISTORY.read(), rows)
    if not accept_loss:
        refuse_loss(merged)
    examined = None
    if len(tables.EXAM.read()):
        examined = exam_answers.fetch_and_mark(connection, load().exam, full=full)
        exam_answers.write(examined)
    decided = fetch_decisions(connection, departed, full=full)
    frames = (merged.versions, merged.judgments, *other_tables(rows), departed, decided.decisions)
    for table, frame in zip(OUTPUTS, frames, strict=True):
        table.write(frame)
    cli.write_metrics("pull", summarize(rows, merged))
    cli.log(
        f"pull: {len(merged.judgments)} judgments, {len(rows.open_tasks)} tasks open,"
        f" {len(rows.rejected)} answers refused"
        + (f" (see {tables.REJECTED_JUDGMENTS.path})" if rows.rejected else "")
    )
    for remark in remarks(rows, merged):
        cli.log(f"pull: {remark}")
    if examined:
        cli.log(f"pull: {exam_answers.log_line(examined)}")
