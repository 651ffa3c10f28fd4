"""A server's answer: the part that matters, and the JSON object in it.

Servers that do not enforce a JSON schema put the object into a code fence, after a sentence of
their own, or after `<think> ... </think>`. It is extracted from there. If several objects differ,
it is unclear which one was meant, and none is used.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from momentrank.ids import without_repeats
from pipeline.llm import outcomes
from pipeline.llm.outcomes import FILTER, THOUGHTS, TOOLS, CallFailed, Outcome

Found = TypeVar("Found")

_THOUGHT, _THOUGHT_ENDS = "<think>", "</think>"
_MOST_STARTS = 1000
"""Opening braces that are tried: prose has few, and a hostile answer must not take minutes."""

_decoder = json.JSONDecoder(object_pairs_hook=without_repeats)

_INSTEAD = {THOUGHTS: (THOUGHTS, "reasoning"), TOOLS: (TOOLS,)}
"""The fields of a message that may be there in place of its content."""


class Answer(NamedTuple):
    """The part of a chat completion that matters; token counts are null if the server sent none.

    `alternatives` are the log-probabilities of the possible first tokens of the watched key's value
    (`Recipe.watched`), if the server sent them. If the message has no content, but thoughts or tool
    calls, `finish_reason` says so: `THOUGHTS` or `TOOLS`.
    """

    content: str | None
    refusal: str | None
    finish_reason: str | None
    tokens_in: int | None
    tokens_out: int | None
    alternatives: dict[str, float] | None = None

    def record(self) -> dict[str, Any]:
        """Return what is stored."""
        record = self._asdict()
        if self.alternatives is None:
            del record["alternatives"]
        return record


class Reading(NamedTuple, Generic[Found]):
    """What was found, by text asked, and why the rest has nothing (null if nothing is missing)."""

    found: dict[str, Found]
    outcome: Outcome | None


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Message(_Lenient):
    model_config = ConfigDict(extra="allow")

    content: str | None = None
    refusal: str | None = None

    def find_end(self, reason: str | None) -> str | None:
        """Return why the message ends: what it has in place of content, or the server's reason."""
        if (self.content or "").strip() or self.refusal or reason == FILTER:
            return reason
        fields = self.model_extra or {}
        return next((k for k, names in _INSTEAD.items() if any(map(fields.get, names))), reason)


class _Choice(_Lenient):
    message: _Message
    finish_reason: str | None = None
    logprobs: Any = None


class _Usage(BaseModel):
    """Token usage, not strict: an answer is paid for, and good, whatever its count is."""

    prompt_tokens: Annotated[int, Field(ge=0)]
    completion_tokens: Annotated[int, Field(ge=0)]


class _Completion(_Lenient):
    choices: list[_Choice]
    usage: Any = None


class _Alternative(BaseModel):
    token: str
    logprob: Annotated[float, Field(le=1e-3)]


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


class _Logprobs(BaseModel):
    content: list[_Token]


def parse(body: object, watched: str | None = None) -> Answer:
    """Return the answer in a Chat Completions response; `watched` as `Recipe` has it.

    Raises:
        CallFailed: it is not a chat completion.
    """
    try:
        completion = _Completion.model_validate(body)
        choice = completion.choices[0]
    except (ValidationError, IndexError):
        reason = f"no chat completion: {body}"
        raise CallFailed(outcomes.BROKEN_RESPONSE, reason) from None
    message = choice.message
    alternatives = find_alternatives(choice.logprobs, watched) if watched else None
    counts = _token_counts(completion.usage)
    end = message.find_end(choice.finish_reason)
    return Answer(message.content, message.refusal, end, *counts, alternatives)


def _token_counts(usage: object) -> tuple[int | None, int | None]:
    try:
        used = _Usage.model_validate(usage)
    except ValidationError:
        return None, None
    return used.prompt_tokens, used.completion_tokens


def find_alternatives(logprobs: object, key: str) -> dict[str, float] | None:
    """Return the alternatives to the first token of the last `key`'s value, with probabilities.

    Tokens are stripped of spaces. Return None if the server sent none, or if the token contains
    more than the start of the value, so that its alternatives mean something else.
    """
    try:
        tokens = _Logprobs.model_validate(logprobs).content
    except ValidationError:
        return None
    text = "".join(token.token for token in tokens)
    matches = list(re.finditer(rf'"{re.escape(key)}"\s*:\s*', text))
    if not matches:
        return None
    value = matches[-1].end()
    end = 0
    for token in tokens:
        start, end = end, end + len(token.token)
        if end > value:
            if start + len(token.token) - len(token.token.lstrip()) != value:
                return None
            return _merge([token, *token.top_logprobs])
    return None


def _merge(alternatives: list[_Alternative]) -> dict[str, float]:
    """Return the highest log-probability of each text: a leading space makes it another token."""
    best: dict[str, float] = {}
    for token in alternatives:
        text = token.token.strip()
        best[text] = max(token.logprob, best.get(text, token.logprob))
    return best


def why_unusable(answer: Answer) -> Outcome | None:
    """Return why an answer can't be read, if so."""
    end = outcomes.from_end(answer.finish_reason)
    if end is outcomes.FILTERED:
        return end
    if answer.refusal:
        return outcomes.REFUSED
    return outcomes.ONLY_THOUGHTS if _is_thought(answer.content or "") else end


def _is_thought(content: str) -> bool:
    """Return whether an answer ends inside its thought, or with it."""
    has_begun = content.lstrip().startswith(_THOUGHT)
    after = content.rpartition(_THOUGHT_ENDS)[2] if _THOUGHT_ENDS in content else ""
    return has_begun and not after.strip()


def unwrap(content: str, key: str) -> object:
    """Return an answer as JSON, or else the one object with `key` that it contains.

    Raises:
        ValueError: there is no such object, or there are several that differ.
        RecursionError: it is nested too deeply.
    """
    try:
        value: object = _decoder.decode(content)
    except ValueError:
        objects = list(_objects(content))
    else:
        return value
    start = _end_of_thought(content, objects)
    candidates = [each for each in objects if each.start >= start and key in each.value]
    if not candidates or any(other.value != candidates[0].value for other in candidates):
        raise ValueError(f"{len(candidates)} JSON objects with {key!r} in the answer")
    if _THOUGHT in content[max(start, 0) : candidates[0].start]:
        raise ValueError("the answer stops inside <think>")
    return candidates[0].value


class _Object(NamedTuple):
    value: dict[str, Any]
    start: int
    end: int


def _objects(text: str) -> Iterator[_Object]:
    """Yield the outermost JSON objects in a text."""
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
    """Return where the last thought ends; a caption or a reason may contain the same mark."""
    end = text.rfind(_THOUGHT_ENDS)
    while inside := [each for each in objects if each.start < end < each.end]:
        end = text.rfind(_THOUGHT_ENDS, 0, inside[0].start)
    return end
