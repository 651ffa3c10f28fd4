"""`datasets/campaign/published.yaml`: which versions are published, and their contents.

`python -m pipeline.publish` writes it, and git keeps it. So a clone knows by how much the version
must be raised, without the files of the previous version. It contains `null` until something is
published.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from momentrank.collection.release import Collection
from momentrank.collection.versions import Change, list_changes, parse_version, required_version
from pipeline.campaign.campaign import Instant
from pipeline.campaign.collection import ReleaseError
from pipeline.core import files, tables
from pipeline.core.params import ParamsError
from pipeline.core.validation import Name, Section, validate

FILE = tables.CAMPAIGN / "published.yaml"
SHOWN = 3
Target = Literal["hf", "zenodo", "folder"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Publication(Section):
    """A version as it was published: where, when, and the hashes and columns of its files.

    `place` is the repository, record or folder, `address` is where people find it. `training` are
    the files that other manifests list: training sets, and a machine's levels.
    """

    version: Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
    to: Target
    place: Name
    address: Name
    revision: Name | None = None
    doi: Name | None = None
    at: Instant
    complete: bool
    format: int | None
    columns: dict[str, list[str]]
    files: dict[str, Sha256]
    training: dict[str, Sha256]

    @property
    def manifest(self) -> dict[str, Any]:
        """What `momentrank.collection.versions` compares."""
        listed = {path: {"sha256": sha256} for path, sha256 in self.files.items()}
        return {
            "version": self.version,
            "format": self.format,
            "columns": self.columns,
            "files": listed,
        }


class _Publications(Section):
    published: list[Publication]


def read_published(path: Path = FILE) -> list[Publication]:
    """Return what is published, in the order of publishing; empty if there is no such file.

    Raises:
        ParamsError: the file is not in the form that `publish` writes.
    """
    listed = files.read_yaml(path) if path.is_file() else None
    return validate(_Publications, {"published": listed or []}, path, ParamsError).published


def write_published(published: list[Publication], path: Path = FILE) -> None:
    """Rewrite the file with what is published."""
    content = [publication.model_dump() for publication in published]
    files.write_yaml(path, content, "Written by `python -m pipeline.publish`; commit it.")


def describe_version(
    manifest: Mapping[str, Any], published: list[Publication], base: Collection | None = None
) -> str | None:
    """Return why a manifest's version is too low; None if it isn't.

    It follows what is published, and the `base` that was reopened.
    """
    earlier = [(publication.manifest, f"published ({FILE})") for publication in published]
    if base is not None:
        earlier.append((base.manifest, f"released ({base.folder})"))
    if not earlier:
        return None
    last, where = max(earlier, key=lambda one: parse_version(one[0]["version"]))
    version, changes = manifest["version"], list_changes(last, manifest)
    least = required_version(last["version"], changes)
    if parse_version(version) >= parse_version(least):
        return None
    reason = _tell(changes) or "a later version can't have a lower number"
    level = f" ({changes[0].part})" if changes else ""
    return (
        f"params.yaml: release.version is {version}, but {last['version']} is {where}, and"
        f" since then {reason}: set it to {least}{level} or higher (`momentrank diff OLD NEW` shows"
        " each change)"
    )


def refuse_version(
    manifest: Mapping[str, Any], published: list[Publication], base: Collection | None = None
) -> None:
    """Refuse a release whose version was not raised as its changes require.

    Raises:
        ReleaseError: it was not.
    """
    if problem := describe_version(manifest, published, base):
        raise ReleaseError(problem)


def _tell(changes: list[Change]) -> str:
    named = [f"{change.path} {change.what}" for change in changes[:SHOWN]]
    more = len(changes) - SHOWN
    return ", ".join([*named, *([f"and {more} more"] if more > 0 else [])])
