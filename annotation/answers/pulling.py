"""A pull: what people have judged in Label Studio, merged with what was pulled before."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain

import pandas as pd

from annotation.answers import deviations, exam_answers, reader
from annotation.answers.adjudications import fetch_decisions
from annotation.answers.departures import find_left, update_departures
from annotation.answers.history import REFUSED, STATES, History, first_pairs, history
from annotation.answers.judgments import Rules, SortedAnswers, Trust, sort_answers
from annotation.answers.reader import owners
from annotation.label_studio import projects
from annotation.label_studio.connection import Connection
from annotation.roster.senders import name_sender
from pipeline.campaign.campaign import CampaignError, parse_instant
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
    open_projects = projects.find_projects(connection)
    before, refused = tables.JUDGMENT_HISTORY.read(), tables.REJECTED_JUDGMENTS.read_or_empty()
    trusted = trust or set(before.loc[before["state"] == "trusted", "origin"]).__contains__
    people = owners(connection, open_projects)
    rules = Rules(
        connection.signer,
        connection.campaign.guidelines_shown,
        trusted,
        first_pairs(before),
        set(refused.loc[refused["reason"] == "prefilled", "origin"]),
        connection.campaign.released,
    )
    until = {person.number: person.until for person in connection.roster.annotators}
    left = find_left(departed, until, before)
    set_aside = deviations.find_set_aside(tables.DEVIATIONS.read_or_empty(), "campaign", before)
    for listed in progress("pull", people, total=len(people), unit="projects"):
        number = listed.annotator
        owner = listed._replace(left=left(number), set_aside=set_aside(number))
        tasks = reader.read(connection.studio, open_projects[owner.annotator], full=full)
        project = sort_answers(tasks.values(), owner, rules)
        for name, project_rows in project._asdict().items():
            getattr(rows, name).extend(project_rows)
    return rows


def record_departures(connection: Connection) -> pd.DataFrame:
    """Return `tables.DEPARTURES` as of now: anyone not listed is not active."""
    listed, accounts = connection.roster
    active = {person.number for person in listed if person.active}
    inactive = ({person.number for person in listed} | accounts.keys()) - active
    return update_departures(tables.DEPARTURES.read(), inactive, datetime.now(UTC))


def merge_history(
    before: pd.DataFrame, rows: SortedAnswers, released: datetime | None = None
) -> History:
    """Merge rows with the versions pulled earlier; nothing is written.

    What was pulled of answers given before `released` is final: whatever has become of them on the
    server since, they stay as they were.
    """
    now = pd.DataFrame(rows.judgments, columns=tables.JUDGMENT_HISTORY.columns)
    answers = [row for row in rows.rejected if row["reason"] != "draft"]
    refused = pd.DataFrame(answers, columns=REFUSED)
    times = pd.to_datetime(refused["updated_at"], format="ISO8601", utc=True)
    current, refused = tables.JUDGMENT_HISTORY.check(now), refused.assign(updated_at=times)
    if released is None:
        return history(before, current, refused)
    final = before["submitted_at"] < released
    new = [~frame["origin"].isin(before.loc[final, "origin"]) for frame in (current, refused)]
    merged = history(before[~final], current[new[0]], refused[new[1]])
    return merged.keep(before[final])


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
    forged = Counter(
        row["sent_by"]
        for row in rows.rejected
        if row["sent_by"] not in {None, name_sender(row["annotator"])}
    )
    senders = ", ".join(f"{name} ({number})" for name, number in sorted(forged.items()))
    aside = sum(row["reason"] == "not-as-configured" for row in rows.rejected)
    tampered = int((merged.versions["state"] == "tampered").sum())
    texts = {
        f"{len(rows.duplicates)} tasks exist more than once; `dvc repro push` closes duplicates":
            rows.duplicates,
        f"{imported} answers were imported, under unverified names; if you imported them:"
        " python -m annotation.pull --trust-imported": imported,
        f"{forged.total()} refused answers were sent or changed by {senders}, in others' projects":
            forged,
        f"{aside} answers were given while a project was not as push made it"
        f" ({tables.DEVIATIONS.path}); to count them: python -m annotation.pull --take-set-aside":
            aside,
        f"{tampered} judgments, or their tasks, were changed by someone else; what their"
        " annotators answered still counts": tampered,
        f"{describe_loss(merged)}; they still count": len(merged.vanished),
    }  # fmt: skip
    return [text for text, true in texts.items() if true]


def describe_deviations(found: Mapping[deviations.Whose, str]) -> list[str]:
    """Return which projects are not as push made them, a line each."""
    return [
        f"annotator {annotator}'s {purpose} project is not as push made it: {what}. Push restores"
        " it; until then, answers are set aside"
        for (annotator, purpose), what in sorted(found.items())
    ]


def describe_newcomers(connection: Connection) -> list[str]:
    """Return which accounts were created since the campaign was opened, and are nobody's here."""
    known = {account.email.lower() for account in connection.roster.accounts.values()}
    opened = parse_instant(connection.campaign.opened_at)
    strangers = [
        f"{number} ({joined:%Y-%m-%d %H:%M})"
        for number, email, joined in connection.studio.accounts()
        if email not in known and joined > opened
    ]
    numbers = ", ".join(strangers)
    text = f"accounts that are no annotator's were created: {numbers}; see SECURITY.md"
    return [text] if strangers else []


def pull(
    connection: Connection,
    *,
    accept_loss: bool = False,
    full: bool = False,
    trust: Trust | None = None,
    take_set_aside: bool = False,
) -> None:
    """Write everything that people have judged so far.

    `take_set_aside` counts what was answered so far in projects that were not as push made them.

    Raises:
        StudioError: the server can't be reached or fails; nothing is written.
        CampaignError: it is another campaign's, or many judgments have disappeared from it.
    """
    departed, now = record_departures(connection), connection.studio.now()
    found = deviations.inspect(connection, load())
    deviated = deviations.update_deviations(
        tables.DEVIATIONS.read_or_empty(), found, connection, now
    )
    tables.DEVIATIONS.write(deviations.take(deviated, now) if take_set_aside else deviated)
    rows = fetch(connection, departed, full=full, trust=trust)
    released = connection.campaign.released
    merged = merge_history(tables.JUDGMENT_HISTORY.read(), rows, released)
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
    setups = describe_deviations(found), describe_newcomers(connection)
    for remark in (*remarks(rows, merged), *chain(*setups)):
        cli.log(f"pull: {remark}")
    if examined:
        cli.log(f"pull: {exam_answers.log_line(examined)}")
