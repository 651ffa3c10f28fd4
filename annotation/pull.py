"""Fetch what people have judged in Label Studio.

reads   datasets/campaign/campaign.yaml, annotators.yaml, annotators.private.yaml, Label Studio
writes  datasets/campaign/judgments.csv (each person's newest answer to a pair) and
        judgment_history.csv (every version ever seen); datasets/work/open_tasks.parquet and
        rejected_judgments.csv (answers that are no judgments, with the reason), and today.json
        (the day, on which the plan's pace and forecast depend)

Without a server the tables stay as they are. Where many judgments went away from the server it
stops, and says how many; `--accept-loss` goes on without them on the server (they still count).
Answers that were imported bear any name that their importer chose: they are refused, unless
`--trust-imported` says that those which are there now count.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

import pandas as pd

from annotation.answers import reader
from annotation.answers.history import REFUSED, STATES, History, first_pairs, history
from annotation.answers.judgments import Row, Sorted, Trust, everybody, sort_out
from annotation.answers.reader import owners
from annotation.label_studio import projects
from annotation.label_studio.connection import Connection, alone, connect
from pipeline.campaign.campaign import CampaignError, running
from pipeline.core import cli, files, tables
from pipeline.core.progress import progress
from pipeline.core.table import Table

KEPT = (tables.JUDGMENTS, tables.JUDGMENT_HISTORY, tables.OPEN_TASKS, tables.REJECTED_JUDGMENTS)
FEW_LOST, LOST_SHARE = 2, 0.001
"""Who deletes an answer or two did so by accident: that many, or that share of all, are told."""


def fetch(connection: Connection, *, anew: bool = False, trust: Trust | None = None) -> Sorted:
    """Return the rows of all projects of the campaign.

    Of imported answers those count which `trust` says; by default those which counted before.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: it is another campaign's, or nobody knows whose a project is.
    """
    found = Sorted([], [], [], [])
    own = projects.ours(connection.studio, connection.campaign)
    before = tables.JUDGMENT_HISTORY.read()
    people, trusts, known = owners(connection, own), trust or _trusted(before), first_pairs(before)
    for owner in progress("pull", people, total=len(people), unit="projects"):
        tasks = reader.read(connection.studio, own[owner.annotator], anew=anew)
        project = sort_out(tasks.values(), owner, connection.signer, trusts, known)
        found.judgments.extend(project.judgments)
        found.rejected.extend(project.rejected)
        found.open_tasks.extend(project.open_tasks)
        found.surplus.extend(project.surplus)
    return found


def _trusted(before: pd.DataFrame) -> Trust:
    return set(before.loc[before["state"] == "trusted", "origin"]).__contains__


def merged(found: Sorted) -> History:
    """Bring the rows together with what was known; nothing is written."""
    return combine(tables.JUDGMENT_HISTORY.read(), found)


def combine(before: pd.DataFrame, found: Sorted) -> History:
    """Bring rows together with the versions that were known before."""
    now = pd.DataFrame(found.judgments, columns=tables.JUDGMENT_HISTORY.columns)
    answers = [row for row in found.rejected if row["reason"] != "draft"]
    refused = pd.DataFrame(answers, columns=REFUSED)
    times = pd.to_datetime(refused["updated_at"], format="ISO8601", utc=True)
    return history(before, tables.JUDGMENT_HISTORY.check(now), refused.assign(updated_at=times))


def refuse_loss(known: History) -> None:
    """Stop where many judgments went away from the server since the last time.

    Raises:
        CampaignError: more did than somebody deletes by accident.
    """
    if len(known.vanished) > max(FEW_LOST, LOST_SHARE * len(known.judgments)):
        raise CampaignError(
            f"{loss(known)}; nothing was written, and {tables.JUDGMENTS.path} still has them."
            " Restore the server; or, if that can't be:"
            " python -m annotation.pull --accept-loss (they go on counting), then dvc repro"
        )


def loss(known: History) -> str:
    """Say how many judgments went away, and whose they were."""
    some = Counter(f"annotator {number}" for number in known.vanished["annotator"])
    whose = ", ".join(f"{count} by {who}" for who, count in sorted(some.items()))
    return f"{len(known.vanished)} judgments went away from the server ({whose})"


def other_tables(found: Sorted) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of open tasks and of answers that are no judgments."""
    return (
        _table(tables.OPEN_TASKS, found.open_tasks),
        _table(tables.REJECTED_JUDGMENTS, found.rejected),
    )


