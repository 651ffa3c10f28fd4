"""Where the campaign's Label Studio is, and its token: the environment, else `.env`.

Neither stands in params.yaml, and the token goes into no log, table or message. `.env` is
ignored by git and readable by its owner alone.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ENV = Path(".env")
URL, TOKEN = "LABEL_STUDIO_URL", "LABEL_STUDIO_API_KEY"
PRIVATE = 0o600


class Endpoint(NamedTuple):
    """A server's address, without a slash at its end, and the token that opens it."""

    url: str
    token: str

    def __repr__(self) -> str:
        """Show the address alone."""
        return f"Endpoint({self.url!r})"


def read(path: Path = ENV) -> dict[str, str]:
    """Return the names and values of `.env`; nothing if there is no such file."""
    if not path.is_file():
        return {}
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs}


def write(values: Mapping[str, str], path: Path = ENV) -> None:
    """Put values into `.env`; what else stands there stays, and nobody else can read it."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    kept = [line for line in lines if line.partition("=")[0].strip() not in values]
    text = "\n".join([*kept, *(f"{name}={value}" for name, value in values.items())]) + "\n"
    unfinished = path.with_name(f"{path.name}.tmp")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    unfinished.replace(path)


def endpoint(path: Path = ENV) -> Endpoint | None:
    """Return the configured server, or None: no server is a normal state."""
    values = {
        **read(path),
        **{name: os.environ[name] for name in (URL, TOKEN) if name in os.environ},
    }
    url, token = values.get(URL, "").rstrip("/"), values.get(TOKEN, "")
    return Endpoint(url, token) if url and token else None
