"""Prompts: versioned files under `prompts/`, checked when they are read.

Paper, section 3.1 and Appendix A. A prompt's content hash goes into the record of every
caption that it made, so that a caption can always be traced to the words that asked for it.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, field_validator

from momentrank.errors import UsageError
from pipeline.core import files
from pipeline.core.validation import Name, Positive, Section, validate

DESCRIPTIONS = "descriptions"
LANGUAGE = "language"
_PLACEHOLDER = re.compile(r"\{\{\s*(.*?)\s*\}\}")
_HASH_DIGITS = 12
_SHORTEST_ID = 4
_LETTERS = str.maketrans("0123456789", "qrstuvwxyz")  # no id looks like a number
_encode = json.JSONEncoder(ensure_ascii=False).encode  # many times faster than json.dumps

Message = dict[str, str]
Schema = dict[str, Any]


class PromptError(UsageError):
    """A prompt file that is not valid."""


def _plain(text: str) -> str:
    """Return a text that is not blank and has no placeholder."""
    if not text.strip():
        raise ValueError("must not be blank")
    _check_placeholders(text, expected=())
    return text


def _system(text: str) -> str:
    """Return a text whose only placeholder may be the language."""
    _plain(_PLACEHOLDER.sub(lambda match: "" if match[1] == LANGUAGE else match[0], text))
    return text


Plain = Annotated[Name, AfterValidator(_plain)]
System = Annotated[Name, AfterValidator(_system)]


class Example(Section):
    """A description, and the caption that it should become."""

    description: Plain
    caption: Plain


class Prompt(Section):
    """One prompt: what is asked, by which examples, and the JSON schema of the answer."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    version: Positive
    system: System
    user: Name
    examples: list[Example]
    answer: Annotated[Schema, Field(validation_alias="schema")]

    @field_validator("user")
    @classmethod
    def _user_has_its_placeholder(cls, user: str) -> str:
        _check_placeholders(user, expected=(DESCRIPTIONS,), optional=(LANGUAGE,))
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
        captions = _property(answer, "captions")
        if captions and captions.get("type") != "array":
            raise ValueError("must ask for captions, an array")
        items = captions.get("items")
        for name in ("id", "caption"):
            if _property(items, name).get("type") != "string":
                raise ValueError(f"must ask for captions[].{name}, a string")
        return answer

    def in_language(self, name: str) -> "Prompt":
        """Return the prompt with a language's English name where it says `{{language}}`.

        Raises:
            PromptError: it says so nowhere, and the language is not English.
        """
        texts = {"system": self.system, "user": self.user}
        names = {name for text in texts.values() for name in _PLACEHOLDER.findall(text)}
        if name != "English" and LANGUAGE not in names:
            raise PromptError(
                f"the prompt {self.label} asks for English, and the corpus is {name}: set"
                f" rewrite.prompt to one with {{{{{LANGUAGE}}}}}, such as prompts/rewrite-v2.yaml"
            )
        filled = {key: _fill(text, {LANGUAGE: name}) for key, text in texts.items()}
        return self.model_copy(update=filled)

    @property
    def sha(self) -> str:
        """The first 12 hex digits of the SHA-256 of what the prompt says."""
        content = json.dumps(self.model_dump(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()[:_HASH_DIGITS]

    @property
    def label(self) -> str:
        """The prompt as captions name it: `rewrite-v1@` and its hash."""
        return f"{self.name}-v{self.version}@{self.sha}"

    def messages(self, descriptions: Mapping[str, str]) -> list[Message]:
        """Return the conversation that asks for captions of `descriptions`, by id."""
        return [
            {"role": "system", "content": self.system},
            *self._few_shot,
            {"role": "user", "content": self._ask(descriptions)},
        ]

    @cached_property
    def _few_shot(self) -> list[Message]:
        """Return the examples as one question and its answer."""
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
        return _fill(self.user, {DESCRIPTIONS: lines})


def _fill(text: str, values: Mapping[str, str]) -> str:
    # By a function: text that looks like a placeholder or a group stays what it is.
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def short_ids(descriptions: Sequence[str]) -> list[str]:
    """Return a short id for each of several different descriptions, out of its own hash.

    A running number would still look right if the model left one out and split another.
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


def load(path: Path) -> Prompt:
    """Read and check a prompt file.

    Raises:
        FileError: the file is missing or not YAML.
        PromptError: a key is unknown, missing or impossible, or the text lacks its
            placeholder or holds another; one line each.
    """
    return validate(Prompt, files.read_yaml(path), path, PromptError)


def _check_placeholders(text: str, expected: Sequence[str], optional: Sequence[str] = ()) -> None:
    names = _PLACEHOLDER.findall(text)
    if "{{" in _PLACEHOLDER.sub("", text):
        raise ValueError("a {{ without a }} on the same line")
    allowed = (*expected, *optional)
    if unknown := [name for name in names if name not in allowed]:
        choice = f"; known: {', '.join(allowed)}" if allowed else ""
        raise ValueError(f"unknown placeholder {{{{{unknown[0]}}}}}{choice}")
    for name in expected:
        if (times := names.count(name)) != 1:
            raise ValueError(f"must contain {{{{{name}}}}} once, not {times} times")


def _property(schema: object, name: str) -> Schema:
    """Return the schema of a required property of an object, or nothing."""
    match schema:
        case {"required": [*required], "properties": {**properties}} if name in required:
            value = properties.get(name)
            return value if isinstance(value, dict) else {}
    return {}
