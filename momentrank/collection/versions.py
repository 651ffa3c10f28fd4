"""Which part of a release's version must be raised, from what changed between two releases.

A release is its `manifest.json`: `version`, `files` with their `sha256`, `columns` of tables by
file, and `format`, the number of its formats. Semantic versioning: a changed format is major, a
changed level, pair, query or other content is minor, a changed description is a patch.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from momentrank.errors import UsageError
from momentrank.formats.source import FormatError

Part = Literal["major", "minor", "patch"]
PARTS: tuple[Part, ...] = ("major", "minor", "patch")
FORMAT = 2
"""The format of a release's files: raised when it changes, except for a table's columns."""
VERSION = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
DESCRIPTIONS = ("README.md", "croissant.json", "changes.json", "figures/")
"""Files, and folders, that only describe the others."""


def refuse_newer(path: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a release in a newer format; the oldest have no number.

    Raises:
        FormatError: the format of the manifest at `path` is newer than `FORMAT`, or no number.
    """
    number = manifest.get("format", 0)
    if not isinstance(number, int) or isinstance(number, bool):
        raise FormatError(f"{path}: format must be an integer, not {number!r}")
    if number > FORMAT:
        raise FormatError(
            f"{path}: the release has format {number}, but this momentrank reads formats up to"
            f" {FORMAT}: upgrade momentrank"
        )


class Change(NamedTuple):
    """A file that differs, how, and the part of the version that this raises."""

    part: Part
    path: str
    what: str


def list_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """Return what differs between two manifests, the most severe first."""
    before, after = old["files"], new["files"]
    changes = []
    was, now = (manifest.get("format") or "no number" for manifest in (old, new))
    if was != now:
        what = f"has format {now}, not {was}"
        changes.append(Change("major", "manifest.json", what))
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            changes.append(Change("major", path, "was removed"))
        elif path not in before:
            changes.append(Change("minor", path, "was added"))
        elif before[path]["sha256"] != after[path]["sha256"]:
            changes.append(_compare(path, old.get("columns", {}), new.get("columns", {})))
    return sorted(changes, key=lambda change: PARTS.index(change.part))


def _compare(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Change:
    if _differ(old.get(path), new.get(path)):
        return Change("major", path, "has other columns")
    is_description = path.startswith(DESCRIPTIONS)
    return Change("patch" if is_description else "minor", path, "changed")


def _differ(old: object, new: object) -> bool:
    """Tell whether both are known and different."""
    return old is not None and new is not None and old != new


def parse_version(version: str) -> tuple[int, ...]:
    """Return the three numbers of a version.

    Raises:
        UsageError: it is not valid.
    """
    if not VERSION.fullmatch(version):
        raise UsageError(f"{version!r} is not a version, must be three numbers: 1.0.0")
    return tuple(map(int, version.split(".")))


def next_version(version: str, part: Part) -> str:
    """Return the version with a part raised, and those after it 0."""
    index = PARTS.index(part)
    numbers = parse_version(version)
    return ".".join(map(str, [*numbers[:index], numbers[index] + 1, *[0, 0][index:]]))


def required_version(version: str, changes: Sequence[Change]) -> str:
    """Return the lowest version that a release with these changes may have."""
    return next_version(version, changes[0].part) if changes else version
