"""Every answer that was paid for, on disk: `<folder>/<recipe>/<xx>/<key>.json`.

Not an out of any stage: DVC would empty it. An answer is written the moment it comes, under
another name first, so that a killed run leaves no half of one. What can't be read as it was
written, by its own checksum, counts as absent.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momentrank.errors import MomentRankError
from pipeline import files
from pipeline.llm import answers
from pipeline.llm.answers import Answer
from pipeline.llm.request import Request

Asked = dict[str, str]


class CacheError(MomentRankError):
    """The cache can't be used now."""


@dataclass(frozen=True)
class Cache:
    """The answers in one folder."""

    folder: Path

    def get(self, request: Request) -> Answer | None:
        """Return the answer to exactly this request, if it was ever given."""
        entry = _load(self._path(request.recipe, request.key))
        return entry[1] if entry else None

    def put(self, request: Request, answer: Answer) -> None:
        """Keep the answer to a request."""
        self.put_for(request.recipe, request.key, request.asked, answer)

    def put_new(self, recipe: str, key: str, asked: Asked, answer: Answer) -> bool:
        """Keep the answer to a request of which only the key is known; False if it was there."""
        if _load(self._path(recipe, key)):
            return False
        self.put_for(recipe, key, asked, answer)
        return True

    def put_for(self, recipe: str, key: str, asked: Asked, answer: Answer) -> None:
        """Keep the answer to a request of which only the key is known."""
        content = {"key": key, "asked": asked, "answer": answer._asdict()}
        # Not synced: what a power cut takes is bought again, and syncing would hold up the rest.
        with files.atomic(self._path(recipe, key), sync=False) as stream:
            stream.write(json.dumps({**content, "check": _check(content)}))

    def holds(self, recipe: str) -> bool:
        """Tell whether there may be an answer to some request of this recipe."""
        return (self.folder / recipe).is_dir()

    def known(self, recipe: str) -> dict[str, str]:
        """Return every caption that this recipe has brought, by description.

        So that a description asked for in other company is not paid for again.
        """
        known: dict[str, str] = {}
        for path in sorted((self.folder / recipe).glob("*/*.json")):
            if entry := _load(path):
                asked, answer = entry
                known |= answers.read(answer, asked).captions
        return known

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
            yield
        finally:
            os.close(descriptor)

    def _take(self, descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            said = "another run is asking for captions: wait until it ends, or stop it"
            raise CacheError(f"{self.folder}: {said}") from exc

    def _path(self, recipe: str, key: str) -> Path:
        return self.folder / recipe / key[:2] / f"{key}.json"


def _load(path: Path) -> tuple[Asked, Answer] | None:
    try:
        entry: dict[str, Any] = json.loads(path.read_bytes())
        check = entry.pop("check")
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    if entry.get("key") != path.stem or check != _check(entry):
        return None
    return entry["asked"], Answer(**entry["answer"])


def _check(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
