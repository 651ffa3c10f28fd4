"""The campaign's projects: one per annotator and purpose, marked in its description."""

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from typing import get_args

from annotation.label_studio.connection import Connection
from annotation.label_studio.records import Project, Purpose
from pipeline.campaign.campaign import CampaignError
from pipeline.core import cli, tables

MARK = re.compile(
    r"MomentRank (campaign|exam|feedback|adjudication) ([0-9a-f-]{36}), annotator ([0-9]{1,9})\."
)
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
TITLE_LENGTH = 50


def mark(campaign: str, annotator: int, purpose: Purpose = "campaign") -> str:
    """Return the beginning of a project's description, by which it is found."""
    return f"MomentRank {purpose} {campaign}, annotator {annotator}."


def description(campaign: str, annotator: int, clips: str, purpose: Purpose = "campaign") -> str:
    """Return a finished project's description; it depends on the location of its clips."""
    return f"{mark(campaign, annotator, purpose)} Don't change this line. {clips_mark(clips)}"


def clips_mark(clips: str) -> str:
    """Return the part of a description that depends on the location of the clips."""
    return f"Clips: {hashlib.sha256(clips.encode()).hexdigest()[:8]}"


def title(name: str, annotator: int, purpose: Purpose = "campaign") -> str:
    """Return a project's title; Label Studio allows 50 characters."""
    what = "" if purpose == "campaign" else f", {purpose}"
    end = f"{what}, annotator {annotator}"
    return name[: TITLE_LENGTH - len(end)] + end


def find_projects(
    connection: Connection, purpose: Purpose = "campaign", *, beside_others: bool = False
) -> dict[int, Project]:
    """Return the campaign's projects of one purpose by annotator (`list_projects`).

    Raises:
        StudioError: the server does not answer properly.
        CampaignError: it has other campaigns and nothing of this one.
    """
    return list_projects(connection, beside_others=beside_others)[purpose]


def list_projects(
    connection: Connection, *, beside_others: bool = False
) -> dict[Purpose, dict[int, Project]]:
    """Return the campaign's projects by purpose and annotator; log which others claim to be.

    Anyone with an account can write our mark into a project's description. A project is ours if its
    annotator is known here and the token's owner created it, or it has one of their tasks.

    Raises:
        StudioError: the server does not answer properly.
        CampaignError: it has other campaigns and nothing of this one.
    """
    studio, opened = connection.studio, connection.campaign
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
    claims: dict[tuple[Purpose, int], list[Project]] = {}
    for name, number, project in sorted(ours, key=lambda entry: entry[2].id):
        [what] = [purpose for purpose in PURPOSES if purpose == name]
        claims.setdefault((what, number), []).append(project)
    listed, accounts = connection.roster
    known = {person.number for person in listed} | accounts.keys()
    if {number for _, number in claims} - known:
        known |= set(tables.JUDGMENT_HISTORY.read()["annotator"])
    owner = studio.whoami() if claims else None
    chosen: dict[Purpose, dict[int, Project]] = {what: {} for what in PURPOSES}
    for (what, number), claiming in claims.items():
        project_or_none = _choose(connection, claiming, number, owner) if number in known else None
        if project_or_none:
            chosen[what][number] = project_or_none
        for project in claiming:
            if project != project_or_none:
                _log_once(
                    f"{studio.url}: project {project.id} ({project.title!r}) claims to be annotator"
                    f" {number}'s, but is not this campaign's: ignored. Account {project.creator}"
                    f" created it ({project.created_at[:19]}); delete it"
                )
    return chosen


def _choose(
    connection: Connection, claiming: Sequence[Project], annotator: int, owner: int | None
) -> Project | None:
    """Return the project that is an annotator's, of those that claim to be."""

    def has_task(project: Project) -> bool:
        tasks = connection.studio.tasks(project) if project.tasks else ()
        keys = (connection.signer.read(task.pair) for task in tasks)
        return any(key and key.annotator == annotator for key in keys)

    created = [project for project in claiming if project.creator == owner]
    if len(created) == 1:
        return created[0]
    return next(filter(has_task, created or claiming), created[0] if created else None)


@cache
def _log_once(text: str) -> None:
    cli.log(text)
