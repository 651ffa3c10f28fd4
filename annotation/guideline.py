"""The guideline: what people read before they judge, and what the levels and reasons mean.

Paper, Appendix B.1. Both stand in one place: the head of guideline.md.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

from markdown_it import MarkdownIt
from pydantic import Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from momentrank.errors import MomentRankError
from pipeline.params import Section

FILE = Path(__file__).parent / "guideline.md"

_HEAD = re.compile(r"---\n(.*?)^---\n(.*)", re.DOTALL | re.MULTILINE)
_LEVELS_HERE = "{{ levels }}"

Text = Annotated[str, Field(min_length=1)]
Key = Annotated[str, Field(pattern=r"^[a-wyz]$")]
LevelNumber = Literal[0, 1, 2, 3, 4]
ReasonName = Literal["broken-clip", "senseless-query"]


class GuidelineError(MomentRankError):
    """guideline.md says something that can't be meant."""


class Level(Section):
    """What a relevance level is called, and what it means."""

    name: Text
    meaning: Text


class Reason(Section):
    """Why a pair can't be judged, in words, and the key for it after `x`."""

    key: Key
    name: Text


class _Head(Section):
    version: Text
    levels: dict[LevelNumber, Level]
    reasons: dict[ReasonName, Reason]


class Guideline(NamedTuple):
    """The guideline: what it is told apart by, what it says, and the HTML of its text."""

    version: str
    levels: dict[LevelNumber, Level]
    reasons: dict[ReasonName, Reason]
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
    parts = _HEAD.fullmatch(text)
    if parts is None:
        raise GuidelineError(f"{FILE.name}: it must begin with a head between two lines of ---")
    try:
        head = _Head.model_validate(YAML(typ="safe", pure=True).load(parts[1]))
    except (YAMLError, ValidationError) as exc:
        raise GuidelineError(f"{FILE.name}: {exc}") from exc
    if set(head.levels) != set(get_args(LevelNumber)):
        raise GuidelineError(f"{FILE.name}: levels: must be 0 to 4")
    if set(head.reasons) != set(get_args(ReasonName)):
        raise GuidelineError(f"{FILE.name}: reasons: must be {', '.join(get_args(ReasonName))}")
    if len({reason.key for reason in head.reasons.values()}) != len(head.reasons):
        raise GuidelineError(f"{FILE.name}: reasons: two reasons have the same key")
    if parts[2].count(_LEVELS_HERE) != 1:
        raise GuidelineError(f"{FILE.name}: {_LEVELS_HERE} must stand in it once, on its own")
    body = parts[2].replace(_LEVELS_HERE, _listed(head.levels))
    text = MarkdownIt("commonmark", {"html": False}).render(body)
    return Guideline(head.version, head.levels, head.reasons, text)


def _listed(levels: Mapping[LevelNumber, Level]) -> str:
    """Return the levels as a list in Markdown, the best first."""
    return "\n".join(
        f"* **{number} {level.name}**: {level.meaning}"
        for number, level in sorted(levels.items(), reverse=True)
    )
