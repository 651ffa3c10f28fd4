"""Paid answers on disk: one per line in `<folder>/<recipe>.jsonl`.

The cache is not an out of any stage, because DVC would empty it. An answer is appended as soon as
it arrives. Each line begins with its line break, so a line cut short by a kill damages no other.
A line whose checksum does not match counts as absent.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from momentrank.errors import MomentRankError
from pipeline.core.files import FileError
from pipeline.llm.answers import Answer, Found
from pipeline.llm.outcomes import Purpose
from pipeline.llm.request import Recipe, Request


class Entry(NamedTuple):
    """An answer, and its texts by id."""

    asked: dict[str, str]
    answer: Answer


class CacheError(MomentRankError):
    """The cache can't be used at the moment."""


@contextmanager
def disk_errors(path: Path, purpose: Purpose) -> Iterator[None]:
    """Turn a disk error (the disk is full, a file is in the way) into one clear line.

    Raises:
        CacheError: the disk failed.
    """
    try:
        yield
    except (OSError, FileError) as exc:
        reason = getattr(exc, "strerror", None) or exc
        raise CacheError(f"{path}: {purpose.section}.openai.cache can't be used: {reason}") from exc


class Cache:
    """The answers in one folder; each recipe's are read on first use."""

    def __init__(self, folder: Path, purpose: Purpose) -> None:
        """Read nothing yet."""
        self.folder, self._purpose = folder, purpose
        self._lock = FileLock(folder / "lock")
        self._recipes: dict[str, dict[str, Entry]] = {}

    def get(self, request: Request) -> Answer | None:
        """Return the answer to exactly this request, if there is one."""
        entry = self._entries(request.recipe).get(request.key)
        return entry.answer if entry else None

    def entries(self, recipe: str, keys: Iterable[str]) -> Iterator[tuple[str, Entry]]:
        """Yield the entries of some requests, in the order of their keys."""
        entries = self._entries(recipe)
        return ((key, entries[key]) for key in sorted(keys))

    def put(self, request: Request, answer: Answer) -> None:
        """Store the answer to a request."""
        entry = Entry(request.asked, answer)
        text = _canonical({"key": request.key, **entry._asdict(), "answer": answer.record()})
        line = f'\n{text[:-1]}, "check": "{_check(text)}"}}'
        entries = self._entries(request.recipe)
        path = self._path(request.recipe)
        # Not synced, as that would delay all requests: what a power cut loses is bought again.
        with disk_errors(path, self._purpose):
            self.folder.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as stream:
                stream.write(line.encode())
        entries[request.key] = entry

    def list_results(self, recipe: Recipe[Found]) -> dict[str, tuple[Found, str]]:
        """Return all results of this recipe, with the answers' keys, by text.

        So a text that was asked together with other texts is not paid for again.
        """
        result: dict[str, tuple[Found, str]] = {}
        for key, entry in sorted(self._entries(recipe.name).items()):
            reading = recipe.read(entry.answer, entry.asked)
            result |= {text: (found, key) for text, found in reading.found.items()}
        return result

    def single_texts(self, recipe: str) -> set[str]:
        """Return every text that this recipe asked for on its own."""
        asked = [entry.asked for entry in self._entries(recipe).values()]
        return {text for texts in asked if len(texts) == 1 for text in texts.values()}

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the cache for this process: two runs in parallel would buy everything twice.

        Raises:
            CacheError: another process holds the lock, or locking fails. A killed process
                releases its lock.
        """
        with disk_errors(self.folder, self._purpose):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire(timeout=0)
            except Timeout as exc:
                run = f"another run is asking for {self._purpose.wanted}"
                raise CacheError(f"{self.folder}: {run}: wait until it ends, or stop it") from exc
        try:
            self._recipes.clear()  # another process may have written in the meantime
            yield
        finally:
            self._lock.release()

    def _entries(self, recipe: str) -> dict[str, Entry]:
        if recipe not in self._recipes:
            path = self._path(recipe)
            with disk_errors(path, self._purpose):
                lines = path.read_bytes().split(b"\n") if path.is_file() else []
            self._recipes[recipe] = {key: entry for line in lines for key, entry in _read(line)}
        return self._recipes[recipe]

    def _path(self, recipe: str) -> Path:
        return self.folder / f"{recipe}.jsonl"


def _read(line: bytes) -> Iterator[tuple[str, Entry]]:
    """Yield a line's entry, if its checksum matches."""
    try:
        entry: dict[str, Any] = json.loads(line)
        check = entry.pop("check")
        if check == _check(_canonical(entry)):
            yield entry["key"], Entry(entry["asked"], Answer(**entry["answer"]))
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError):
        return


def _canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)


def _check(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
