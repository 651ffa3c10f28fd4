"""The rewriting prompt (paper, section 3.1 and Appendix A), and how it asks for captions."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, field_validator

from pipeline.core.validation import Name, Section
from pipeline.llm.prompt import (
    PLACEHOLDER,
    Plain,
    Prompt,
    PromptError,
    Schema,
    check_placeholders,
    fill,
    load_prompt,
    property_of,
    require_plain,
)

DESCRIPTIONS = "descriptions"
LANGUAGE = "language"
_SHORTEST_ID = 4
_LETTERS = str.maketrans("0123456789", "qrstuvwxyz")  # no id looks like a number
_encode = json.JSONEncoder(ensure_ascii=False).encode  # much faster than json.dumps

Message = dict[str, str]


def _system(text: str) -> str:
    """Return a text whose only placeholder may be the language."""
    require_plain(PLACEHOLDER.sub(lambda match: "" if match[1] == LANGUAGE else match[0], text))
    return text


System = Annotated[Name, AfterValidator(_system)]


class Example(Section):
    """A description, and the caption that it should become."""

    description: Plain
    caption: Plain


class RewritePrompt(Prompt):
    """A prompt: the instructions, the examples, and the JSON schema of the answer."""

    system: System
    user: Name
    examples: list[Example]

    @field_validator("user")
    @classmethod
    def _user_has_its_placeholder(cls, user: str) -> str:
        check_placeholders(user, expected=(DESCRIPTIONS,), optional=(LANGUAGE,))
        return user

    @field_validator("examples")
    @classmethod
    def _examples_differ(cls, examples: list[Example]) -> list[Example]:
        counts = Counter(example.description for example in examples)
        if twice := [text for text, count in counts.items() if count > 1]:
            raise ValueError(f"{twice[0]!r} appears twice")
        return examples

    @field_validator("answer")
    @classmethod
    def _answer_holds_captions_by_id(cls, answer: Schema) -> Schema:
        captions = property_of(answer, "captions")
        if captions and captions.get("type") != "array":
            raise ValueError("must ask for captions, an array")
        items = captions.get("items")
        for name in ("id", "caption"):
            if property_of(items, name).get("type") != "string":
                raise ValueError(f"must ask for captions[].{name}, a string")
        return answer

    def in_language(self, name: str) -> "RewritePrompt":
        """Return the prompt with a language's English name in place of `{{language}}`.

        Raises:
            PromptError: it has no such placeholder, and the language is not English.
        """
        texts = {"system": self.system, "user": self.user}
        names = {name for text in texts.values() for name in PLACEHOLDER.findall(text)}
        if name != "English" and LANGUAGE not in names:
            raise PromptError(
                f"the prompt {self.label} asks for English, and the corpus is {name}: set"
                f" rewrite.prompt to one with {{{{{LANGUAGE}}}}}, such as prompts/rewrite-v2.yaml"
            )
        filled = {key: fill(text, {LANGUAGE: name}) for key, text in texts.items()}
        return self.model_copy(update=filled)

    def messages(self, descriptions: Mapping[str, str]) -> list[Message]:
        """Return the conversation that asks for captions of `descriptions`, by id."""
        return [
            {"role": "system", "content": self.system},
            *self._few_shot,
            {"role": "user", "content": self._ask(descriptions)},
        ]

    @cached_property
    def _few_shot(self) -> list[Message]:
        """Return the examples as one question and answer."""
        if not self.examples:
            return []
        ids = short_ids([example.description for example in self.examples])
        shown = dict(zip(ids, self.examples, strict=True))
        question = self._ask({short: example.description for short, example in shown.items()})
        captions = [{"id": short, "caption": example.caption} for short, example in shown.items()]
        answer = _encode({"captions": captions})
        return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]

    def _ask(self, descriptions: Mapping[str, str]) -> str:
        lines = "\n".join(
            _encode({"id": short, "description": text}) for short, text in descriptions.items()
        )
        return fill(self.user, {DESCRIPTIONS: lines})


def short_ids(descriptions: Sequence[str]) -> list[str]:
    """Return a short id for each of several distinct descriptions, from its hash.

    Consecutive numbers would still look right if the model left one out and split another.
    """
    digests = (hashlib.sha256(text.encode()).hexdigest() for text in descriptions)
    hashes = [digest.translate(_LETTERS) for digest in digests]
    for length in range(_SHORTEST_ID, len(hashes[0]) if hashes else 0):
        ids = [text[:length] for text in hashes]
        if len(set(ids)) == len(ids):
            return ids
    if hashes:
        raise ValueError("a description appears twice in one request")
    return []


def load(path: Path) -> RewritePrompt:
    """Read and check a rewriting prompt; raises the errors of `load_prompt`."""
    return load_prompt(RewritePrompt, path)
