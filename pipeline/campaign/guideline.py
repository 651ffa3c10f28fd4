"""The guideline that people judge by: its version, its levels and reasons, and its text.

Paper, Appendix B.1. It is one file in annotation/guideline/, a YAML head followed by Markdown.
There is one for each language, and the paper's own.
"""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

from pydantic import Field
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from momentrank.errors import MomentRankError
from pipeline.core.people_sections import Annotation
from pipeline.core.validation import Name, Section, validate

FOLDER = Path("annotation/guideline")
HASH_DIGITS = 16

_HEAD = re.compile(r"---\n(.*?)^---\n(.*)", re.DOTALL | re.MULTILINE)

Key = Annotated[str, Field(pattern=r"^[a-wyz]$")]
LevelNumber = Literal[0, 1, 2, 3, 4]
ReasonName = Literal["broken-clip", "senseless-query"]
CANT_JUDGE = "cant-judge"
CHOICES = (*map(str, get_args(LevelNumber)), CANT_JUDGE, *get_args(ReasonName))
"""What an annotator can choose."""
Labels = Mapping[str, str]
"""The texts of a page's choices, by what they mean (`CHOICES`).

Label Studio stores the text that was chosen, so a stored answer says what its annotator saw.
"""


class GuidelineError(MomentRankError):
    """A guideline is missing or not valid."""


class Level(Section):
    """The name of a relevance level, and what it means."""

    name: Name
    meaning: Name


class Reason(Section):
    """Why a pair can't be judged, in words, and the key to press for it after `x`."""

    key: Key
    name: Name


class PageTexts(Section):
    """Our own words on the annotators' page, in the guideline's language.

    `expected` and `first_answer` begin the two lines that the exam's feedback shows.
    `votes` begins the line of all votes that is shown to the person who adjudicates.
    """

    cant_judge: Name
    choose: Name
    say_why: Name
    guideline: Name
    votes: Name
    progress: Annotated[Name, Field(pattern=r"^[^{}]*(\{(done|left)\}[^{}]*){2}$")]
    expected: Name
    first_answer: Name


class Head(Section):
    """The guideline's version, the answers it allows, and the words of the page."""

    version: Name
    page: PageTexts
    levels: dict[LevelNumber, Level]
    reasons: dict[ReasonName, Reason]

    @property
    def labels(self) -> Labels:
        """The texts of the page's choices."""
        return label_choices(self.levels, self.reasons, self.page)


def label_choices(
    levels: Mapping[LevelNumber, Level], reasons: Mapping[ReasonName, Reason], page: PageTexts
) -> Labels:
    """Return the texts of a page's choices, by what they mean."""
    texts = {str(number): level.name for number, level in sorted(levels.items())}
    return texts | {CANT_JUDGE: page.cant_judge} | {name: r.name for name, r in reasons.items()}


class Guideline(NamedTuple):
    """The guideline's head, and its text in Markdown."""

    head: Head
    body: str


def locate_guideline(settings: Annotation, folder: Path = FOLDER) -> Path:
    """Return the file of the guideline that the parameters select.

    Raises:
        GuidelineError: there is no such guideline in this language.
    """
    variant = "" if settings.guideline == "standard" else f".{settings.guideline}"
    path = folder / f"{settings.language}{variant}.md"
    if not path.is_file():
        others = ", ".join(sorted(path.name for path in folder.glob("*.md")))
        raise GuidelineError(
            f"{path}: no such guideline (there are {others}): translate one of them, or correct"
            " annotation.language and annotation.guideline in params.yaml"
        )
    return path


def hash_guideline(text: str) -> str:
    """Return the hash by which a campaign detects that its guideline was changed."""
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]


def split_guideline(text: str, path: Path) -> Guideline:
    """Split a text into YAML head and body; errors name `path`.

    Raises:
        GuidelineError: the head is missing or wrong.
    """
    if text.startswith("\ufeff"):
        raise GuidelineError(f"{path}: begins with a byte order mark; save it as UTF-8 without one")
    match = _HEAD.fullmatch(text)
    if match is None:
        raise GuidelineError(f"{path}: must begin with a YAML head between two lines of ---")
    try:
        written = YAML(typ="safe", pure=True).load(match[1])
    except YAMLError as exc:
        raise GuidelineError(f"{path}: not YAML ({' '.join(str(exc).split())})") from exc
    head = validate(Head, written, path, GuidelineError)
    if set(head.levels) != set(get_args(LevelNumber)):
        raise GuidelineError(f"{path}: levels: must be 0 to 4")
    if set(head.reasons) != set(get_args(ReasonName)):
        raise GuidelineError(f"{path}: reasons: must be {', '.join(get_args(ReasonName))}")
    if len({reason.key for reason in head.reasons.values()}) != len(head.reasons):
        raise GuidelineError(f"{path}: reasons: two reasons have the same key")
    _refuse_unclear_labels(head.labels, path)
    return Guideline(head, match[2])


def _refuse_unclear_labels(labels: Labels, path: Path) -> None:
    """Refuse texts that Label Studio would not store and read back as one choice's."""
    texts = list(labels.values())
    repeated = next((text for text in texts if texts.count(text) > 1), None)
    if repeated is not None:
        raise GuidelineError(f"{path}: two choices are called {repeated!r}: rename one of them")
    variable = next((text for text in texts if text.startswith("$")), None)
    if variable is not None:
        raise GuidelineError(f"{path}: {variable!r}: the name of a choice can't begin with $")
    if "," in labels[CANT_JUDGE]:
        raise GuidelineError(f"{path}: page.cant_judge: Label Studio allows no comma there")
