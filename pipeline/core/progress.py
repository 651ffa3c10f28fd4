"""Progress on long work: a bar on a terminal, elsewhere a line now and then."""

import io
import sys
from collections.abc import Iterable
from multiprocessing import parent_process
from typing import Any

from tqdm import tqdm

EVERY = 30.0
"""Seconds between two lines in a log; shorter work writes none."""


def progress(
    what: str, iterable: Iterable[Any] | None = None, *, total: int | None = None, unit: str
) -> "tqdm[Any]":
    """Return a progress bar on standard error: iterate over it, or call its `update`.

    A log gets a line at most every `EVERY` seconds, with its own line end. Worker processes show
    nothing: the lead shows how many shards are done.
    """
    options: dict[str, Any] = {"disable": total == 0 or parent_process() is not None}
    if not sys.stderr.isatty():
        options |= {"file": _Lines(), "ascii": True, "ncols": 0, "position": 0}
        options |= dict.fromkeys(["mininterval", "maxinterval", "delay"], EVERY)
    return tqdm(iterable, what, total, unit=f" {unit}", **options)


class _Lines(io.StringIO):
    """Standard error, on which each state of the bar is a line."""

    def write(self, text: str) -> int:
        if line := text.strip():
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        return len(text)
