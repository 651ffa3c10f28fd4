"""The entries of a manifest: each file's hash, size and number of rows."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A file; `rows` where it is a table or a list."""

    sha256: str
    bytes: int
    rows: int | None


def to_json(entries: Mapping[str, Entry]) -> dict[str, dict[str, Any]]:
    """Return the entries for JSON, by their paths in order."""
    return {path: entry._asdict() for path, entry in sorted(entries.items())}
