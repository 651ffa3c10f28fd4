"""What files hold, by the SHA-256 of their content, read once for each change.

A copy of the corpus on another disk is the same corpus, so content decides, not a date;
size and date only tell whether a file that was read before must be read again.
"""

from pathlib import Path
from typing import Any

from pipeline import files


class Hashes:
    """Hashes of files, remembered in `cache` (which may be lost: then all are read again)."""

    def __init__(self, cache: Path) -> None:
        """Read what is remembered."""
        self._cache = cache
        self._known = _remembered(cache)
        self._used: dict[str, tuple[int, int, str]] = {}

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file, in hexadecimal; may be asked by many threads at once.

        Raises:
            OSError: the file can't be read.
        """
        stat = path.stat()
        size, time, sha = self._known.get(str(path), (None, None, ""))
        if (size, time) != (stat.st_size, stat.st_mtime_ns):
            sha = files.file_sha256(path)
        self._used[str(path)] = (stat.st_size, stat.st_mtime_ns, sha)
        return sha

    def last(self, path: Path) -> str:
        """Return what `of` said when the file could last be read, or "" if it never could."""
        if known := self._known.get(str(path)):
            self._used[str(path)] = known
        return known[2] if known else ""

    def save(self) -> None:
        """Remember the files that were asked for, and no others."""
        files.write_json(self._cache, dict(sorted(self._used.items())))


def _remembered(cache: Path) -> dict[str, tuple[int, int, str]]:
    try:
        entries: Any = files.read_json(cache)
        return {path: (size, time, str(sha)) for path, (size, time, sha) in entries.items()}
    except (files.FileError, AttributeError, TypeError, ValueError):
        return {}
