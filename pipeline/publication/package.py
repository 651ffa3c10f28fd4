"""What is published of a release folder: its manifests and exactly the files that they list."""

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from momentrank.errors import MomentRankError
from pipeline.core import files

OWN = MANIFEST, TRAINING = "manifest.json", "train_manifest.json"
MACHINE = "machine_manifest.json"
"""The manifest of a machine's levels; it lists nothing where there are none."""
PRIVATE_FOLDERS = {"lead", "campaign"}


class PublishError(MomentRankError):
    """What can't be published, or could not be."""


class LocalFile:
    """A file of the release, with its path in it."""

    def __init__(self, path: str, source: Path, sha256: str) -> None:
        """Name a file whose SHA-256 is known."""
        self.path, self.source, self.sha256 = path, source, sha256
        self.size = source.stat().st_size

    @cached_property
    def fingerprints(self) -> frozenset[str]:
        """The hashes by which a server may name this content: `sha256:`, `md5:`, `git:`."""
        blob = hashlib.sha1(f"blob {self.size}\0".encode(), usedforsecurity=False)
        md5 = hashlib.md5(usedforsecurity=False)
        with self.source.open("rb") as stream:
            while part := stream.read(1 << 20):
                blob.update(part)
                md5.update(part)
        return frozenset(
            {f"sha256:{self.sha256}", f"md5:{md5.hexdigest()}", f"git:{blob.hexdigest()}"}
        )


class Package(NamedTuple):
    """The files of a release, and what its manifest says; `further` are those of the others."""

    folder: Path
    manifest: Mapping[str, Any]
    files: list[LocalFile]
    further: dict[str, str]

    @property
    def size(self) -> int:
        """How many bytes the files hold."""
        return sum(one.size for one in self.files)


def collect_package(folder: Path) -> Package:
    """Return the files that the manifests of a release list, each of which is as they say.

    Raises:
        FileError: a manifest or a file is missing.
        PublishError: a file has another hash, or is none that may go out.
    """
    manifest = files.read_json(folder / MANIFEST)
    described, further = _hashes(manifest), _hashes(files.read_json(folder / TRAINING))
    own = list(OWN)
    if (folder / MACHINE).is_file() and (judged := _hashes(files.read_json(folder / MACHINE))):
        own, further = [*own, MACHINE], further | judged
    listed = sorted({**described, **further}.items())
    others = [_check(folder, path, sha256) for path, sha256 in listed]
    return Package(folder, manifest, [*others, *(_hash(folder, name) for name in own)], further)


def _hashes(manifest: Mapping[str, Any]) -> dict[str, str]:
    return {path: entry["sha256"] for path, entry in manifest["files"].items()}


def pack_folders(package: Package, archive: Path) -> Package:
    """Return a package without folders: what lies in them is one ZIP, the same for the same files.

    Unpacked where the other files are, it gives the release's folder.
    """
    flat = [one for one in package.files if "/" not in one.path]
    with files.unfinished(archive, "wb") as stream, zipfile.ZipFile(stream, "w") as packed:
        for one in package.files:
            if "/" in one.path:
                packed.writestr(zipfile.ZipInfo(one.path), one.source.read_bytes())  # no date
    own = LocalFile(archive.name, archive, files.file_sha256(archive))
    return package._replace(files=[*flat, own])


def list_others(package: Package) -> list[str]:
    """Return what lies in the folder, and is not published."""
    return sorted({*_walk(package.folder)} - {one.path for one in package.files})


def _walk(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix()


def _check(folder: Path, path: str, sha256: str) -> LocalFile:
    parts = PurePosixPath(path).parts
    hidden = any(part.startswith(".") for part in parts)
    if hidden or "\\" in path or path.startswith("/") or PRIVATE_FOLDERS & set(parts):
        raise PublishError(f"{folder / MANIFEST}: files.{path}: may not be published")
    local = _hash(folder, path)
    if local.sha256 != sha256:
        raise PublishError(
            f"{local.source}: is not the file that the manifest lists (its SHA-256 is"
            f" {local.sha256}); make the release again: dvc repro release pseudo"
        )
    return local


def _hash(folder: Path, path: str) -> LocalFile:
    source = folder / path
    files.open_source(source).close()  # an error that says what makes it
    if not source.resolve().is_relative_to(folder.resolve()):
        raise PublishError(f"{source}: a link that leaves the release's folder; copy the file")
    return LocalFile(path, source, files.file_sha256(source))
