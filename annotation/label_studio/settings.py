"""Settings that are secret or specific to this machine, from the environment or `.env`.

The address of the campaign's Label Studio, its token, and the secret that signs tasks. None of
them is in params.yaml, and no secret goes into a log, a table or a message. `.env` is ignored by
git and readable only by its owner.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from dotenv import dotenv_values

from momentrank.errors import MomentRankError
from pipeline.core import cli, files

ENV = Path(".env")
URL, TOKEN = "LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"
USERNAME, PASSWORD = "LABEL_STUDIO_USERNAME", "LABEL_STUDIO_PASSWORD"
ROOT = "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT"
HOST = "LABEL_STUDIO_HOST"
"""The address that people's browsers use, if there is a proxy in front of the server."""

TOKEN_TEXT = re.compile(r"[!-~]+")
PLAIN = re.compile(r"[\w./:@%+=,-]*")
"""What needs no quotes in `.env`."""


class SettingsError(MomentRankError):
    """A setting that is not valid."""


class Endpoint(NamedTuple):
    """A server's address, without a trailing slash, and the token that gives access."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r})"


def read(path: Path = ENV) -> dict[str, str]:
    """Return the names and values in `.env`; nothing if there is no such file."""
    if not path.is_file():
        return {}
    cli.keep_private(path)
    values = dotenv_values(path, interpolate=False)
    return {name: text for name, text in values.items() if text is not None}


def write(values: Mapping[str, str], path: Path = ENV) -> None:
    """Put values into `.env`; the other lines stay, and only its owner can read it."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    others = [line for line in lines if line.partition("=")[0].strip() not in values]
    text = "\n".join([*others, *(f"{name}={_quote(text)}" for name, text in values.items())]) + "\n"
    with files.unfinished(path, private=True) as stream:
        stream.write(text)


def _quote(text: str) -> str:
    if PLAIN.fullmatch(text):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def value(name: str, path: Path = ENV) -> str | None:
    """Return a setting from the environment, else from `.env`; None if missing or empty."""
    return os.environ.get(name, read(path).get(name, "")) or None


def public_address(url: str) -> str:
    """Return the address at which people reach the server that we reach at `url`."""
    return (value(HOST) or url).rstrip("/")


def split_address(url: str) -> SplitResult:
    """Return the parts of a server's address.

    Raises:
        SettingsError: it is not an address.
    """
    try:
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
            return parts
    except ValueError:  # from a host in brackets, or a port
        pass
    raise SettingsError(
        f"{URL}: is not a valid address, such as http://127.0.0.1:8080 or https://example.org"
    )


def endpoint(path: Path = ENV) -> Endpoint | None:
    """Return the configured server, or None: having no server is a normal state.

    Raises:
        SettingsError: the address or the token is not valid; no message repeats a possible secret.
    """
    url, token = ((value(name, path) or "").strip() for name in (URL, TOKEN))
    if not url or not token:
        return None
    parts = split_address(url)
    if parts.username is not None:
        raise SettingsError(f"{URL}: remove the user name and password; {TOKEN} gives access")
    if not TOKEN_TEXT.fullmatch(token):
        raise SettingsError(f"{TOKEN}: contains characters that no token has; copy it again")
    return Endpoint(url.rstrip("/"), token)
