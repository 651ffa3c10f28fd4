"""A place where a collection is published: the interface, and the result of publishing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from pipeline.distribution.versions import Target as Kind
from pipeline.publication.package import LocalFile, PublishError

TRIES = 5
"""How often a step is tried while a server's failure may be temporary."""


class PassingError(PublishError):
    """A failure that may be temporary: no connection, a server error, too many requests.

    `wait` is how many seconds the server asks to wait.
    """

    def __init__(self, text: str, wait: float | None = None) -> None:
        """Set the message and the wait."""
        super().__init__(text)
        self.wait = wait


class Address(NamedTuple):
    """Where a version was published: its address, and its revision and DOI if any."""

    url: str
    revision: str | None = None
    doi: str | None = None


class Target(Protocol):
    """A place for one version of a collection. Every step can be repeated.

    Files are identified by path, content by a fingerprint: `sha256:`, `md5:` or `git:` with the
    hash in hexadecimal. All methods raise `PassingError` if trying again may help.
    """

    kind: Kind
    place: str

    def open(self) -> bool:
        """Prepare the place; return whether this version is published there already."""

    def list_files(self) -> Mapping[str, str]:
        """Return the fingerprint of each file of this version."""

    def put(self, files: Sequence[LocalFile], obsolete: Sequence[str]) -> None:
        """Upload files, and remove those that are not part of this version."""

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file of this version, as a reader gets it."""

    def finish(self) -> Address:
        """Publish what was uploaded, under its version; return its address."""

    def close(self) -> None:
        """Close the connection, if any."""
