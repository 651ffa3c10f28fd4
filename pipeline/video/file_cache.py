"""A cache of what was computed from files, valid until a file changes.

Size and date only decide whether a file must be read again. The cache is saved now and then while
files are read: with two million videos, a kill costs a minute, not hours.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from pipeline.core import files

Value = TypeVar("Value", bound=str | float)
SAVE_SECONDS = 60.0
"""Time between two saves while files are read."""


class FileCache(Generic[Value]):
    """Results of `read` by file, kept at `path` (if that is lost, all files are read again)."""

    def __init__(
        self, path: Path, read: Callable[[Path], Value], parse: Callable[[Any], Value]
    ) -> None:
        """Load the cache; `parse` turns a stored value into what `read` returns."""
        self._path, self._read = path, read
        self._stored = _load(path, parse)
        self._used: dict[str, tuple[int, int, Value]] = {}
        self._saved = time.monotonic()
        self._saving = threading.Lock()

    def get(self, path: Path) -> Value:
        """Return the result for a file; safe to call from many threads.

        Raises:
            OSError: the file can't be read.
        """
        stat = path.stat()
        size, time, value = self._stored.get(str(path), (None, None, None))
        if value is None or (size, time) != (stat.st_size, stat.st_mtime_ns):
            value = self._read(path)
            self._save_now_and_then()
        self._used[str(path)] = (stat.st_size, stat.st_mtime_ns, value)
        return value

    def last(self, path: Path) -> Value | None:
        """Return the result of the last successful read of a file, or None if there is none."""
        if stored := self._stored.get(str(path)):
            self._used[str(path)] = stored
        return stored[2] if stored else None

    def _save_now_and_then(self) -> None:
        """Store everything known, including what has not been requested yet."""
        with self._saving:
            if time.monotonic() - self._saved >= SAVE_SECONDS:
                files.write_json(self._path, self._stored | self._used.copy())
                self._saved = time.monotonic()

    def paths(self) -> list[str]:
        """Return the files that the cache contained when it was loaded."""
        return list(self._stored)

    def save(self) -> None:
        """Store the results of the requested files, and no others."""
        files.write_json(self._path, dict(sorted(self._used.items())))


def _load(path: Path, parse: Callable[[Any], Value]) -> dict[str, tuple[int, int, Value]]:
    try:
        entries: Any = files.read_json(path)
        return {file: (size, time, parse(value)) for file, (size, time, value) in entries.items()}
    except (files.FileError, AttributeError, TypeError, ValueError):
        return {}
