"""Parts: one file for each shard's work, kept until the stage has ended.

A part is named by the hash of all that its work depends on, so that a killed run finds what it
has made, and nothing else. It counts once its SHA-256 lies beside it.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.core import files, rng

FOLDER = Path(".cache/parts")
"""By default; `engine.folder` names another. Every machine at work must see it."""


@dataclass(frozen=True)
class Task:
    """One shard's work: `work(given, path)`, a pure function that writes the file `path`.

    `work` is a function of a module (or a partial of one) and `given` is small: both are sent to
    other processes and machines. Whatever is large lies in files.
    """

    work: Callable[[Any, Path], None]
    given: object
    path: Path

    def is_finished(self) -> bool:
        """Tell whether the part is there, as it was written."""
        if not self.is_sealed():
            return False
        return bool(json.loads(self._seal.read_text())["sha256"] == files.file_sha256(self.path))

    def is_sealed(self) -> bool:
        """Tell whether the part and its hash are there, without reading the part."""
        return self.path.is_file() and self._seal.is_file()

    def run(self) -> None:
        """Write the part whole or not at all, and seal it by its hash."""
        if self.is_finished():
            return
        with files.unfinished(self.path, "wb") as stream:
            self.work(self.given, Path(stream.name))
        files.write_json(self._seal, {"sha256": files.file_sha256(self.path)})

    @property
    def _seal(self) -> Path:
        return self.path.with_name(f"{self.path.name}.sha256.json")


def part_key(*facts: object) -> str:
    """Return the name of the part that depends on `facts` (texts, numbers, hashes) alone."""
    return rng.draw(*facts)[:32]


def clear(stage: str, folder: Path = FOLDER) -> None:
    """Delete a stage's parts: what was made of them is written."""
    shutil.rmtree(folder / stage, ignore_errors=True)
