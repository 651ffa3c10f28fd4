"""The annotator's page: the guideline, Label Studio's labelling configuration, a task, an answer.

Paper, section 3.3 and Appendix B.1. What the levels mean, and the reasons for which a pair can't
be judged, stand in one place: the head of guideline.md. All here is pure but for reading the
package's own two files.
"""

import html
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args
from xml.sax.saxutils import quoteattr

from markdown_it import MarkdownIt
from pydantic import Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from momentrank.errors import MomentRankError
from pipeline.params import Section

HERE = Path(__file__).parent
GUIDELINE, CONFIG = HERE / "guideline.md", HERE / "label_config.xml"
CANT_JUDGE = "cant-judge"
LEVEL, REASON = "level", "reason"

OPTIONS: dict[str, object] = {
    "show_instruction": True,
    "show_skip_button": False,
    "enable_empty_annotation": False,
    "show_annotation_history": False,
    "show_collab_predictions": False,
    "maximum_annotations": 1,
    "sampling": "Sequential sampling",
}
"""What a project of Label Studio is told beside its configuration and its instruction."""

_HEAD = re.compile(r"---\n(.*?)^---\n(.*)", re.DOTALL | re.MULTILINE)
_PLACE = re.compile(r"<!-- (levels|reasons|guideline) -->")
"""Where label_config.xml is filled in."""

_LEVELS_HERE = "{{ levels }}"

Text = Annotated[str, Field(min_length=1)]
Key = Annotated[str, Field(pattern=r"^[a-wyz]$")]
LevelNumber = Literal[0, 1, 2, 3, 4]
ReasonName = Literal["broken-clip", "senseless-query"]
Problem = Literal[
    "empty",
    "malformed",
    "foreign",
    "twice",
    "bad-level",
    "bad-reason",
    "no-reason",
    "reason-alone",
    "both",
]


class PageError(MomentRankError):
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


class Answer(NamedTuple):
    """An annotator's answer to a pair: one of a level, a reason why none, or what is wrong."""

    level: LevelNumber | None = None
    reason: ReasonName | None = None
    problem: Problem | None = None


@cache
def guideline() -> Guideline:
    """Return the guideline of this version of MomentRank."""
    return read_guideline(GUIDELINE.read_text(encoding="utf-8"))


def read_guideline(text: str) -> Guideline:
    """Return the guideline that a text with a YAML head is.

    Raises:
        PageError: the head is missing or wrong, or the text has no place for the levels.
    """
    parts = _HEAD.fullmatch(text)
    if parts is None:
        raise PageError(f"{GUIDELINE.name}: it must begin with a head between two lines of ---")
    try:
        head = _Head.model_validate(YAML(typ="safe", pure=True).load(parts[1]))
    except (YAMLError, ValidationError) as exc:
        raise PageError(f"{GUIDELINE.name}: {exc}") from exc
    if set(head.levels) != set(get_args(LevelNumber)):
        raise PageError(f"{GUIDELINE.name}: levels: must be 0 to 4")
    if set(head.reasons) != set(get_args(ReasonName)):
        raise PageError(f"{GUIDELINE.name}: reasons: must be {', '.join(get_args(ReasonName))}")
    if len({reason.key for reason in head.reasons.values()}) != len(head.reasons):
        raise PageError(f"{GUIDELINE.name}: reasons: two reasons have the same key")
    if parts[2].count(_LEVELS_HERE) != 1:
        raise PageError(f"{GUIDELINE.name}: {_LEVELS_HERE} must stand in it once, on its own")
    body = parts[2].replace(_LEVELS_HERE, _listed(head.levels))
    text = MarkdownIt("commonmark", {"html": False}).render(body)
    return Guideline(head.version, head.levels, head.reasons, text)


def _listed(levels: Mapping[LevelNumber, Level]) -> str:
    """Return the levels as a list in Markdown, the best first."""
    return "\n".join(
        f"* **{number} {level.name}**: {level.meaning}"
        for number, level in sorted(levels.items(), reverse=True)
    )


def label_config(guide: Guideline) -> str:
    """Return the labelling configuration (XML) that Label Studio is given."""
    parts = {
        "levels": "".join(
            _choice(level.name, str(number), str(number), level.meaning)
            for number, level in sorted(guide.levels.items())
        ),
        "reasons": "".join(
            _choice(reason.name, name, reason.key) for name, reason in guide.reasons.items()
        ),
        "guideline": f'<HyperText name="guideline" inline="true" value={quoteattr(guide.html)}/>',
    }
    text = CONFIG.read_text(encoding="utf-8").strip()  # as Label Studio keeps it
    return _PLACE.sub(lambda place: parts[place[1]], text)


def _choice(text: str, alias: str, key: str, hint: str = "") -> str:
    values = {"value": text, "alias": alias, "hotkey": key, "hint": hint}
    return f"<Choice {' '.join(f'{k}={quoteattr(v)}' for k, v in values.items() if v)}/>"


def clip_html(url: str) -> str:
    """Return what shows a clip: it plays at once, silently, again and again.

    `url` is an address, or a path on Label Studio's own server; what is no GIF is a video.
    """
    source = html.escape(url)
    if _path(url).endswith(".gif"):
        return f'<img src="{source}" alt="">'
    return f'<video src="{source}" autoplay loop muted playsinline controls></video>'


def _path(url: str) -> str:
    """Return the part that names a file: Label Studio's own files stand in `?d=`."""
    parts = url.partition("#")[0]
    path, _, query = parts.partition("?")
    return (query if path.endswith("/local-files/") else path).lower()


def task_data(query: str, clip_url: str, key: str) -> dict[str, str]:
    """Return a task's data: what an annotator sees, and our key. The caption is not in it."""
    return {"query": query, "clip_html": clip_html(clip_url), "pair": key}


def read_answer(result: object) -> Answer:
    """Return what an annotation's `result` says; never a level where anything is amiss.

    An answer is exactly one level, or "can't judge" and exactly one reason.
    """
    if not isinstance(result, list):
        return Answer(problem="malformed")
    if not result:
        return Answer(problem="empty")
    chosen: dict[str, str] = {}
    for region in result:
        match region:
            case {
                "from_name": "level" | "reason" as name,
                "to_name": "clip",
                "type": "choices",
                "value": {"choices": [str(choice)]},
            }:
                if name in chosen:
                    return Answer(problem="twice")
                chosen[name] = choice
            case {"from_name": "level" | "reason"}:
                return Answer(problem="malformed")
            case _:
                return Answer(problem="foreign")
    return _answer(chosen.get(LEVEL), chosen.get(REASON))


def _answer(level: str | None, reason: str | None) -> Answer:
    if level == CANT_JUDGE:
        if reason is None:
            return Answer(problem="no-reason")
        found = next((name for name in get_args(ReasonName) if name == reason), None)
        return Answer(reason=found) if found else Answer(problem="bad-reason")
    if reason is not None:
        return Answer(problem="reason-alone" if level is None else "both")
    number = next((number for number in get_args(LevelNumber) if str(number) == level), None)
    return Answer(problem="bad-level") if number is None else Answer(level=number)
