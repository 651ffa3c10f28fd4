"""What files tell when they are read, remembered until they change.

Size and date only tell whether a file that was read before must be read again.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from pipeline.core import files

Fact = TypeVar("Fact", bound=str | float)


class Remembered(Generic[Fact]):
    """What `read` says of files, kept in `cache` (which may be lost: then all are read again)."""

    def __init__(
        self, cache: Path, read: Callable[[Path], Fact], kind: Callable[[Any], Fact]
    ) -> None:
        """Read what is remembered; `kind` makes of it what `read` returns."""
        self._cache, self._read = cache, read
        self._known = _remembered(cache, kind)
        self._used: dict[str, tuple[int, int, Fact]] = {}

    def of(self, path: Path) -> Fact:
        """Return what a file tells; may be asked by many threads at once.

        Raises:
            OSError: the file can't be read.
        """
        stat = path.stat()
        size, time, fact = self._known.get(str(path), (None, None, None))
        if fact is None or (size, time) != (stat.st_size, stat.st_mtime_ns):
            fact = self._read(path)
        self._used[str(path)] = (stat.st_size, stat.st_mtime_ns, fact)
        return fact

    def last(self, path: Path) -> Fact | None:
        """Return what `of` said when the file could last be read, or None if it never could."""
        if known := self._known.get(str(path)):
            self._used[str(path)] = known
        return known[2] if known else None

    def paths(self) -> list[str]:
        """Return the files that were remembered at the start."""
        return list(self._known)

    def save(self) -> None:
        """Remember the files that were asked for, and no others."""
        files.write_json(self._cache, dict(sorted(self._used.items())))


def _remembered(cache: Path, kind: Callable[[Any], Fact]) -> dict[str, tuple[int, int, Fact]]:
    try:
        entries: Any = files.read_json(cache)
        return {path: (size, time, kind(fact)) for path, (size, time, fact) in entries.items()}
    except (files.FileError, AttributeError, TypeError, ValueError):
        return {}
