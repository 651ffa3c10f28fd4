"""What a server answered, and which captions in it can be trusted.

A caption is joined to its description by id. An answer that lacks an id, or has one more or
twice, may have mixed them up: none of it is used.
"""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.core.text import is_line
from pipeline.llm import outcomes
from pipeline.llm.outcomes import CallFailed, Outcome
from pipeline.llm.wrapping import unwrap


class Answer(NamedTuple):
    """The part of a chat completion that matters; token counts are null where none came."""

    content: str | None
    refusal: str | None
    finish_reason: str | None
    tokens_in: int | None
    tokens_out: int | None


class Reading(NamedTuple):
    """The captions by description, and why the others have none (null if all have one)."""

    captions: dict[str, str]
    outcome: Outcome | None


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Message(_Lenient):
    content: str | None = None
    refusal: str | None = None


class _Choice(_Lenient):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    """What was used, not strict: an answer is paid for, and good, whatever its count says."""

    prompt_tokens: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]


class _Completion(_Lenient):
    choices: list[_Choice]
    usage: Any = None


class _Caption(_Lenient):
    id: str
    caption: str


class _Captions(_Lenient):
    captions: list[_Caption]


def of_body(body: object) -> Answer:
    """Return the answer in a Chat Completions response.

    Raises:
        CallFailed: it is no chat completion; servers behind proxies send errors as 200, too.
    """
    try:
        completion = _Completion.model_validate(body)
        choice = completion.choices[0]
    except (ValidationError, IndexError):
        raise CallFailed(outcomes.BROKEN_RESPONSE, "no chat completion") from None
    tokens_in, tokens_out = _used(completion.usage)
    return Answer(
        content=choice.message.content,
        refusal=choice.message.refusal,
        finish_reason=choice.finish_reason,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )


def _used(usage: object) -> tuple[int | None, int | None]:
    try:
        used = _Usage.model_validate(usage)
    except ValidationError:
        return None, None
    return used.prompt_tokens, used.completion_tokens


def read(answer: Answer, asked: Mapping[str, str]) -> Reading:
    """Return the captions that can be trusted for the descriptions `asked`, by id."""
    if outcome := _unusable(answer):
        return Reading({}, outcome)
    try:
        captions = _Captions.model_validate(unwrap(answer.content or "", "captions")).captions
    except (ValueError, RecursionError):  # a ValidationError is a ValueError
        return Reading({}, outcomes.BROKEN_JSON)
    if sorted(caption.id for caption in captions) != sorted(asked):
        return Reading({}, outcomes.WRONG_IDS)
    texts = {asked[caption.id]: caption.caption.strip() for caption in captions}
    good = {description: text for description, text in texts.items() if is_line(text)}
    return Reading(good, None if len(good) == len(texts) else outcomes.BAD_CAPTION)


def _unusable(answer: Answer) -> Outcome | None:
    if answer.finish_reason == "content_filter":
        return outcomes.FILTERED
    if answer.refusal:
        return outcomes.REFUSED
    if answer.finish_reason == "length":
        return outcomes.TRUNCATED
    return None
