"""Who stands behind this copy of the tool, whom its users and readers can ask (owner.toml)."""

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import Field

from momentrank.errors import UsageError
from pipeline.core.validation import Section, validate

FILE = Path("owner.toml")
Email = Annotated[str, Field(pattern=r"^[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+$")]
Url = Annotated[str, Field(pattern=r"^https://[^\s/]+\.[^\s]+$")]


class OwnerError(UsageError):
    """owner.toml lacks what readers need."""


class Owner(Section):
    """The owner's name, the addresses for questions and for vulnerabilities, and two pages."""

    name: Annotated[str, Field(pattern=r"\S")]
    email: Email
    security: Email
    repository: Url
    issues: Url


def read_owner(path: Path = FILE) -> Owner:
    """Return what the owner has filled in.

    Raises:
        OwnerError: a line is empty or not valid; one line each.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise OwnerError(f"{path}: can't be read ({exc}); the owner fills it in") from exc
    if empty := [name for name in Owner.model_fields if not content.get(name)]:
        raise OwnerError(
            f"{path}: {', '.join(empty)}: empty; nothing is published before its owner can be"
            " found: fill in every line"
        )
    return validate(Owner, content, path, OwnerError)
