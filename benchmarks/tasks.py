"""The overhead of engines: starting, ending, and a task that does nothing.

    python -m benchmarks.tasks [--tasks 1000] [--workers 2]

CPU seconds are those of this process and of its child processes that have ended.
"""

import os
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.script import parse_arguments, time_call
from pipeline.core.engine.shards import map_shards
from pipeline.core.params import load

REPOSITORY = Path(__file__).parent.parent


def do_nothing(_: int, path: Path) -> None:
    """Write an empty part."""
    path.touch()


def cpu_seconds() -> float:
    """Return what this process and its children have used."""
    return sum(os.times()[:4])


def main() -> None:
    """Print a line per engine and number of tasks."""
    options = parse_arguments(__doc__, tasks=1000, workers=2)
    engine = load(REPOSITORY / "params.yaml").engine
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("local", "ray"):
            changes = {"kind": kind, "workers": options.workers, "folder": folder}
            changed = engine.model_copy(update=changes)
            for tasks in (options.workers, options.tasks):
                numbers = {f"{kind}-{tasks}-{task}": task for task in range(tasks)}
                before = cpu_seconds()
                wall, _ = time_call(partial(map_shards, "nothing", do_nothing, numbers, changed))
                cpu = cpu_seconds() - before
                print(f"{kind:6} {tasks:>6,} tasks {wall:>7.1f} s {cpu:>7.1f} CPU s", flush=True)


if __name__ == "__main__":
    main()
