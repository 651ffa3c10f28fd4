"""The campaign's projects: one per annotator and purpose, marked in its description."""

import hashlib
import re
from collections import Counter

from annotation.label_studio.client import LabelStudio
from annotation.label_studio.records import Project, Purpose
from pipeline.campaign.campaign import Campaign, CampaignError

MARK = re.compile(
    r"MomentRank (campaign|exam|feedback|adjudication) ([0-9a-f-]{36}), annotator ([0-9]{1,9})\."
)
TITLE_LENGTH = 50


def mark(campaign: str, annotator: int, purpose: Purpose = "campaign") -> str:
    """Return the beginning of a project's description, by which it is found."""
    return f"MomentRank {purpose} {campaign}, annotator {annotator}."


def description(campaign: str, annotator: int, clips: str, purpose: Purpose = "campaign") -> str:
    """Return a finished project's description; it depends on the location of its clips."""
    folder = hashlib.sha256(clips.encode()).hexdigest()[:8]
    return f"{mark(campaign, annotator, purpose)} Don't change this line. Clips: {folder}"


def title(name: str, annotator: int, purpose: Purpose = "campaign") -> str:
    """Return a project's title; Label Studio allows 50 characters."""
    what = "" if purpose == "campaign" else f", {purpose}"
    end = f"{what}, annotator {annotator}"
    return name[: TITLE_LENGTH - len(end)] + end


def find_projects(
    studio: LabelStudio,
    opened: Campaign,
    purpose: Purpose = "campaign",
    *,
    beside_others: bool = False,
) -> dict[int, Project]:
    """Return the campaign's projects of one purpose by annotator.

    Raises:
        StudioError: the server does not answer properly.
        CampaignError: it has other campaigns and nothing of this one, or two projects for one
            annotator and purpose.
    """
    matches = ((project, MARK.match(project.description)) for project in studio.projects())
    marked = [(match.groups(), project) for project, match in matches if match]
    ours = [
        (what, int(number), entry) for (what, name, number), entry in marked if name == opened.id
    ]
    if marked and not ours and not beside_others:
        [(_, other, _), project] = marked[0]
        raise CampaignError(
            f"{studio.url}: has another campaign ({other}, in the project {project.title!r}) and"
            f" nothing of this one ({opened.id}); correct LABEL_STUDIO_URL. To share the server"
            " between both, run this once: python -m annotation.push --beside-others"
        )
    matching = [(number, project) for what, number, project in ours if what == purpose]
    times = Counter(number for number, _ in matching)
    doubtful = sorted(project.id for number, project in matching if times[number] > 1)
    if doubtful:
        raise CampaignError(
            f"{studio.url}: two projects are marked for one annotator of this campaign; empty the"
            f" description of the one that was copied (projects {doubtful})"
        )
    return dict(reversed(matching))
