"""Work for shards, importable in other processes: it notes each beginning in a log."""

import os
import time
from pathlib import Path

from lazy import Lazy

from momentrank.errors import MomentRankError

# Most work needs none of them, and each process would import them.
np = Lazy("numpy")
embeddings = Lazy("pipeline.retrieval.embeddings")
similarity = Lazy("pipeline.retrieval.similarity")
GATE_SECONDS = 60.0


class UnlikeOtherError(MomentRankError):
    """An error that can't be made from its message, as pickle would."""

    def __init__(self, file: str, line: int) -> None:
        super().__init__(f"{file}, line {line}: wrong")


def write_squares(task, path):
    """Write the squares of numbers; with a `gate`, all but the first to begin wait for it."""
    begin(task, path)
    is_first = Path(task["log"]).read_text().startswith(key_of(path))
    if "gate" in task and not is_first:
        wait_for_gate(Path(task["gate"]))
    write_numbers(task, path)


def wait_for_gate(gate):
    deadline = time.monotonic() + GATE_SECONDS
    while not gate.exists():
        if time.monotonic() > deadline:
            raise TimeoutError(gate)
        time.sleep(0.02)


def refuse(task, path):
    """Fail on the number 2."""
    if 2 in task["numbers"]:
        begin(task, path)
        raise UnlikeOtherError("moments.parquet", 2)
    write_squares(task, path)


def end_abruptly(task, path):
    """Die as by `kill -9` on the number 2, once."""
    begin(task, path)
    once = Path(task["log"]).with_suffix(".killed")
    if 2 in task["numbers"] and not once.exists():
        once.touch()
        os.kill(os.getpid(), 9)
    write_numbers(task, path)


def begin(task, path):
    """Add a line to the log: the part and the process."""
    with Path(task["log"]).open("a") as log:  # one short write: lines of processes don't mix
        log.write(f"{key_of(path)} {os.getpid()}\n")


def key_of(path):
    """Return the part that a task writes for now beside its file, as `.KEY.xyz.tmp`."""
    return path.name.split(".")[1]


def write_numbers(task, path):
    path.write_text(" ".join(str(number**2) for number in task["numbers"]))


class HashEncoder:
    """An encoder without a model: the vector of a text, and its batch, follow from the texts."""

    def encode(self, texts):
        seed = sum(int(text_id, 16) for text_id in embeddings.text_ids(texts)) % 2**32
        return similarity.unit_on_grid(np.random.default_rng(seed).standard_normal((len(texts), 8)))
