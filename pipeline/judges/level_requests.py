"""Requests for levels: one pair of query and clip each, and how answers are read.

An answer without a valid level is asked again or gets a reason; it never becomes a 0.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pipeline.core.tables import LEVELS
from pipeline.core.text import strip_unreadable
from pipeline.judges.clip_pictures import Clip, ClipPictures, Look, PictureReader
from pipeline.judges.judge_prompt import JudgePrompt
from pipeline.llm import outcomes
from pipeline.llm.answers import Answer, Reading, unwrap, why_unusable
from pipeline.llm.outcomes import Purpose
from pipeline.llm.request import Body, Recipe, Request

JUDGING = Purpose(
    "judge",
    "levels",
    {
        "timeout": "raise judge.openai.timeout, or lower judge.frames or judge.height",
        "truncated": "the answer was too long: raise judge.openai.max_output_tokens",
        "refused": "the model will not judge this: such pairs get no level",
        "unreadable": "the clip is broken: python -m pipeline.clips cuts missing clips",
        "rejected": "the server does not accept such a request: does the model support pictures? If"
        " it names a parameter, see judge.openai.output_limit and extra",
        "unsupported-parameter": "set judge.openai.output_limit: max_completion_tokens if the"
        " message names that, or remove the parameter: judge.openai.extra: {its name: null}",
    },
)

_ALTERNATIVES = 5
_LONGEST_REMARK = 500
_SHOWN_ID = "pair"
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode


class Question(NamedTuple):
    """A pair to ask about: the query's text, the clip, and its caption if that is shown."""

    query: str
    clip: Clip
    caption: str | None = None

    @property
    def text(self) -> str:
        """The question as one text: pairs with the same text are asked once."""
        about = {"clip": self.clip.sha, "query": self.query}
        return _encode(about | ({} if self.caption is None else {"caption": self.caption}))


class Judged(NamedTuple):
    """A model's answer: the level (null if it can't judge), the expected level, and a remark."""

    level: int | None
    expected: float | None
    remark: str | None


class _Verdict(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    level: Annotated[int, Field(ge=LEVELS[0], le=LEVELS[-1])] | None  # strict: true is not 1
    reason: str | None = None

    @field_validator("level", mode="before")
    @classmethod
    def _read_whole(cls, level: object) -> object:
        """Return 2.0 as 2: JSON has one kind of number."""
        return int(level) if isinstance(level, float) and level.is_integer() else level


@dataclass(frozen=True, kw_only=True)
class LevelRecipe(Recipe[Judged]):
    """Asks for the level of one pair at a time.

    `instructions` is the prompt's system text with the guideline in it; `questions` has questions
    by their texts. `blind`: the caption replaces the pictures.
    """

    prompt: JudgePrompt
    instructions: str
    look: Look
    blind: bool
    questions: Mapping[str, Question] = field(repr=False, compare=False)
    reader: PictureReader = field(repr=False, compare=False)

    @property
    def watched(self) -> str:
        """The key of the level."""
        return "level"

    def request(self, texts: Sequence[str], ask: int = 0) -> Request:
        """Return the request for one question, by its text; without texts, what all share."""
        system = {"role": "system", "content": self.instructions}
        if not texts:
            common = [self.prompt.model_dump(), vars(self.look), self.blind]
            return self._request({}, [system, {"role": "user", "content": _encode(common)}], ask)
        [text] = texts
        question = self.questions[text]
        pictures = None if self.blind else ClipPictures(question.clip, self.look, self.reader)
        blocks = [*self._show(question), *self.prompt.ask(question.query)]
        messages: list[Body] = [system, {"role": "user", "content": blocks}]
        return self._request({_SHOWN_ID: text}, messages, ask, pictures)

    def _show(self, question: Question) -> list[dict[str, Any]]:
        if self.blind:
            return self.prompt.describe(question.caption or "")
        clip, look = question.clip, self.look
        return self.prompt.show(clip.seconds, look.times(clip), look.addresses(clip))

    def read(self, answer: Answer, asked: Mapping[str, str]) -> Reading[Judged]:
        """Return the level in an answer, if it has one that can be trusted."""
        judged = read_level(answer)
        if isinstance(judged, outcomes.Outcome):
            return Reading({}, judged)
        return Reading(dict.fromkeys(asked.values(), judged), None)

    def _additions(self) -> Body:
        return {"logprobs": True, "top_logprobs": _ALTERNATIVES}


def read_level(answer: Answer) -> Judged | outcomes.Outcome:
    """Return a model's answer on a pair, or why it can't be used."""
    if outcome := why_unusable(answer):
        return outcome
    try:
        value = unwrap(answer.content or "", "level")
    except (ValueError, RecursionError):
        return outcomes.BROKEN_JSON
    try:
        verdict = _Verdict.model_validate(value)
    except ValidationError:
        has_level = isinstance(value, dict) and "level" in value
        return outcomes.BAD_LEVEL if has_level else outcomes.BROKEN_JSON
    expected = expect_level(answer.alternatives, verdict.level)
    return Judged(verdict.level, expected, _write_remark(verdict.reason))


def expect_level(alternatives: Mapping[str, float] | None, level: int | None) -> float | None:
    """Return the mean level by the levels' probabilities; None without any.

    Null and all other alternatives are ignored.
    """
    if level is None or not alternatives or str(level) not in alternatives:
        return None
    likely = {level: math.exp(alternatives.get(str(level), -math.inf)) for level in LEVELS}
    total = sum(likely.values())
    if total <= 0:
        return None
    return min(float(LEVELS[-1]), sum(level * share for level, share in likely.items()) / total)


def _write_remark(reason: str | None) -> str | None:
    """Return a model's reason as one line of limited length."""
    text = " ".join((reason or "").encode("utf-8", "replace").decode().split())
    return strip_unreadable(text)[:_LONGEST_REMARK].strip() or None
