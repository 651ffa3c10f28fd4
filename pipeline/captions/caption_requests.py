"""Requests for captions: several descriptions in one request, each with an id.

A caption is joined to its description by id. If an answer lacks an id, or has an extra one, or one
with two captions, it may have mixed them up, and none of it is used.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from pipeline.captions.rewrite_prompt import RewritePrompt, short_ids
from pipeline.core.text import is_line
from pipeline.llm import outcomes
from pipeline.llm.answers import Answer, Reading, unwrap, why_unusable
from pipeline.llm.outcomes import Purpose
from pipeline.llm.request import Recipe, Request
from pipeline.llm.spending import count_tokens

REWRITING = Purpose(
    "rewrite", "captions", {"refused": "the model will not rewrite this: decide by hand"}
)

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Caption(_Lenient):
    id: str
    caption: str


class _Captions(_Lenient):
    captions: list[_Caption]


@dataclass(frozen=True)
class CaptionRecipe(Recipe[str]):
    """Asks for the captions of descriptions."""

    prompt: RewritePrompt

    def request(self, texts: Sequence[str], ask: int = 0) -> Request:
        """Return the request for some descriptions."""
        asked = dict(zip(short_ids(texts), texts, strict=True))
        return self._request(asked, self.prompt.messages(asked), ask)

    def read(self, answer: Answer, asked: Mapping[str, str]) -> Reading[str]:
        """Return the captions that can be trusted for the descriptions `asked`, by id."""
        return read_captions(answer, asked)


def read_captions(answer: Answer, asked: Mapping[str, str]) -> Reading[str]:
    """Return the captions that can be trusted for the descriptions `asked`, by id."""
    if outcome := why_unusable(answer):
        return Reading({}, outcome)
    try:
        captions = _Captions.model_validate(unwrap(answer.content or "", "captions")).captions
    except (ValueError, RecursionError):  # a ValidationError is a ValueError
        return Reading({}, outcomes.BROKEN_JSON)
    pairs = {(caption.id, caption.caption.strip()) for caption in captions}
    if sorted(short for short, _ in pairs) != sorted(asked):
        return Reading({}, outcomes.WRONG_IDS)
    texts = {asked[caption.id]: caption.caption.strip() for caption in captions}
    good = {description: text for description, text in texts.items() if is_line(text)}
    return Reading(good, None if len(good) == len(texts) else outcomes.BAD_CAPTION)


def likely_tokens_out(request: Request) -> int:
    """Return about how many output tokens will be paid for: captions as long as their texts."""
    captions = [{"id": short, "caption": text} for short, text in request.asked.items()]
    return count_tokens(_encode({"captions": captions}))
