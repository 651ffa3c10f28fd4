"""Hand out a stage's work in shards, and return the files that they made.

The rule: the number of shards and the engine never change what a stage writes. So a shard is
chosen by a hash, its work is a pure function of its input, and the result made from the parts does
not depend on their number. `engine` of params.yaml is therefore not a dependency of any stage.
"""

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline.core import cli, files
from pipeline.core.engine import code, parts
from pipeline.core.engine.parts import Bundle, Task, part_key, stage_folder
from pipeline.core.progress import progress
from pipeline.core.sections import Engine

Payload = TypeVar("Payload")
Shards = npt.NDArray[np.int64]


class Executor(Protocol):
    """What runs tasks: cores of this machine, a Ray cluster, a Slurm array."""

    def run(self, bundles: Sequence[Bundle], finish: Callable[[Task], object]) -> None:
        """Run all tasks, those of a bundle in one process; call `finish` here as each one ends.

        Raises:
            Exception: a task's own, after the running tasks have ended or were cancelled.
        """


def assign_shards(values: Sequence[str], shards: int) -> Shards:
    """Return the shard of each text, (n,), from 0: by its SHA-256, wherever the text occurs."""
    digests = (hashlib.sha256(value.encode()).digest()[:8] for value in values)
    hashes = np.fromiter((int.from_bytes(digest) for digest in digests), np.uint64, len(values))
    return (hashes % np.uint64(shards)).astype(np.int64)


def map_shards(  # noqa: PLR0913  (what, by what, and where)
    stage: str,
    work: Callable[[Payload, Path], None],
    payloads: Mapping[str, Payload],
    engine: Engine,
    gpus: float = 0,
    *,
    bundled: bool = False,
) -> dict[str, Path]:
    """Let `work(payload, path)` write one file for each payload, and return the files by key.

    A key (`parts.part_key`) names everything that its payload's work depends on except the code,
    whose hash is added here. The finished parts of a killed run are reused. `gpus` is what one
    process needs if there are any. Once the stage has written what it makes from the parts, it
    calls `clear_parts`.

    Raises:
        EngineError: a machine has other code or packages, or does not see the same files; a part
            is not as it was written; or as in `Executor`.

    Each payload is a shard; if there are many more (`bundled`), they are dealt out to as many
    processes as there are shards, so that a process loads its model once.
    """
    folder = stage_folder(stage, engine)
    facts = code.list_facts(work)
    digest = code.digest(facts)
    tasks = {
        key: Task(work, payload, folder / part_key(key, digest), digest)
        for key, payload in payloads.items()
    }
    left = [task for task in tasks.values() if not task.is_finished()]
    if left and len(left) < len(tasks):
        cli.log(f"{stage}: {len(tasks) - len(left)} of {len(tasks)} parts were already finished")
    # The work of a single part shows its own progress.
    with progress(f"{stage}: parts", total=len(left) if len(tasks) > 1 else 0, unit="") as bar:

        def finish(task: Task) -> None:
            parts.wait_until_visible(task.path)
            parts.wait_until_visible(task.seal)
            bar.update()

        if left:
            files.write_json(parts.facts_file(folder, digest), facts)
            number = min(engine.shards, len(left)) if bundled else len(left)
            bundles = [left[first::number] for first in range(number)]
            _executor(engine, gpus).run(bundles, finish)
    parts.refuse_damaged(tasks.values())
    return {key: task.path for key, task in tasks.items()}


def clear_parts(stage: str, engine: Engine) -> None:
    """Delete a stage's parts, once their result is written."""
    shutil.rmtree(stage_folder(stage, engine), ignore_errors=True)


def _executor(engine: Engine, gpus: float) -> Executor:
    # Imported here, as only one of the three is used, and two are extras.
    if engine.kind == "ray":
        from pipeline.core.engine.on_ray import RayTasks  # noqa: PLC0415

        return RayTasks(engine.workers, engine.address, gpus)
    if engine.kind == "slurm":
        from pipeline.core.engine.on_slurm import SlurmArray  # noqa: PLC0415

        return SlurmArray(engine.workers, gpus)
    from pipeline.core.engine.local import Processes  # noqa: PLC0415

    return Processes(engine.workers)
