"""What is published from a release folder: its manifests, and exactly the files they list."""

import hashlib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from momentrank.errors import MomentRankError
from pipeline.core import files

MANIFESTS = MANIFEST, TRAINING = "manifest.json", "train_manifest.json"
MACHINE = "machine_manifest.json"
"""The manifest of a machine's levels; it lists nothing if there are none."""
PRIVATE_FOLDERS = {"lead", "campaign"}


class PublishError(MomentRankError):
    """Something can't be published, or publishing failed."""


class LocalFile(NamedTuple):
    """A file of the release: its path in the release, where it is, and its SHA-256."""

    path: str
    source: Path
    sha256: str

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.source.stat().st_size

    def hash_md5(self) -> str:
        """Return the MD5."""
        with self.source.open("rb") as stream:
            digest = hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False))
        return digest.hexdigest()


class Package(NamedTuple):
    """The files of a release and its manifest; `further` has the hashes in the other manifests."""

    folder: Path
    manifest: Mapping[str, Any]
    files: list[LocalFile]
    further: dict[str, str]

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(file.size for file in self.files)


def collect_package(folder: Path) -> Package:
    """Return the files that the manifests of a release list, after checking their hashes.

    Raises:
        FileError: a manifest or a file is missing.
        PublishError: a file's hash differs, or a file may not be published.
    """
    manifest = files.read_json(folder / MANIFEST)
    described, further = _hashes(manifest), _hashes(files.read_json(folder / TRAINING))
    manifests = list(MANIFESTS)
    if (folder / MACHINE).is_file() and (judged := _hashes(files.read_json(folder / MACHINE))):
        manifests, further = [*manifests, MACHINE], further | judged
    listed = sorted({**described, **further}.items())
    others = [_check(folder, path, sha256) for path, sha256 in listed]
    hashed = [_hash(folder, name) for name in manifests]
    return Package(folder, manifest, [*others, *hashed], further)


def _hashes(manifest: Mapping[str, Any]) -> dict[str, str]:
    return {path: entry["sha256"] for path, entry in manifest["files"].items()}


def pack_folders(package: Package, archive: Path) -> Package:
    """Return a package without folders: their files are in one ZIP, the same for the same files.

    Unpacked next to the other files, it restores the release's folder.
    """
    flat = [file for file in package.files if "/" not in file.path]
    with files.unfinished(archive, "wb") as stream, zipfile.ZipFile(stream, "w") as packed:
        for file in package.files:
            if "/" in file.path:
                packed.writestr(zipfile.ZipInfo(file.path), file.source.read_bytes())  # no date
    zipped = LocalFile(archive.name, archive, files.file_sha256(archive))
    return package._replace(files=[*flat, zipped])


def list_others(package: Package) -> list[str]:
    """Return the files in the folder that are not published."""
    return sorted({*_walk(package.folder)} - {file.path for file in package.files})


def hash_folder(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file in a folder, by path."""
    return {path: files.file_sha256(folder / path) for path in _walk(folder)}


def _walk(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.relative_to(folder).as_posix()


def _check(folder: Path, path: str, sha256: str) -> LocalFile:
    names = PurePosixPath(path).parts
    hidden = any(name.startswith(".") for name in names)
    if hidden or "\\" in path or path.startswith("/") or PRIVATE_FOLDERS & set(names):
        raise PublishError(f"{folder / MANIFEST}: files.{path}: may not be published")
    local = _hash(folder, path)
    if local.sha256 != sha256:
        raise PublishError(
            f"{local.source}: is not the file that the manifest lists (its SHA-256 is"
            f" {local.sha256}); rebuild the release: dvc repro release pseudo"
        )
    return local


def _hash(folder: Path, path: str) -> LocalFile:
    source = folder / path
    files.open_source(source).close()  # its error names the command that makes the file
    if not source.resolve().is_relative_to(folder.resolve()):
        raise PublishError(f"{source}: is a link to outside the release's folder; copy the file")
    return LocalFile(path, source, files.file_sha256(source))
