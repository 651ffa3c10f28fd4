"""Who takes part, as a table for a terminal."""

from collections.abc import Iterator

import pandas as pd

from annotation.assignment.inputs import Annotator
from annotation.label_studio.connection import Connection
from momentrank.cli.tables import align_columns
from pipeline.campaign.voided import voided_for_good
from pipeline.core.tables import PRIVATE

HEAD = ("number", "role", "state", "signed up", "exam", "share", "per week", "from", "until",
        "account")  # fmt: skip
NONE = "-"


def listing(
    connection: Connection, qualifications: pd.DataFrame, voided: pd.DataFrame
) -> Iterator[str]:
    """Yield a line for each annotator, below a head.

    `qualifications` and `voided` are the tables of these names.
    """
    users, barred = connection.studio.users(), voided_for_good(voided)
    rows = [HEAD]
    for who in connection.roster.annotators:
        account = connection.roster.accounts.get(who.number)
        email = account.email if account else f"not in {PRIVATE}"
        joined = account is not None and account.email.lower() in users
        state = "voided" if who.number in barred else "active" if who.active else "inactive"
        rows.append(
            (
                str(who.number),
                who.role,
                state,
                "yes" if joined else "no",
                exam_state(who, qualifications),
                f"{who.share:g}",
                str(who.per_week or NONE),
                str(who.since or NONE),
                str(who.until or NONE),
                email,
            )
        )
    return align_columns(rows)


def exam_state(who: Annotator, qualifications: pd.DataFrame) -> str:
    """Return how an annotator's last attempt at the exam ended, or that the lead admitted them."""
    own = qualifications[qualifications["annotator"] == who.number].sort_values("attempt")
    if own.empty:
        return "admitted" if who.admitted else NONE
    last = own.iloc[-1]
    if last["passed"] == "yes":
        return "passed"
    failed = f"failed ({last['attempt']})"
    return f"{failed}, admitted" if who.admitted else failed
