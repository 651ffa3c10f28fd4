"""The phases of a campaign: its pilot, and the versions of its guideline (pure)."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from pipeline.campaign.campaign import FILE, Campaign, CampaignError, GuidelineVersion, Instant
from pipeline.campaign.collection import select_distinct_texts
from pipeline.campaign.guideline import Labels
from pipeline.campaign.next_step import END_PILOT
from pipeline.core import rng


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


def refuse_while_piloting(campaign: Campaign) -> None:
    """Refuse to continue while only the pilot's queries are judged.

    Raises:
        CampaignError: a pilot is running.
    """
    if campaign.piloting:
        raise CampaignError(f"{FILE}: the pilot is running; end it first: {END_PILOT}")


def end_pilot(campaign: Campaign, *, take_over: bool, now: Instant) -> Campaign:
    """Return the campaign with its pilot ended: from `now` on all other queries are judged.

    Raises:
        CampaignError: no pilot is running.
    """
    if campaign.pilot is None or not campaign.piloting:
        raise CampaignError(f"{FILE}: no pilot is running in the campaign {campaign.name!r}")
    ended = campaign.pilot.model_copy(update={"ended_at": now, "taken_over": take_over})
    return campaign.model_copy(update={"pilot": ended})


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
