"""What people judge by: the version of the guideline, what its levels and reasons mean, its text.

Paper, Appendix B.1. It is one file, annotation/guideline.md: a YAML head, then Markdown.
"""

import re
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from momentrank.errors import MomentRankError
from pipeline.core.validation import Name, Section, validate

NAME = "guideline.md"

_HEAD = re.compile(r"---\n(.*?)^---\n(.*)", re.DOTALL | re.MULTILINE)

Key = Annotated[str, Field(pattern=r"^[a-wyz]$")]
LevelNumber = Literal[0, 1, 2, 3, 4]
ReasonName = Literal["broken-clip", "senseless-query"]


class GuidelineError(MomentRankError):
    """guideline.md is not valid."""


class Level(Section):
    """What a relevance level is called, and what it means."""

    name: Name
    meaning: Name


class Reason(Section):
    """Why a pair can't be judged, in words, and the key for it after `x`."""

    key: Key
    name: Name


class Head(Section):
    """The guideline's version, and the answers it allows."""

    version: Name
    levels: dict[LevelNumber, Level]
    reasons: dict[ReasonName, Reason]


class Guideline(NamedTuple):
    """The guideline's head, and its text in Markdown."""

    head: Head
    body: str


def split_guideline(text: str) -> Guideline:
    """Take a text with a YAML head apart.

    Raises:
        GuidelineError: the head is missing or wrong.
    """
    parts = _HEAD.fullmatch(text)
    if parts is None:
        raise GuidelineError(f"{NAME}: must begin with a YAML head between two lines of ---")
    try:
        written = YAML(typ="safe", pure=True).load(parts[1])
    except YAMLError as exc:
        raise GuidelineError(f"{NAME}: not YAML ({' '.join(str(exc).split())})") from exc
    head = validate(Head, written, NAME, GuidelineError)
    if set(head.levels) != set(get_args(LevelNumber)):
        raise GuidelineError(f"{NAME}: levels: must be 0 to 4")
    if set(head.reasons) != set(get_args(ReasonName)):
        raise GuidelineError(f"{NAME}: reasons: must be {', '.join(get_args(ReasonName))}")
    if len({reason.key for reason in head.reasons.values()}) != len(head.reasons):
        raise GuidelineError(f"{NAME}: reasons: two reasons have the same key")
    return Guideline(head, parts[2])
