"""The phases of a campaign: what may be done in each, its pilot, its guideline's versions.

Every command that changes a campaign's inputs, or asks people, asks `check_state` first.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from pipeline.campaign.campaign import (
    FILE,
    Campaign,
    CampaignError,
    GuidelineVersion,
    Instant,
    Reopening,
    load_campaign,
)
from pipeline.campaign.collection import select_distinct_texts
from pipeline.campaign.guideline import Labels
from pipeline.campaign.next_step import END_PILOT, is_released
from pipeline.core import rng

State = Literal["none", "open", "pilot", "closed", "released", "reopened"]
"""`none`: not opened yet; `pilot`: open, and only the pilot's queries are judged; `released`:
closed, and datasets/release/ is of what it is now; `reopened`: open again after a release."""

OPEN = "annotation.campaign open"
PUBLISH = "pipeline.publish"
REOPEN = "annotation.campaign reopen"
ALLOWED: Mapping[str, str] = {
    OPEN: "none",
    f"{OPEN} --revise": "open pilot reopened",
    END_PILOT.removeprefix("python -m "): "pilot",
    "annotation.campaign close": "open reopened",
    REOPEN: "released",
    "annotation.adjudicate": "open reopened",
    "annotation.audit plan": "open reopened",
    "annotation.pool admit": "open reopened",
    "annotation.pool top-up": "none open reopened",
    "annotation.exam push": "open pilot reopened",
    "annotation.exam mark": "open pilot reopened",
    "annotation.exam feedback": "open pilot reopened",
    "annotation.exam status": "open pilot reopened",
    "annotation.people list": "open pilot reopened",
    "annotation.people invite": "open pilot reopened",
    "annotation.people void": "open pilot reopened closed released",
    "annotation.pull --accept-loss": "open pilot reopened",
    "annotation.pull --take-set-aside": "open pilot reopened",
    "annotation.pull --trust-imported": "open pilot reopened",
    "annotation.push --beside-others": "open pilot reopened",
    "annotation.queries ask": "none reopened",
    "annotation.queries pull": "none reopened",
    "annotation.queries add": "none reopened",
    "annotation.queries check": "none reopened",
    "annotation.queries accept": "none reopened",
    "annotation.queries refuse": "none reopened",
    "annotation.simulate": "open pilot reopened",
    PUBLISH: "released",
    f"{PUBLISH} --incomplete": "none open pilot reopened closed released",
}
"""The states in which each command may be used; commands that are not listed change no inputs."""


class GuidelineFile(NamedTuple):
    """A guideline as it is in the checkout: its version, hash, path, and its choices' texts."""

    version: str
    sha: str
    path: Path
    labels: Labels

    def since(self, now: Instant, reason: str | None = None) -> GuidelineVersion:
        """Return it as a version in force from `now` on."""
        return GuidelineVersion(
            version=self.version, sha=self.sha, since=now, reason=reason, labels=dict(self.labels)
        )


def draw_pilot(queries: pd.DataFrame, campaign: str, size: int) -> list[str]:
    """Return the ids of the pilot's queries, whose texts are distinct.

    Raises:
        CampaignError: it would leave no queries for the campaign.
    """
    distinct = select_distinct_texts(queries)["query_id"].tolist()
    if size >= len(distinct):
        raise CampaignError(
            f"--pilot {size}: there are only {len(distinct)} distinct queries, and a pilot is kept"
            " apart from the rest"
        )
    return sorted(sorted(distinct, key=lambda query: rng.draw(campaign, "pilot", query))[:size])


def find_state(campaign: Campaign | None) -> State:
    """Return the state of a campaign, as `load_campaign` returns it."""
    if campaign is None:
        return "none"
    if campaign.closed:
        return "released" if is_released(campaign) else "closed"
    if campaign.piloting:
        return "pilot"
    return "reopened" if campaign.reopenings else "open"


def check_state(command: str) -> Campaign | None:
    """Return the campaign (None before it is opened), if it is in a state for this command.

    Raises:
        CampaignError: it is not, with what to do.
    """
    campaign = load_campaign()
    state = find_state(campaign)
    if state not in ALLOWED[command].split():
        raise CampaignError(f"{FILE}: {_refuse(command, campaign, state)}")
    return campaign


