"""The guideline as people read it before they judge: its HTML, with the levels in it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from pipeline.campaign.guideline import (
    NAME,
    GuidelineError,
    Level,
    LevelNumber,
    Reason,
    ReasonName,
    split_guideline,
)

FILE = Path(__file__).parent.parent / NAME

_LEVELS_HERE = "{{ levels }}"


class Guideline(NamedTuple):
    """The guideline: its version, levels and reasons, and the HTML of its text."""

    version: str
    levels: Mapping[LevelNumber, Level]
    reasons: Mapping[ReasonName, Reason]
    html: str


@cache
def current() -> Guideline:
    """Return the guideline of this version of MomentRank."""
    return read(FILE.read_text(encoding="utf-8"))


def read(text: str) -> Guideline:
    """Return the guideline that a text with a YAML head is.

    Raises:
        GuidelineError: the head is missing or wrong, or the text has no place for the levels.
    """
    head, body = split_guideline(text)
    if body.count(_LEVELS_HERE) != 1:
        raise GuidelineError(
            f"{NAME}: {_LEVELS_HERE} must appear exactly once, on a line of its own"
        )
    body = body.replace(_LEVELS_HERE, _list_levels(head.levels))
    html = MarkdownIt("commonmark", {"html": False}).render(body)
    return Guideline(head.version, head.levels, head.reasons, html)


def _list_levels(levels: Mapping[LevelNumber, Level]) -> str:
    return "\n".join(
        f"* **{number} {level.name}**: {level.meaning}"
        for number, level in sorted(levels.items(), reverse=True)
    )
