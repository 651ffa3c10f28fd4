"""A place where a collection is published: the port, and what publishing gave."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from pipeline.distribution.versions import Target as Kind
from pipeline.publication.package import LocalFile, PublishError

TRIES = 5
"""How often a step is tried while a server fails in a way that may pass."""


class PassingError(PublishError):
    """A failure that may pass: no connection, a server's own error, too many requests.

    `wait` is how many seconds the server asks for.
    """

    def __init__(self, text: str, wait: float | None = None) -> None:
        """Say what failed."""
        super().__init__(text)
        self.wait = wait


class Address(NamedTuple):
    """Where a version was published: its address, its revision and DOI where there are any."""

    url: str
    revision: str | None = None
    doi: str | None = None


class Target(Protocol):
    """A place for one version of a collection. Every step can be done again.

    Files are named by their path, content by a fingerprint, `sha256:`, `md5:` or `git:` with the
    hash in hexadecimal. All methods raise `PassingError` where trying again may help.
    """

    kind: Kind
    place: str

    def open(self) -> bool:
        """Make the place ready; return whether this version is published there already."""

    def list_files(self) -> Mapping[str, str]:
        """Return the fingerprint of each file of this version."""

    def put(self, files: Sequence[LocalFile], obsolete: Sequence[str]) -> None:
        """Upload files, and remove those that are not of this version."""

    def read(self, path: str) -> Iterator[bytes]:
        """Yield what a file of this version holds, as a reader gets it."""

    def finish(self) -> Address:
        """Publish what was uploaded, under its version; return where it is."""

    def close(self) -> None:
        """Close the connection, if any."""
