"""Deviations: when a project was not as push made it; answers in between are set aside.

deviations.csv records them. A period begins with the last answer that was pulled before, or the
end of the period before: what was pulled counts. It ends when push has restored the project, by the
server's clock. The lead can take the answers that were set aside.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

import pandas as pd

from annotation.answers.departures import Left, find_left
from annotation.label_studio import guideline, page, projects, setup
from annotation.label_studio.connection import Connection
from annotation.label_studio.guideline import Guideline
from annotation.label_studio.records import OPTIONS, Purpose
from annotation.label_studio.setup import Settings
from pipeline.campaign.campaign import CampaignError, parse_instant
from pipeline.core import tables
from pipeline.core.params import Params

Whose = tuple[int, Purpose]
"""An annotator and the purpose of their project."""
OF_VOTES = (tables.JUDGMENT_HISTORY, "updated_at")
PULLED = {
    "exam": (tables.EXAM_ANSWERS, "submitted_at"),
    "feedback": (tables.EXAM_ANSWERS, "submitted_at"),
    "adjudication": (tables.ADJUDICATIONS, "submitted_at"),
}
"""The tables of what was pulled before, and the column with the server's time of each."""
TICK = timedelta(microseconds=1)


def inspect(connection: Connection, params: Params) -> dict[Whose, str]:
    """Return what differs in each of the campaign's projects from what push made, in words.

    Raises:
        StudioError: the server can't be reached or fails.
        CampaignError: it is another campaign's.
    """
    try:
        guide = guideline.of_campaign(connection.campaign, params.annotation)
    except CampaignError:  # push says so; here it only names what was changed
        guide = None
    found = {}
    for purpose, by_annotator in projects.list_projects(connection).items():
        for annotator, project in by_annotator.items():
            expected = guide and expected_settings(connection, guide, purpose, annotator)
            clips = params.clips.url
            difference = setup.find_differences(connection, project, clips, expected)
            if difference.texts:
                found[annotator, purpose] = "; ".join(difference.texts)
    return found


def expected_settings(
    connection: Connection, guide: Guideline, purpose: Purpose, annotator: int
) -> Settings:
    """Return the settings that depend neither on progress nor on where the clips are."""
    return {
        **OPTIONS,
        "title": projects.title(connection.campaign.name, annotator, purpose),
        "label_config": page.label_config(guide, purpose),
    }


def update_deviations(
    deviations: pd.DataFrame, found: Mapping[Whose, str], connection: Connection, now: datetime
) -> pd.DataFrame:
    """Return `tables.DEVIATIONS` as of `now`, when these projects differ and all others do not."""
    here = [*zip(deviations["annotator"], deviations["purpose"], strict=True)]
    is_open = deviations["until"].isna()
    gone = is_open & ~pd.Series([who in found for who in here], deviations.index, dtype="bool")
    updated = deviations.assign(until=deviations["until"].mask(gone, now))
    for whose, what in sorted(found.items()):
        updated = open_period(updated, whose, [what], connection)
    return _checked(updated)


def open_period(
    deviations: pd.DataFrame, whose: Whose, texts: Sequence[str], connection: Connection
) -> pd.DataFrame:
    """Return `tables.DEVIATIONS` in which a project differs now, in these words."""
    earlier = deviations[_is_of(deviations, whose)]
    if earlier["until"].isna().any():
        return deviations
    since = max([_last_pulled(connection, *whose), *earlier["until"]])
    row = (*whose, since, None, "; ".join(texts), "no")
    new = pd.DataFrame([row], columns=tables.DEVIATIONS.columns)
    return _checked(pd.concat([deviations.astype(object), new.astype(object)], ignore_index=True))


def _last_pulled(connection: Connection, annotator: int, purpose: Purpose) -> datetime:
    table, column = PULLED.get(purpose, OF_VOTES)
    pulled = table.read()
    times = pulled.loc[pulled["annotator"] == annotator, column]
    begun = parse_instant(connection.campaign.opened_at)
    return times.max().to_pydatetime() + TICK if len(times) else begun


def take(deviations: pd.DataFrame, now: datetime) -> pd.DataFrame:
    """Return `tables.DEVIATIONS` with what was set aside up to `now` taken by the lead."""
    still = deviations[deviations["until"].isna()].assign(since=now)
    taken = deviations.assign(until=deviations["until"].fillna(now), taken="yes")
    return _checked(pd.concat([taken.astype(object), still.astype(object)], ignore_index=True))


def close(deviations: pd.DataFrame, whose: Whose, now: datetime) -> pd.DataFrame:
    """Return `tables.DEVIATIONS` with a project restored at `now`, by the server's clock."""
    ended = _is_of(deviations, whose) & deviations["until"].isna()
    return deviations.assign(until=deviations["until"].mask(ended, now))


def _is_of(deviations: pd.DataFrame, whose: Whose) -> pd.Series:
    annotator, purpose = whose
    return (deviations["annotator"] == annotator) & (deviations["purpose"] == purpose)


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    key = list(tables.DEVIATIONS.key)
    return tables.DEVIATIONS.check(frame.sort_values(key, ignore_index=True))


def find_set_aside(
    deviations: pd.DataFrame, purpose: Purpose, versions: pd.DataFrame | None = None
) -> Callable[[int], Left]:
    """Return a function that gives an annotator's test for answers that are set aside.

    None of `versions` (`tables.JUDGMENT_HISTORY`) is: what was pulled once still counts.
    """
    rows = deviations[(deviations["purpose"] == purpose) & (deviations["taken"] == "no")]
    pulled = tables.JUDGMENT_HISTORY.empty() if versions is None else versions
    return find_left(rows.rename(columns={"until": "returned"}), {}, pulled)
