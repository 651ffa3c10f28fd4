"""`datasets/campaign/campaign.yaml`: which campaign this checkout is for.

It contains `null` until `python -m annotation.campaign open`; until then nobody is asked to judge.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, field_validator

from momentrank.errors import MomentRankError
from pipeline.campaign.guideline import CHOICES
from pipeline.core import files, tables
from pipeline.core.params import read_model
from pipeline.core.sections import Further
from pipeline.core.validation import Name, Section

FILE = tables.CAMPAIGN / "campaign.yaml"
COMMIT = r"^[0-9a-f]{40,64}$"
UUID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
FORMAT, OLDEST = 4, 2
"""The format of a campaign, and the oldest one that `annotation.campaign migrate` brings to it.
Raise the first with any change of what people see, or of how an answer is read: the page, the keys
of tasks, the tables in datasets/campaign. Format 3 added pool.csv, 4 the strata of queries, which
have a default."""
THEIR_OWN = ("datasets", "params.yaml", "dvc.lock", "annotation/guideline")
"""Paths that belong to a campaign, not to the code that runs it."""
INSTANT = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$"

Instant = Annotated[str, Field(pattern=INSTANT)]


class CampaignError(MomentRankError):
    """Something that the campaign does not allow in its present state."""


class GuidelineVersion(Section):
    """A version of the guideline: its file's hash, when it took effect, and why it was made.

    `labels` are the texts of its page's choices, by what they mean.
    """

    version: Name
    sha: Name
    since: Instant
    reason: Name | None
    labels: dict[str, Name]

    @field_validator("labels")
    @classmethod
    def _refuse_other_labels(cls, labels: dict[str, str]) -> dict[str, str]:
        if set(labels) != set(CHOICES):
            raise ValueError(f"must be {', '.join(CHOICES)}")
        return labels


class Pilot(Section):
    """The queries that are judged first, and kept apart unless the lead takes them over."""

    queries: list[Name]
    ended_at: Instant | None = None
    taken_over: bool = False


class Reopening(Section):
    """Judging that began again after a release: when and why, what was closed, and its version."""

    at: Instant
    reason: Name
    closed_at: Instant
    version: Name


class Campaign(Section):
    """A campaign: what marks its tasks, and under which rules people judge.

    `format` is `FORMAT` of the code that opened it, and `commit` that code's commit (none outside
    a git repository). `id` is part of each of its projects and keys. `guideline` is the version
    that annotators read now, `guidelines` are all that they have read, the newest last. Answers in
    a `rehearsal` may be simulated. Times are UTC. `given_up` is the number of pairs that were
    wanted but undecided when it was closed; `settings` are the keys of params.yaml that determined
    what was judged, as they were then. `further` chose the moments after the first batch.
    """

    format: int
    commit: Annotated[str, Field(pattern=COMMIT)] | None
    id: Annotated[str, Field(pattern=UUID)]
    name: Name
    guideline: Name
    rehearsal: bool
    opened_at: Instant
    closed_at: Instant | None
    given_up: Annotated[int, Field(ge=0)] = 0
    settings: dict[str, Any] = Field(default_factory=dict)
    guidelines: Annotated[list[GuidelineVersion], Field(min_length=1)]
    pilot: Pilot | None = None
    further: Further = "similarity"
    reopenings: list[Reopening] = Field(default_factory=list)

    def guidelines_shown(self, sha: str | None, instant: datetime) -> list[GuidelineVersion]:
        """Return the versions that a page may have shown, the likeliest first.

        That is the version whose hash the page sent, if it is one of ours; then the one in force
        at an instant (before all of them, the first); then earlier ones.
        """
        sent = [guide for guide in self.guidelines if guide.sha == sha]
        begun = [guide for guide in self.guidelines if parse_instant(guide.since) <= instant]
        return [*sent, *reversed(begun or self.guidelines[:1])]

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
    def released(self) -> datetime | None:
        """When it was closed before its newest reopening: what was given until then is final."""
        return parse_instant(self.reopenings[-1].closed_at) if self.reopenings else None

    @property
    def closed(self) -> bool:
        """Whether judging is over."""
        return self.closed_at is not None


def parse_instant(text: Instant) -> datetime:
    """Return an instant of the campaign's file (UTC)."""
    return datetime.fromisoformat(text)


def load_campaign(path: Path = FILE, *, oldest: int = FORMAT) -> Campaign | None:
    """Return the campaign, even if it is closed; None before it is opened.

    Its format is one from `oldest` to `FORMAT`.

    Raises:
        FileError: the file is missing or not YAML.
        CampaignError: it is of a format that this code does not run.
        ParamsError: a key is unknown, missing or impossible.
    """
    content = files.read_yaml(path)
    if content is None:
        return None
    if isinstance(content, dict) and content.get("format") not in range(oldest, FORMAT + 1):
        raise CampaignError(_describe_format(content, path))
    return read_model(Campaign, path)


def _describe_format(content: Mapping[str, Any], path: Path) -> str:
    """Return why this code does not run a campaign, and what helps."""
    found = content.get("format", "none")
    commit = content.get("commit") or f"COMMIT (the one before {path} in git log)"
    kept = " ".join(f"':!{name}'" for name in THEIR_OWN)
    helps = (
        "to finish it, bring back the code that opened it: git restore"
        f" --source {commit} --staged --worktree -- . {kept}"
    )
    if found in range(OLDEST, FORMAT):
        helps = f"`python -m annotation.campaign migrate` brings it to this format; or {helps}"
    return f"{path}: the campaign has format {found}, and this code runs format {FORMAT}; {helps}"


def load_open_campaign(path: Path = FILE) -> Campaign | None:
    """Return the campaign if people judge in it: it was opened and is not closed."""
    campaign = load_campaign(path)
    return None if campaign is None or campaign.closed else campaign


def describe_absence(campaign: Campaign | None) -> str:
    """Return why nobody is asked: the campaign is closed, or None was opened."""
    if campaign is None:
        return "no campaign is open, so nobody is asked"
    return f"{campaign.name} is closed, so nobody is asked"


def write_campaign(campaign: Campaign, path: Path = FILE) -> None:
    """Write the campaign's file."""
    lines = (f"{name}: {json.dumps(value)}\n" for name, value in campaign.model_dump().items())
    with files.unfinished(path) as stream:
        stream.write("# Written by `python -m annotation.campaign`; commit it.\n" + "".join(lines))
