"""Prompts: versioned files under `prompts/`, checked when they are read.

A prompt's content hash is recorded with all its results, so that a caption or a level can always
be traced to the exact words that asked for it.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field

from momentrank.errors import UsageError
from pipeline.core import files
from pipeline.core.validation import Name, Positive, Section, validate

PLACEHOLDER = re.compile(r"\{\{\s*(.*?)\s*\}\}")
_HASH_DIGITS = 12

Schema = dict[str, Any]


class PromptError(UsageError):
    """A prompt file is invalid."""


def require_plain(text: str) -> str:
    """Return the text unchanged, after checks.

    Raises:
        ValueError: it is blank or has a placeholder.
    """
    if not text.strip():
        raise ValueError("must not be blank")
    check_placeholders(text, expected=())
    return text


Plain = Annotated[Name, AfterValidator(require_plain)]


class Prompt(Section):
    """What every prompt has: its name, its version, and the JSON schema of the answer."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    version: Positive
    answer: Annotated[Schema, Field(validation_alias="schema")]

    @property
    def sha(self) -> str:
        """The first 12 hex digits of the SHA-256 of the prompt's content."""
        content = json.dumps(self.model_dump(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()[:_HASH_DIGITS]

    @property
    def label(self) -> str:
        """The prompt as tables name it: `rewrite-v1@` and its hash."""
        return f"{self.name}-v{self.version}@{self.sha}"


AnyPrompt = TypeVar("AnyPrompt", bound=Prompt)


def load_prompt(kind: type[AnyPrompt], path: Path) -> AnyPrompt:
    """Read and check a prompt file.

    Raises:
        FileError: the file is missing or not YAML.
        PromptError: a key is unknown, missing or impossible, or the text lacks its
            placeholder or has another; one line each.
    """
    return validate(kind, files.read_yaml(path), path, PromptError)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced by values; unknown ones stay."""
    # With a function, so that values that look like placeholders or groups stay as they are.
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


def check_placeholders(text: str, expected: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Check that a text has each of `expected` once, and no others except `optional`.

    Raises:
        ValueError: it does not.
    """
    names = PLACEHOLDER.findall(text)
    if "{{" in PLACEHOLDER.sub("", text):
        raise ValueError("a {{ without a }} on the same line")
    allowed = (*expected, *optional)
    if unknown := [name for name in names if name not in allowed]:
        choice = f"; known: {', '.join(allowed)}" if allowed else ""
        raise ValueError(f"unknown placeholder {{{{{unknown[0]}}}}}{choice}")
    for name in expected:
        if (times := names.count(name)) != 1:
            raise ValueError(f"must contain {{{{{name}}}}} once, not {times} times")


def property_of(schema: object, name: str) -> Schema:
    """Return the schema of an object's required property, or {}."""
    match schema:
        case {"required": [*required], "properties": {**properties}} if name in required:
            value = properties.get(name)
            return value if isinstance(value, dict) else {}
    return {}