def require_campaign(command: str) -> Campaign:
    """Return the campaign, as `check_state` does for a command that needs one.

    Raises:
        CampaignError: there is none, or it is not in a state for this command.
    """
    campaign = check_state(command)
    if campaign is None:
        raise CampaignError(f"{FILE}: {_refuse(command, None, 'none')}")
    return campaign


def _refuse(command: str, campaign: Campaign | None, state: State) -> str:
    name = "no campaign" if campaign is None else f"the campaign {campaign.name!r}"
    match state, command:
        case "none", _:
            remedy = f"is open here; to open one: python -m {OPEN} --name NAME"
        case _, "annotation.campaign open":
            remedy = (
                f"belongs to this checkout ({state}); for another campaign, make a new checkout:"
                " make campaign DIR=path"
            )
        case "open" | "pilot", _ if command.startswith("annotation.queries"):
            remedy = (
                f"has frozen its queries ({state}), and takes no more until it is reopened after"
                " its release; for another campaign, make a new checkout: make campaign DIR=path"
            )
        case "closed", "pipeline.publish" | "annotation.campaign reopen":
            remedy = "is not released as it is now; run: dvc repro release report"
        case _, "pipeline.publish":
            remedy = (
                "is not closed yet: python -m annotation.campaign close. To publish what there is,"
                " run: dvc repro release, then repeat this with --incomplete"
            )
        case "pilot", _:
            remedy = f"has a pilot running; end it first: {END_PILOT}"
        case "open" | "reopened", "annotation.campaign reopen":
            remedy = "is open; next: python -m annotation.status"
        case "open" | "reopened", _:
            remedy = "has no pilot running; next: python -m annotation.status"
        case _:
            release = "" if state == "released" else "dvc repro release report, then "
            remedy = (
                "is closed: nobody is asked any more, and its levels are final. To begin the next"
                f" version: {release}python -m {REOPEN} --reason TEXT"
            )
    return f"{name} {remedy}"


def end_pilot(campaign: Campaign, *, take_over: bool, now: Instant) -> Campaign:
    """Return the campaign with its pilot ended: from `now` on all other queries are judged.

    Raises:
        CampaignError: no pilot is running.
    """
    if campaign.pilot is None or not campaign.piloting:
        raise CampaignError(f"{FILE}: {_refuse('', campaign, 'open')}")
    ended = campaign.pilot.model_copy(update={"ended_at": now, "taken_over": take_over})
    return campaign.model_copy(update={"pilot": ended})


def reopen(campaign: Campaign, reason: str, version: str, now: Instant) -> Campaign:
    """Return the campaign open again, after its release of this version.

    Its settings stay those of the closing: `refuse_changes` compares with them.

    Raises:
        CampaignError: it is not closed.
    """
    if campaign.closed_at is None:
        raise CampaignError(f"{FILE}: {_refuse(REOPEN, campaign, find_state(campaign))}")
    again = Reopening(at=now, reason=reason, closed_at=campaign.closed_at, version=version)
    changes = {"closed_at": None, "given_up": 0, "reopenings": [*campaign.reopenings, again]}
    return campaign.model_copy(update=changes)


def revise_guideline(
    campaign: Campaign, guide: GuidelineFile, reason: str, now: Instant
) -> Campaign:
    """Return the campaign with a new version of its guideline, in force from `now` on.

    Raises:
        CampaignError: the guideline is unchanged, or its version was used before.
    """
    if guide.version in {earlier.version for earlier in campaign.guidelines}:
        unchanged = campaign.guidelines[-1].sha == guide.sha
        problem = "is unchanged" if unchanged else f"its version {guide.version} was used before"
        remedy = "change it first" if unchanged else "raise `version` at its top"
        raise CampaignError(f"{guide.path}: {problem}; {remedy}")
    versions = [*campaign.guidelines, guide.since(now, reason)]
    return campaign.model_copy(update={"guideline": guide.version, "guidelines": versions})