def _table(table: Table, rows: Sequence[Row]) -> pd.DataFrame:
    frame = table.check(pd.DataFrame(rows, columns=table.columns))
    return frame.sort_values(table.columns, ignore_index=True)


def _keep() -> None:
    """Leave the tables as they are; make those that were never there."""
    for table in KEPT:
        if not table.path.is_file():
            table.write(table.empty())


def figures(found: Sorted, known: History) -> dict[str, object]:
    """Return the metrics."""
    return {
        "judgments": len(known.judgments),
        "open_tasks": len(found.open_tasks),
        "surplus_tasks": len(found.surplus),
        "versions": {state: int((known.versions["state"] == state).sum()) for state in STATES},
        "rejected": dict(sorted(Counter(row["reason"] for row in found.rejected).items())),
    }


def remarks(found: Sorted, known: History) -> list[str]:
    """Return what the lead should know besides the numbers, a line each."""
    imported = sum(row["reason"] == "imported" for row in found.rejected)
    tampered = int((known.versions["state"] == "tampered").sum())
    told = {
        f"{len(found.surplus)} tasks are there more than once; `dvc repro push` closes the surplus":
            found.surplus,
        f"{imported} answers were imported, and bear any name; if you imported them:"
        " python -m annotation.pull --trust-imported": imported,
        f"{tampered} judgments, or their tasks, were changed by somebody else; what their"
        " annotators said goes on counting": tampered,
        f"{loss(known)}; they go on counting": len(known.vanished),
    }  # fmt: skip
    return [text for text, true in told.items() if true]


def pull(
    connection: Connection,
    *,
    accept_loss: bool = False,
    anew: bool = False,
    trust: Trust | None = None,
) -> None:
    """Write what people have judged until now.

    Raises:
        StudioError: the server can't be reached or fails; nothing is written.
        CampaignError: it is another campaign's, or many judgments went away from it.
    """
    found = fetch(connection, anew=anew, trust=trust)
    known = merged(found)
    if not accept_loss:
        refuse_loss(known)
    open_tasks, rejected = other_tables(found)
    tables.JUDGMENT_HISTORY.write(known.versions)
    tables.JUDGMENTS.write(known.judgments)
    tables.OPEN_TASKS.write(open_tasks)
    tables.REJECTED_JUDGMENTS.write(rejected)
    cli.write_metrics("pull", figures(found, known))
    cli.log(
        f"pull: {len(known.judgments)} judgments, {len(found.open_tasks)} tasks open,"
        f" {len(found.rejected)} answers refused"
        + (f" (see {tables.REJECTED_JUDGMENTS.path})" if found.rejected else "")
    )
    for remark in remarks(found, known):
        cli.log(f"pull: {remark}")


def main(options: argparse.Namespace) -> None:
    """Pull, if a campaign is open and a server is configured."""
    _keep()
    files.write_json(tables.TODAY, {"date": f"{datetime.now(UTC):%Y-%m-%d}" if running() else None})
    connection = connect("pull")
    if connection is None:
        cli.write_metrics("pull", {"judgments": len(tables.JUDGMENTS.read())})
        return
    with alone("pull"):
        trust = everybody if options.trust_imported else None
        pull(connection, accept_loss=options.accept_loss, anew=options.anew, trust=trust)


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Reads .env in the current folder; `dvc repro` runs it.")
    parser.add_argument(
        "--accept-loss", action="store_true", help="go on though judgments went from the server"
    )
    parser.add_argument(
        "--trust-imported",
        action="store_true",
        help="count the answers that were imported until now, in the names that they bear",
    )
    parser.add_argument(
        "--anew", action="store_true", help="read all of it, not just what was changed"
    )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
