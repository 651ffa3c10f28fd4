"""The judging prompt: the annotators' guideline, the clip's pictures, and last the query.

Query and description are JSON strings: their content is data, and changes no byte of the
instructions. The query comes last, so that a server may reuse what it has read of a clip.
"""

import json
from collections.abc import Sequence
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, field_validator

from pipeline.campaign.guideline import Guideline, LevelNumber
from pipeline.core.validation import Name
from pipeline.llm.prompt import Prompt, Schema, check_placeholders, fill, property_of

GUIDELINE, SECONDS, PICTURES = "guideline", "seconds", "pictures"
CAPTION, QUERY, LEVELS = "caption", "query", "levels"
ALLOWED = {*get_args(LevelNumber), None}

Block = dict[str, Any]
"""A part of a message: a text, or a picture."""

_encode = json.JSONEncoder(ensure_ascii=False).encode


def _with(*names: str) -> AfterValidator:
    """Return a check that a text has each of these placeholders once, and no others."""

    def check(text: str) -> str:
        check_placeholders(text, expected=names)
        return text

    return AfterValidator(check)


class JudgePrompt(Prompt):
    """What is asked about a clip, and the JSON schema of the answer.

    `clip` comes before the pictures, `blind` replaces them, `user` follows them.
    """

    system: Annotated[Name, _with(GUIDELINE)]
    clip: Annotated[Name, _with(SECONDS, PICTURES)]
    blind: Annotated[Name, _with(CAPTION)]
    user: Annotated[Name, _with(QUERY)]

    @field_validator("answer")
    @classmethod
    def _answer_holds_level_and_reason(cls, answer: Schema) -> Schema:
        values = property_of(answer, "level").get("enum")
        if not isinstance(values, list) or {*map(repr, values)} != {*map(repr, ALLOWED)}:
            raise ValueError("must ask for level, one of 0, 1, 2, 3, 4 and null")
        if property_of(answer, "reason").get("type") != "string":
            raise ValueError("must ask for reason, a string")
        return answer

    def instructions(self, guideline: Guideline) -> str:
        """Return the system text, which is the same for every pair."""
        return fill(self.system, {GUIDELINE: write_guideline(guideline)})

    def show(self, seconds: float, times: Sequence[float], addresses: Sequence[str]) -> list[Block]:
        """Return the clip's pictures, each after its time."""
        about = {SECONDS: f"{seconds:.1f}", PICTURES: str(len(times))}
        blocks = [_text(fill(self.clip, about))]
        for time, address in zip(times, addresses, strict=True):
            blocks.append(_text(f"t = {time:.2f} s"))
            blocks.append({"type": "image_url", "image_url": {"url": address}})
        return blocks

    def describe(self, caption: str) -> list[Block]:
        """Return the part that replaces the pictures."""
        return [_text(fill(self.blind, {CAPTION: _encode(caption)}))]

    def ask(self, query: str) -> list[Block]:
        """Return the question."""
        return [_text(fill(self.user, {QUERY: _encode(query)}))]


def write_guideline(guideline: Guideline) -> str:
    """Return the guideline as annotators read it, with its levels."""
    levels = sorted(guideline.head.levels.items())
    lines = [f"* **{number}, {level.name}.** {level.meaning}" for number, level in levels]
    return fill(guideline.body, {LEVELS: "\n".join(lines)}).strip()


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
