"""Fetch what people have judged in Label Studio.

reads   datasets/campaign/campaign.yaml, annotators.yaml, annotators.private.yaml, Label Studio
writes  datasets/campaign/judgments.csv (each person's newest answer to a pair) and
        judgment_history.csv (every version ever seen); datasets/work/open_tasks.parquet and
        rejected_judgments.csv (answers that are no judgments, with the reason)

Without a server the tables stay as they are. Where judgments went away from the server it
stops, and says how many; `--accept-loss` goes on without them on the server (they still count).
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
from tqdm import tqdm

from annotation.connection import Connection, alone, connect
from annotation.opened import CampaignError
from annotation.pulling import reader
from annotation.pulling.answers import Owner, Row, Sorted, sort_out
from annotation.pulling.history import History, history
from annotation.studio import projects
from pipeline import stage, tables
from pipeline.schema import Table
from pipeline.tables import PRIVATE

KEPT = (tables.JUDGMENTS, tables.JUDGMENT_HISTORY, tables.OPEN_TASKS, tables.REJECTED_JUDGMENTS)


def fetch(connection: Connection, *, anew: bool = False) -> Sorted:
    """Return the rows of all projects of the campaign.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: it is another campaign's, or nobody knows whose a project is.
    """
    found = Sorted([], [], [])
    own = projects.ours(connection.studio, connection.campaign)
    owners = _owners(connection, own)
    for owner in tqdm(owners, "pull", unit=" projects", disable=None if owners else True):
        tasks = reader.read(connection.studio, own[owner.annotator], anew=anew)
        for rows, more in zip(
            found, sort_out(tasks.values(), owner, connection.signer.read), strict=True
        ):
            rows.extend(more)
    return found


def _owners(connection: Connection, annotators: Sequence[int] | dict[int, Any]) -> list[Owner]:
    users = connection.studio.users()
    accounts = connection.roster.accounts
    unknown = sorted(set(annotators) - accounts.keys())
    if unknown:
        raise CampaignError(
            f"{PRIVATE}: has no account for annotator {unknown[0]}, so that nobody can tell their"
            " answers from others'; add it (an account that has left stays listed)"
        )
    emails = {number: accounts[number].email.lower() for number in annotators}
    return [Owner(number, users.get(email)) for number, email in sorted(emails.items())]


def merged(found: Sorted) -> History:
    """Bring the rows together with what was known; nothing is written."""
    columns = [name for name in tables.JUDGMENT_HISTORY.columns if name != "state"]
    now = pd.DataFrame(found.judgments, columns=columns).assign(state="stands")
    now = tables.JUDGMENT_HISTORY.check(now).drop(columns="state")
    refused = pd.Series([row["origin"] for row in found.rejected], dtype="str")
    return history(tables.JUDGMENT_HISTORY.read(), now, refused)


def refuse_loss(known: History) -> None:
    """Stop where judgments went away from the server since the last time.

    Raises:
        CampaignError: some did.
    """
    lost = known.vanished
    if len(lost):
        some = Counter(f"annotator {number}" for number in lost["annotator"])
        whose = ", ".join(f"{count} by {who}" for who, count in sorted(some.items()))
        raise CampaignError(
            f"{len(lost)} judgments went away from the server ({whose}); nothing was written, and"
            f" {tables.JUDGMENTS.path} still has them. Restore the server; or, if that can't be:"
            " python -m annotation.pull --accept-loss (they go on counting), then dvc repro"
        )


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
        "versions": {
            state: int((known.versions["state"] == state).sum())
            for state in ("stands", "replaced", "rejected", "lost")
        },
        "rejected": dict(sorted(Counter(row["reason"] for row in found.rejected).items())),
    }


def pull(connection: Connection, *, accept_loss: bool = False, anew: bool = False) -> None:
    """Write what people have judged until now.

    Raises:
        StudioError: the server can't be reached or fails; nothing is written.
        CampaignError: it is another campaign's, or judgments went away from it.
    """
    found = fetch(connection, anew=anew)
    known = merged(found)
    if not accept_loss:
        refuse_loss(known)
    open_tasks, rejected = other_tables(found)
    tables.JUDGMENT_HISTORY.write(known.versions)
    tables.JUDGMENTS.write(known.judgments)
    tables.OPEN_TASKS.write(open_tasks)
    tables.REJECTED_JUDGMENTS.write(rejected)
    stage.write_metrics("pull", figures(found, known))
    stage.say(
        f"pull: {len(known.judgments)} judgments, {len(found.open_tasks)} tasks open,"
        f" {len(found.rejected)} answers refused"
        + (f" (see {tables.REJECTED_JUDGMENTS.path})" if found.rejected else "")
    )


def main(options: argparse.Namespace) -> None:
    """Pull, if a campaign is open and a server is configured."""
    _keep()
    connection = connect("pull")
    if connection is None:
        stage.write_metrics("pull", {"judgments": len(tables.JUDGMENTS.read())})
        return
    with alone("pull"):
        pull(connection, accept_loss=options.accept_loss, anew=options.anew)


def _arguments() -> argparse.Namespace:
    parser = stage.parser("Reads .env in the current folder; `dvc repro` runs it.")
    parser.add_argument(
        "--accept-loss", action="store_true", help="go on though judgments went from the server"
    )
    parser.add_argument(
        "--anew", action="store_true", help="read all of it, not just what was changed"
    )
    return parser.parse_args()


if __name__ == "__main__":
    stage.report(partial(main, _arguments()))
