"""Every answer that was paid for, on disk: a line each in `<folder>/<recipe>.jsonl`.

Not an out of any stage: DVC would empty it. An answer is appended the moment it comes; each
line begins with its line break, so that what a kill cut short spoils no other. What can't be
read as it was written, by its own checksum, counts as absent.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from momentrank.errors import MomentRankError
from pipeline.llm import answers
from pipeline.llm.answers import Answer
from pipeline.llm.request import Request

Asked = dict[str, str]
Entries = dict[str, tuple[Asked, Answer]]


class CacheError(MomentRankError):
    """The cache can't be used now."""


class Cache:
    """The answers in one folder, each recipe's read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        """Read nothing yet."""
        self.folder = folder
        self._recipes: dict[str, Entries] = {}

    def get(self, request: Request) -> Answer | None:
        """Return the answer to exactly this request, if it was ever given."""
        entry = self._entries(request.recipe).get(request.key)
        return entry[1] if entry else None

    def put(self, request: Request, answer: Answer) -> None:
        """Keep the answer to a request."""
        self._append(request.recipe, request.key, request.asked, answer)

    def put_new(self, recipe: str, key: str, asked: Asked, answer: Answer) -> bool:
        """Keep the answer to a request of which only the key is known; False if it was there."""
        if key in self._entries(recipe):
            return False
        self._append(recipe, key, asked, answer)
        return True

    def known(self, recipe: str) -> dict[str, str]:
        """Return every caption that this recipe has brought, by description.

        So that a description asked for in other company is not paid for again.
        """
        known: dict[str, str] = {}
        for _, (asked, answer) in sorted(self._entries(recipe).items()):
            known |= answers.read(answer, asked).captions
        return known

    def asked_alone(self, recipe: str) -> set[str]:
        """Return every description that this recipe was asked for without another."""
        asked = (asked for asked, _ in self._entries(recipe).values())
        return {text for texts in asked if len(texts) == 1 for text in texts.values()}

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the cache for this process: two runs at once would buy everything twice.

        Raises:
            CacheError: another process holds it. The lock of a killed one is gone with it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        try:
            self._take(descriptor)
            self._recipes.clear()  # another process may have written meanwhile
            yield
        finally:
            os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            said = "another run is asking for captions: wait until it ends, or stop it"
            raise CacheError(f"{self.folder}: {said}") from exc

    def _append(self, recipe: str, key: str, asked: Asked, answer: Answer) -> None:
        text = _canonical({"key": key, "asked": asked, "answer": answer._asdict()})
        line = f'\n{text[:-1]}, "check": "{_check(text)}"}}'
        entries = self._entries(recipe)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Not synced, which would hold up all in flight: what a power cut takes is bought again.
        with self._path(recipe).open("ab") as stream:
            stream.write(line.encode())
        entries[key] = asked, answer

    def _entries(self, recipe: str) -> Entries:
        if recipe not in self._recipes:
            path = self._path(recipe)
            lines = path.read_bytes().split(b"\n") if path.is_file() else []
            self._recipes[recipe] = {
                key: (asked, answer) for line in lines for key, asked, answer in _read(line)
            }
        return self._recipes[recipe]

    def _path(self, recipe: str) -> Path:
        return self.folder / f"{recipe}.jsonl"


def _read(line: bytes) -> Iterator[tuple[str, Asked, Answer]]:
    """Yield what a line holds, if it is as it was written."""
    try:
        entry: dict[str, Any] = json.loads(line)
        check = entry.pop("check")
        if check == _check(_canonical(entry)):
            yield entry["key"], entry["asked"], Answer(**entry["answer"])
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError):
        return


def _canonical(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)


def _check(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
