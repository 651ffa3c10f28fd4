"""A note of the write in progress, left behind by a push that dies in the middle.

Label Studio finishes a request whose sender is gone, and nobody sees what it adds before it is
done. So the next push, which would miss it and add it again, first gives it time.
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
    """Note that something is being added; the note stays if that does not end well."""
    files.write_json(FILE, {"writing": what})
    yield
    FILE.unlink()


def wait_for_pending() -> None:
    """Wait until what an earlier push began to write is there, or can't come any more.

    However old the note is: the clock that dated it may have been set since.
    """
    if not FILE.is_file():
        return
    cli.log(
        f"push: the last one was stopped while writing; giving the server {SETTLE_SECONDS:.0f} s"
    )
    time.sleep(SETTLE_SECONDS)
    FILE.unlink()
