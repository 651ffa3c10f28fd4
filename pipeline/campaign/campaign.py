"""`datasets/campaign/campaign.yaml`: which campaign this checkout is for.

It contains `null` until `python -m annotation.campaign open`; until then nobody is asked to judge.
"""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from momentrank.errors import MomentRankError
from pipeline.core import files, tables
from pipeline.core.params import read_model
from pipeline.core.validation import Name, Section

FILE = tables.CAMPAIGN / "campaign.yaml"
UUID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
INSTANT = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$"

Instant = Annotated[str, Field(pattern=INSTANT)]


class CampaignError(MomentRankError):
    """Something that the campaign does not allow in its present state."""


class GuidelineVersion(Section):
    """A version of the guideline: its file's hash, when it took effect, and why it was made."""

    version: Name
    sha: Name
    since: Instant
    reason: Name | None


TRY_LATER = 69
"""The exit code of a command that may succeed later, unchanged: a server was unreachable."""


class BusyError(CampaignError):
    """Another command has been working on this campaign for too long to wait."""

    exit_code = TRY_LATER


class Pilot(Section):
    """The queries that are judged first, and kept apart unless the lead takes them over."""

    queries: list[Name]
    ended_at: Instant | None = None
    taken_over: bool = False


class Campaign(Section):
    """A campaign: what marks its tasks, and under which rules people judge.

    `id` is part of each of its projects and keys. `guideline` is the version that annotators read
    now, `guidelines` are all that they have read, the newest last. Answers in a `rehearsal` may be
    simulated. Times are UTC. `given_up` is the number of pairs that were wanted but undecided when
    it was closed; `settings` are the keys of params.yaml that determined what was judged, as they
    were then.
    """

    id: Annotated[str, Field(pattern=UUID)]
    name: Name
    guideline: Name
    rehearsal: bool
    opened_at: Instant
    closed_at: Instant | None
    given_up: Annotated[int, Field(ge=0)] = 0
    settings: dict[str, Any] = Field(default_factory=dict)
    guidelines: list[GuidelineVersion] = Field(default_factory=list)
    pilot: Pilot | None = None

    def guideline_at(self, instant: datetime) -> str:
        """Return the version in force at an instant; before all of them, the first."""
        in_force = [g.version for g in self.guidelines if parse_instant(g.since) <= instant]
        versions = [g.version for g in self.guidelines] or [self.guideline]
        return in_force[-1] if in_force else versions[0]

    @property
    def piloting(self) -> bool:
        """Whether only the pilot's queries are judged now."""
        return self.pilot is not None and self.pilot.ended_at is None

    def select_asked(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows (with a `query_id`) of queries that people judge now."""
        if self.pilot is not None and self.piloting:
            return rows[rows["query_id"].isin(self.pilot.queries)]
        return self.select_kept(rows)

    def select_kept(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows (with a `query_id`) without those of a pilot that is kept apart.

        Its queries are not judged any more: people have discussed them.
        """
        if self.pilot is None or self.piloting or self.pilot.taken_over:
            return rows
        return rows[~rows["query_id"].isin(self.pilot.queries)]

    @property
    def closed(self) -> bool:
        """Whether judging is over."""
        return self.closed_at is not None


def parse_instant(text: Instant) -> datetime:
    """Return an instant of the campaign's file (UTC)."""
    return datetime.fromisoformat(text)


def load_campaign(path: Path = FILE) -> Campaign | None:
    """Return the campaign, even if it is closed; None before it is opened.

    Raises:
        FileError: the file is missing or not YAML.
        ParamsError: a key is unknown, missing or impossible.
    """
    return None if files.read_yaml(path) is None else read_model(Campaign, path)


def load_open_campaign(path: Path = FILE) -> Campaign | None:
    """Return the campaign if people judge in it: it was opened and is not closed."""
    campaign = load_campaign(path)
    return None if campaign is None or campaign.closed else campaign


def require_open_campaign() -> Campaign:
    """Return the campaign in which people judge.

    Raises:
        CampaignError: none is open here.
    """
    campaign = load_campaign()
    if campaign is None:
        raise CampaignError(
            f"{FILE}: no campaign is open here; to open one:"
            " python -m annotation.campaign open --name NAME"
        )
    if campaign.closed:
        raise CampaignError(f"{FILE}: the campaign {campaign.name!r} is closed")
    return campaign


def write_campaign(campaign: Campaign, path: Path = FILE) -> None:
    """Write the campaign's file."""
    lines = (f"{name}: {json.dumps(value)}\n" for name, value in campaign.model_dump().items())
    with files.unfinished(path) as stream:
        stream.write("# Written by `python -m annotation.campaign`; commit it.\n" + "".join(lines))
