"""Fetch the decisions of the lead or an expert on pairs that votes could not settle.

Their answers pass the same checks as judgments. A decision that was fetched once is kept, unless
its author withdrew or changed it before it was released.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import pandas as pd

from annotation.answers import deviations, reader
from annotation.answers.departures import find_left
from annotation.answers.judgments import FirstPairs, Rules, sort_answers
from annotation.label_studio import projects
from annotation.label_studio.connection import Connection
from annotation.label_studio.keys import PAIR_FIELDS
from annotation.label_studio.records import Project
from annotation.roster.annotator import DECIDING
from pipeline.campaign.pairs import SHOWN_KEY
from pipeline.core import tables

TAKEN_BACK = ("all", "version")


class OpenTask(NamedTuple):
    """A pair that is left, who decides it, and the number of their task on the server."""

    query_id: str
    moment_id: str
    annotator: int
    task: int


class FetchedDecisions(NamedTuple):
    """All decisions, as `tables.ADJUDICATIONS`; the waiting tasks; the projects, by annotator.

    `refused` counts the answers that were refused, by reason.
    """

    decisions: pd.DataFrame
    open_tasks: Sequence[OpenTask]
    pages: Mapping[int, Project]
    refused: Counter[str]

    @property
    def left(self) -> Counter[int]:
        """How many pairs each annotator still has to decide."""
        return Counter(task.annotator for task in self.open_tasks)


def fetch_decisions(
    connection: Connection, departed: pd.DataFrame, *, full: bool = False
) -> FetchedDecisions:
    """Return the decisions as they are on the server now; nothing is written.

    `departed` is `tables.DEPARTURES` as of now: decisions made after a person left are refused,
    earlier ones are kept. If nobody decides or ever did, the server is not contacted.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: it is another campaign's, or a project's annotator has no known account.
    """
    before = tables.ADJUDICATIONS.read()
    refused = Counter[str]()
    open_tasks: list[OpenTask] = []
    judgments: list[dict[str, Any]] = []
    taken_back: set[str] = set()
    found_projects: Mapping[int, Project] = {}
    if len(before) or any(person.role in DECIDING for person in connection.roster.annotators):
        found_projects = projects.find_projects(connection, "adjudication")
    until = {person.number: person.until for person in connection.roster.annotators}
    left_by = find_left(departed, until, tables.JUDGMENT_HISTORY.empty())
    set_aside = deviations.find_set_aside(tables.DEVIATIONS.read_or_empty(), "adjudication")
    for owner in reader.owners(connection, found_projects) if found_projects else ():
        tasks = reader.read(connection.studio, found_projects[owner.annotator], full=full)
        deciding = owner._replace(
            kinds=("adjudication",),
            left=left_by(owner.annotator),
            set_aside=set_aside(owner.annotator),
        )
        shown, pairs = connection.campaign.guidelines_shown, _first_pairs(before)
        rules = Rules(
            connection.signer, shown, first_pairs=pairs, released=connection.campaign.released
        )
        rows = sort_answers(tasks.values(), deciding, rules)
        open_tasks += [
            OpenTask(*(row[name] for name in OpenTask._fields)) for row in rows.open_tasks
        ]
        judgments += rows.judgments
        refused.update(row["reason"] for row in rows.rejected if row["reason"] != "draft")
        taken_back |= {row["origin"] for row in rows.rejected if row["takes_back"] in TAKEN_BACK}
    now, released = _as_table(judgments), connection.campaign.released
    decisions = merge_decisions(before, now, taken_back, released)
    return FetchedDecisions(decisions, open_tasks, found_projects, refused)


def merge_decisions(
    before: pd.DataFrame,
    now: pd.DataFrame,
    taken_back: Collection[str] = (),
    released: datetime | None = None,
) -> pd.DataFrame:
    """Return one decision for each pair as it was shown: the one submitted last.

    For an answer that was changed, the version in `now` counts; one that was given before
    `released` stays.
    """
    final = set(before.loc[before["submitted_at"] < released, "origin"]) if released else set()
    now = now[~now["origin"].isin(final)]
    older = before[~before["origin"].isin({*now["origin"], *taken_back} - final)]
    both = pd.concat([older, now]).sort_values(["submitted_at", "origin"])
    newest = both.drop_duplicates(SHOWN_KEY, keep="last").sort_values(SHOWN_KEY, ignore_index=True)
    return tables.ADJUDICATIONS.check(newest)


def _first_pairs(decisions: pd.DataFrame) -> FirstPairs:
    pairs = decisions[PAIR_FIELDS].itertuples(index=False, name=None)
    return dict(zip(decisions["origin"], pairs, strict=True))


def _as_table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    return reader.date_answers(pd.DataFrame(rows, columns=tables.ADJUDICATIONS.columns))
