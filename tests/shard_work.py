"""Work for shards, importable in other processes: it notes each beginning in a log."""

import os
import time
from pathlib import Path

import numpy as np

from momentrank.errors import MomentRankError
from pipeline.retrieval.embeddings import text_ids
from pipeline.retrieval.similarity import unit_on_grid


class UnlikeOtherError(MomentRankError):
    """An error that can't be made from its message, as pickle would."""

    def __init__(self, file: str, line: int) -> None:
        super().__init__(f"{file}, line {line}: wrong")


def write_squares(given, path):
    """Write the squares of numbers; slowly, if `seconds` are given."""
    begin(given, path)
    time.sleep(given.get("seconds", 0))
    path.write_text(" ".join(str(number**2) for number in given["numbers"]))


def refuse(given, path):
    """Fail on the number 2."""
    if 2 in given["numbers"]:
        begin(given, path)
        raise UnlikeOtherError("moments.parquet", 2)
    write_squares(given, path)


def end_abruptly(given, path):
    """Die as by `kill -9` on the number 2, once."""
    begin(given, path)
    once = Path(given["log"]).with_suffix(".killed")
    if 2 in given["numbers"] and not once.exists():
        once.touch()
        os.kill(os.getpid(), 9)
    path.write_text(" ".join(str(number**2) for number in given["numbers"]))


def begin(given, path):
    """Add a line to the log: the part and the process."""
    with Path(given["log"]).open("a") as log:  # one short write: lines of processes don't mix
        log.write(f"{path.name.split('.')[1]} {os.getpid()}\n")


class HashEncoder:
    """An encoder without a model: the vector of a text, and its batch, follow from the texts."""

    def encode(self, texts):
        seed = sum(int(text_id, 16) for text_id in text_ids(texts)) % 2**32
        return unit_on_grid(np.random.default_rng(seed).standard_normal((len(texts), 8)))
