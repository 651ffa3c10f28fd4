"""A folder as a place to publish: on a disk, a share, or a web server."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pipeline.core import files as documents
from pipeline.distribution.versions import Target as Kind
from pipeline.publication.package import LocalFile, PublishError
from pipeline.publication.target import Address

PART = 1 << 20


class Folder:
    """A folder for each version: FOLDER/1.0.0/."""

    kind: Kind = "folder"

    def __init__(self, folder: Path, version: str) -> None:
        """Set the folder that will contain one for the version."""
        self.folder = folder / version
        self.unfinished = folder / f".{version}.unfinished"
        self.place = str(folder)

    def open(self) -> bool:
        """Make the folder for unfinished files."""
        if self.folder.exists():
            return True
        try:
            self.unfinished.mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise PublishError(f"{self.unfinished}: {(exc.strerror or str(exc)).lower()}") from exc
        return False

    def list_files(self) -> Mapping[str, str]:
        """Hash the files that are there."""
        return {
            path.relative_to(self._now).as_posix(): f"sha256:{documents.file_sha256(path)}"
            for path in self._now.rglob("*")
            if path.is_file()
        }

    def put(self, files: Sequence[LocalFile], obsolete: Sequence[str]) -> None:
        """Copy files, each whole or not at all."""
        for path in obsolete:
            (self._now / path).unlink()
        for local in files:
            with (
                local.source.open("rb") as source,
                documents.unfinished(self._now / local.path, "wb") as stream,
            ):
                shutil.copyfileobj(source, stream)

    def read(self, path: str) -> Iterator[bytes]:
        """Yield a file."""
        with documents.open_source(self._now / path) as stream:
            while chunk := stream.read(PART):
                yield chunk

    def finish(self) -> Address:
        """Give the folder its final name: the version is complete."""
        if not self.folder.exists():
            self.unfinished.rename(self.folder)
        return Address(str(self.folder))

    def close(self) -> None:
        """Nothing is open."""

    @property
    def _now(self) -> Path:
        return self.folder if self.folder.exists() else self.unfinished
