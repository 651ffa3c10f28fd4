"""Who takes part, as a table for a terminal."""

from collections.abc import Iterator, Mapping

import pandas as pd

from annotation.label_studio.connection import Connection
from annotation.quality.standing import Standing
from momentrank.cli.tables import align_columns
from pipeline.campaign.voided import voided_for_good
from pipeline.core.tables import PRIVATE

HEAD = ("number", "role", "state", "signed up", "exam", "share", "per week", "from", "until",
        "account")  # fmt: skip
NONE = "-"


def listing(
    connection: Connection, standings: Mapping[int, Standing], voided: pd.DataFrame
) -> Iterator[str]:
    """Yield a line for each annotator, below a header.

    `standings` are exam results, by number; `voided` is `tables.VOIDED`.
    """
    users, barred = connection.studio.users(), voided_for_good(voided)
    rows = [HEAD]
    for person in connection.roster.annotators:
        account = connection.roster.accounts.get(person.number)
        email = account.email if account else f"not in {PRIVATE}"
        joined = account is not None and account.email.lower() in users
        state = "voided" if person.number in barred else "active" if person.active else "inactive"
        rows.append(
            (
                str(person.number),
                person.role,
                state,
                "yes" if joined else "no",
                standings.get(person.number, NONE),
                f"{person.share:g}",
                str(person.per_week or NONE),
                str(person.since or NONE),
                str(person.until or NONE),
                email,
            )
        )
    return align_columns(rows)
