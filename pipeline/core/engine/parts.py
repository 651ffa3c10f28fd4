"""Parts: one file for each task's work, kept until the stage has ended.

A part is named by the hash of everything that its work depends on, code included, so that a killed
run finds what it has made, and nothing else. It counts once its SHA-256 is stored next to it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.core import files, rng
from pipeline.core.sections import Engine

SEAL = ".sha256.json"


@dataclass(frozen=True)
class Task:
    """The work of one part: `work(payload, path)`, a pure function that writes the file `path`.

    `work` is a function of a module (or a partial of one) and `payload` is small: both are sent to
    other processes and machines. Large data goes in files.
    """

    work: Callable[[Any, Path], None]
    payload: object
    path: Path

    def is_finished(self) -> bool:
        """Tell whether the part's file exists and is intact."""
        if not (self.path.is_file() and self.seal.is_file()):
            return False
        return bool(json.loads(self.seal.read_text())["sha256"] == files.file_sha256(self.path))

    def is_visible(self) -> bool:
        """Tell whether this machine sees what another has finished, without reading it."""
        return self.path.is_file() and self.seal.is_file()

    def run(self) -> None:
        """Write the part whole or not at all, and seal it with its hash."""
        if self.is_finished():
            return
        with files.unfinished(self.path, "wb") as stream:
            self.work(self.payload, Path(stream.name))
        files.write_json(self.seal, {"sha256": files.file_sha256(self.path)})

    @property
    def seal(self) -> Path:
        """Return the file of the part's hash."""
        return self.path.with_name(f"{self.path.name}{SEAL}")


Bundle = Sequence[Task]
"""Tasks that one process does, one after the other."""


def part_key(*facts: object) -> str:
    """Return the name of the part that depends only on `facts` (texts, numbers, hashes)."""
    return rng.draw(*facts)[:32]


def stage_folder(stage: str, engine: Engine) -> Path:
    """Return the folder of a stage's parts, and of what its tasks read."""
    return Path(engine.folder).absolute() / stage
