"""The guideline that people read before they judge: its HTML, including the levels."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pipeline.campaign.campaign import Campaign, CampaignError
from pipeline.campaign.guideline import (
    FOLDER,
    GuidelineError,
    Labels,
    Level,
    LevelNumber,
    PageTexts,
    Reason,
    ReasonName,
    hash_guideline,
    label_choices,
    locate_guideline,
    split_guideline,
)
from pipeline.core.people_sections import Annotation

CHECKOUT = Path(__file__).parents[2]
_LEVELS_HERE = "{{ levels }}"


class Guideline(NamedTuple):
    """The guideline: its version, levels and reasons, the page's texts, and its HTML.

    `sha` is the hash of the whole file, `path` where it is in the checkout.
    """

    version: str
    levels: Mapping[LevelNumber, Level]
    reasons: Mapping[ReasonName, Reason]
    page: PageTexts
    html: str
    sha: str
    path: Path

    @property
    def labels(self) -> Labels:
        """The texts of the page's choices, by what they mean."""
        return label_choices(self.levels, self.reasons, self.page)


def current(settings: Annotation) -> Guideline:
    """Return this checkout's guideline, as chosen by the parameters.

    Raises:
        GuidelineError: it is missing or not valid.
    """
    path = locate_guideline(settings, CHECKOUT / FOLDER).relative_to(CHECKOUT)
    return _read_file(path)


@cache
def _read_file(path: Path) -> Guideline:
    return read((CHECKOUT / path).read_text(encoding="utf-8"), path)


def of_campaign(campaign: Campaign, settings: Annotation) -> Guideline:
    """Return this checkout's guideline, if it is the one that the campaign uses.

    Raises:
        CampaignError: it is a different one, or was changed.
        GuidelineError: it is missing or not valid.
    """
    guide = current(settings)
    if (guide.version, guide.sha) != (campaign.guideline, campaign.guidelines[-1].sha):
        raise CampaignError(
            f"{guide.path}: is not the guideline of this campaign (version"
            f" {campaign.guideline}). If it was changed by accident: git restore {guide.path};"
            " if another one was chosen: correct annotation.guideline and annotation.language in"
            " params.yaml. To use it from now on, raise `version` in it, then:"
            " python -m annotation.campaign open --revise REASON"
        )
    return guide


def read(text: str, path: Path) -> Guideline:
    """Parse a guideline from a text with a YAML head; errors name `path`.

    Raises:
        GuidelineError: the head is missing or wrong, or the text has no place for the levels.
    """
    from markdown_it import MarkdownIt  # noqa: PLC0415  (--help needs none)

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
