"""A note of the write in progress, left behind by a push that dies in the middle.

Label Studio finishes a request even if its sender is gone, and what it adds is visible only once it
is done. The next push would miss it and add it again, so it waits first.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.core import cli, files

FILE = Path(".cache/campaign/writing.json")
SETTLE_SECONDS = 10.0


@contextmanager
def pending_write(what: str) -> Iterator[None]:
    """Note that something is being added; the note stays if this fails."""
    files.write_json(FILE, {"writing": what})
    yield
    FILE.unlink()


def wait_for_pending() -> None:
    """Wait until an earlier push's unfinished write has arrived, or no longer can.

    It waits however old the note is: the clock may have been changed since.
    """
    if not FILE.is_file():
        return
    cli.log(f"push: the last one was interrupted while writing; waiting {SETTLE_SECONDS:.0f} s")
    time.sleep(SETTLE_SECONDS)
    FILE.unlink()
