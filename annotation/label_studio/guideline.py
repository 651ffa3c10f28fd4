"""The guideline as people read it before they judge: its HTML, with the levels in it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from pipeline.campaign.campaign import Campaign, CampaignError
from pipeline.campaign.guideline import (
    FOLDER,
    GuidelineError,
    Level,
    LevelNumber,
    PageTexts,
    Reason,
    ReasonName,
    hash_guideline,
    locate_guideline,
    split_guideline,
)
from pipeline.core.people_sections import Annotation

CHECKOUT = Path(__file__).parents[2]
_LEVELS_HERE = "{{ levels }}"


class Guideline(NamedTuple):
    """The guideline: its version, levels and reasons, the page's words, the HTML of its text.

    `sha` is the hash of the whole file, `path` where it is in the checkout.
    """

    version: str
    levels: Mapping[LevelNumber, Level]
    reasons: Mapping[ReasonName, Reason]
    page: PageTexts
    html: str
    sha: str
    path: Path


def current(settings: Annotation) -> Guideline:
    """Return the guideline of this checkout that the parameters choose.

    Raises:
        GuidelineError: there is none, or it is not valid.
    """
    path = locate_guideline(settings, CHECKOUT / FOLDER).relative_to(CHECKOUT)
    return _read_file(path)


@cache
def _read_file(path: Path) -> Guideline:
    return read((CHECKOUT / path).read_text(encoding="utf-8"), path)


def of_campaign(campaign: Campaign, settings: Annotation) -> Guideline:
    """Return the guideline of this checkout, if it is what people judge by in the campaign.

    Raises:
        CampaignError: it is another, or was changed.
        GuidelineError: there is none, or it is not valid.
    """
    guide = current(settings)
    shas = [one.sha for one in campaign.guidelines[-1:]] or [guide.sha]
    if (guide.version, guide.sha) != (campaign.guideline, *shas):
        raise CampaignError(
            f"{guide.path}: is not what people judge by in this campaign (version"
            f" {campaign.guideline}). If it was changed by accident: git restore {guide.path};"
            " if another one was chosen: correct annotation.guideline and annotation.language in"
            " params.yaml. If it is to hold from now on, raise `version` in it, then:"
            " python -m annotation.campaign open --revise REASON"
        )
    return guide


def read(text: str, path: Path) -> Guideline:
    """Return the guideline that a text with a YAML head is; `path` is named in errors.

    Raises:
        GuidelineError: the head is missing or wrong, or the text has no place for the levels.
    """
    head, body = split_guideline(text, path)
    if body.count(_LEVELS_HERE) != 1:
        raise GuidelineError(
            f"{path}: {_LEVELS_HERE} must appear exactly once, on a line of its own"
        )
    body = body.replace(_LEVELS_HERE, _list_levels(head.levels))
    html = MarkdownIt("commonmark", {"html": False}).render(body)
    return Guideline(
        head.version, head.levels, head.reasons, head.page, html, hash_guideline(text), path
    )


def _list_levels(levels: Mapping[LevelNumber, Level]) -> str:
    return "\n".join(
        f"* **{number} {level.name}**: {level.meaning}"
        for number, level in sorted(levels.items(), reverse=True)
    )
