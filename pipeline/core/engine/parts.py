"""Parts: one file for each task's work, kept until the stage has ended.

A part is named by the hash of everything that its work depends on, code included, so that a killed
run finds what it has made, and nothing else. It counts once its SHA-256, and that of its code, are
stored next to it. What tasks read and what they are made of is compared where the work runs:
another machine may have other files, code or packages.
"""

import hashlib
import json
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from momentrank.errors import MomentRankError
from pipeline.core import files, rng
from pipeline.core.engine import code
from pipeline.core.sections import Engine

SEAL = ".sha256.json"
VISIBLE_SECONDS = 60.0
"""A file written by another machine appears here within a minute: NFS looks that rarely."""


class EngineError(MomentRankError):
    """The engine can't do the work; finished work is kept."""


class Input(NamedTuple):
    """A file that tasks read on any machine, and the SHA-256 of its content."""

    path: Path
    sha256: str

    @classmethod
    def share(cls, content: bytes, folder: Path, suffix: str) -> "Input":
        """Write content into a file of `folder` named by its hash, unless it is there intact."""
        sha256 = hashlib.sha256(content).hexdigest()
        shared = cls(folder / f"{sha256[:32]}{suffix}", sha256)
        if not (shared.path.is_file() and files.file_sha256(shared.path) == sha256):
            with files.unfinished(shared.path, "wb") as stream:
                stream.write(content)
        return shared

    def locate(self) -> Path:
        """Return the path, once the file has appeared and its content was compared.

        Raises:
            EngineError: this machine does not see the file, or sees another one.
        """
        wait_until_visible(self.path)
        state = self.path.stat()
        if _hash_once(self.path, state.st_ino, state.st_mtime_ns, state.st_size) != self.sha256:
            raise EngineError(
                f"{self.path}: {socket.gethostname()} sees another content than the stage's own"
                " process: it was changed or damaged, or is not the same file everywhere. Give"
                " every machine the same files (a shared folder), then run it again"
            )
        return self.path


@lru_cache(maxsize=256)
def _hash_once(path: Path, *_: int) -> str:
    """Return a file's SHA-256; a process hashes each state of a file once."""
    return files.file_sha256(path)


def wait_until_visible(path: Path) -> None:
    """Wait until this machine sees a file that another has finished.

    Raises:
        EngineError: it never does: the folder is not shared.
    """
    deadline = time.monotonic() + VISIBLE_SECONDS
    while not path.is_file():
        if time.monotonic() > deadline:
            raise EngineError(
                f"{path}: written by another machine, but {socket.gethostname()} does not see it."
                " Set engine.folder in params.yaml to a folder that every machine sees (on a shared"
                " file system), then run it again"
            )
        time.sleep(min(0.5, VISIBLE_SECONDS))


@dataclass(frozen=True)
class Task:
    """The work of one part: `work(payload, path)`, a pure function that writes the file `path`.

    `work` is a function of a module (or a partial of one) and `payload` is small: both are sent to
    other processes and machines. Large data goes in files.
    """

    work: Callable[[Any, Path], None]
    payload: object
    path: Path
    code: str
    """The digest of the work's code and packages (`code.digest`) in the stage's own process."""

    def is_finished(self) -> bool:
        """Tell whether the part's file exists, is intact, and was made by this code."""
        with suppress(OSError, ValueError):  # a seal may be damaged too
            seal = json.loads(self.seal.read_text())
            return bool(seal == {"sha256": files.file_sha256(self.path), "code": self.code})
        return False

    def run(self) -> None:
        """Write the part whole or not at all, and seal it with its hash.

        Raises:
            EngineError: this machine's code or packages differ.
        """
        if self.is_finished():
            return
        self._refuse_other_code()
        with files.unfinished(self.path, "wb") as stream:
            self.work(self.payload, Path(stream.name))
        files.write_json(self.seal, {"sha256": files.file_sha256(self.path), "code": self.code})

    def _refuse_other_code(self) -> None:
        facts = code.list_facts(self.work)
        if code.digest(facts) == self.code:
            return
        wanted = files.read_json(facts_file(self.path.parent, self.code))
        raise EngineError(
            f"{socket.gethostname()} has other code or packages than the stage's own process:"
            f" {code.compare(facts, wanted)}. It would make other parts: give every machine the"
            " same working copy and .venv (a shared folder), then run it again; finished work is"
            " kept"
        )

    @property
    def seal(self) -> Path:
        """Return the file of the part's hash."""
        return self.path.with_name(f"{self.path.name}{SEAL}")


Bundle = Sequence[Task]
"""Tasks that one process does, one after the other."""


def facts_file(folder: Path, digest: str) -> Path:
    """Return the file, in a stage's folder, of the facts about the code that has this digest."""
    return folder / "code" / f"{digest}.json"


def refuse_damaged(tasks: Iterable[Task]) -> None:
    """Compare finished parts with their hashes before they are merged.

    Raises:
        EngineError: a part is damaged, or was made by other code.
    """
    for task in tasks:
        if not task.is_finished():
            raise EngineError(
                f"{task.path}: this part was damaged after it was written, or was made by other"
                " code on another machine; run it again: only such parts are made again"
            )


def part_key(*facts: object) -> str:
    """Return the name of the part that depends only on `facts` (texts, numbers, hashes)."""
    return rng.draw(*facts)[:32]


def stage_folder(stage: str, engine: Engine) -> Path:
    """Return the folder of a stage's parts, and of what its tasks read."""
    return Path(engine.folder).absolute() / stage
