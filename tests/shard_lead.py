"""A process that hands out shards, for tests that kill it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import shard_work

from pipeline.core.engine.shards import map_shards

EXPECTED = " ".join(str(number**2) for number in range(24))
"""What the parts of `squares` come to."""
LEAD = """
import sys, json
import shard_work
from pipeline.core.engine.shards import map_shards
from pipeline.core.sections import Engine

if __name__ == "__main__":
    engine, given = json.loads(sys.argv[1])
    map_shards("squares", shard_work.write_squares, given, Engine(**engine))
"""


def start_lead(folder, repository, engine, log):
    """Start a process that makes the first of `part0` to `part5`; the others never end."""
    tasks = give_parts(log, gate=str(folder / "no-gate"))
    path = os.pathsep.join([str(repository), str(repository / "tests")])
    (folder / "lead.py").write_text(LEAD)
    return subprocess.Popen(
        [sys.executable, "lead.py", json.dumps([engine.model_dump(), tasks])],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,
        stderr=subprocess.PIPE,
    )


def go_on(engine, log):
    """Make the parts that a killed lead has left, in this process."""
    return map_shards("squares", shard_work.write_squares, give_parts(log), engine)


def give_parts(log, **values):
    return {f"part{n}": {"numbers": [n], "log": str(log), **values} for n in range(6)}


def list_sealed(engine):
    """Return the keys of the parts that are finished."""
    return {path.name.split(".")[0] for path in Path(engine.folder).rglob("*.sha256.json")}
