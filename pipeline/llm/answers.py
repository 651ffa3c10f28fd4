"""What a server answered, and which captions in it can be trusted.

A caption is joined to its description by id. An answer that lacks an id, or has one more or
twice, may have mixed them up: none of it is used.

Servers that can't be held to a JSON schema put the object into a code fence, after a sentence of
their own, or after `<think> ... </think>`. It is taken out of that. Where several objects differ,
nobody can say which one was meant, and none is used.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from momentrank.ids import without_repeats
from pipeline.core.text import is_line
from pipeline.llm import outcomes
from pipeline.llm.outcomes import CallFailed, Outcome

_THOUGHT, _THOUGHT_ENDS = "<think>", "</think>"
_MOST_STARTS = 1000
"""So many opening braces are tried: prose has few, and a hostile answer must not take minutes."""
_OK, _UNKNOWN = 200, 500  # HTTP statuses

_decoder = json.JSONDecoder(object_pairs_hook=without_repeats)


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


def parse(body: object) -> Answer:
    """Return the answer in a Chat Completions response.

    Raises:
        CallFailed: it is no chat completion; servers behind proxies send errors as 200, too.
    """
    try:
        completion = _Completion.model_validate(body)
        choice = completion.choices[0]
    except (ValidationError, IndexError):
        raise CallFailed(outcomes.BROKEN_RESPONSE, "no chat completion") from None
    message, reason = choice.message, choice.finish_reason
    return Answer(message.content, message.refusal, reason, *_token_counts(completion.usage))


def _token_counts(usage: object) -> tuple[int | None, int | None]:
    try:
        used = _Usage.model_validate(usage)
    except ValidationError:
        return None, None
    return used.prompt_tokens, used.completion_tokens


def read(answer: Answer, asked: Mapping[str, str]) -> Reading:
    """Return the captions that can be trusted for the descriptions `asked`, by id."""
    if outcome := _why_unusable(answer):
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


def _why_unusable(answer: Answer) -> Outcome | None:
    if answer.finish_reason == "content_filter":
        return outcomes.FILTERED
    if answer.refusal:
        return outcomes.REFUSED
    if answer.finish_reason == "length":
        return outcomes.TRUNCATED
    return None


def read_results(content: bytes) -> Iterator[tuple[str, Answer | CallFailed]]:
    """Yield how requests ended, by key; a line of the result file that is none is skipped."""
    for text in content.splitlines():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue  # its request stays open, and is submitted again
        if isinstance(line, dict) and isinstance(key := line.get("custom_id"), str):
            yield key, _read_result(line)


def _read_result(line: dict[str, Any]) -> Answer | CallFailed:
    response = _object(line.get("response"))
    body, status = response.get("body"), response.get("status_code")
    status = status if isinstance(status, int) else _UNKNOWN
    if status == _OK:
        try:
            return parse(body)
        except CallFailed as failure:
            return failure
    error = _object(line.get("error")) or _object(_object(body).get("error"))
    message = str(error.get("message") or error.get("code") or f"status {status}")
    outcome = outcomes.from_status(status, error.get("code"), error.get("type"))
    return CallFailed(outcome, " ".join(message.split()))


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def unwrap(content: str, key: str) -> object:
    """Return the JSON value that an answer is, or the one object with `key` that it contains.

    Raises:
        ValueError: there is none, or there are several that differ.
        RecursionError: it is nested too deeply.
    """
    try:
        value: object = _decoder.decode(content)
    except ValueError:
        objects = list(_objects(content))
    else:
        return value
    spoken = _end_of_thought(content, objects)
    kept = [each for each in objects if each.start >= spoken and key in each.value]
    if not kept or any(other.value != kept[0].value for other in kept):
        raise ValueError(f"{len(kept)} JSON objects with {key!r} in the answer")
    if _THOUGHT in content[max(spoken, 0) : kept[0].start]:
        raise ValueError("the answer ends in a thought")
    return kept[0].value


class _Object(NamedTuple):
    value: dict[str, Any]
    start: int
    end: int


def _objects(text: str) -> Iterator[_Object]:
    """Yield the JSON objects in a text, the outermost ones."""
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0:
            return
        try:
            value, end = _decoder.raw_decode(text, start)
        except ValueError:
            end = start + 1
        else:
            yield _Object(value, start, end)
        start = text.find("{", end)


def _end_of_thought(text: str, objects: Sequence[_Object]) -> int:
    """Return where the last thought ends; a caption may hold the same mark."""
    end = text.rfind(_THOUGHT_ENDS)
    while inside := [each for each in objects if each.start < end < each.end]:
        end = text.rfind(_THOUGHT_ENDS, 0, inside[0].start)
    return end
