"""The embedded database: created instantly, fast to write, refused if damaged."""

import os
import sqlite3
import subprocess
from collections.abc import Collection
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock

from annotation.local_server import embedded
from annotation.local_server.environment import folder_settings
from annotation.local_server.layout import DATABASE, EMPTY, PROGRAM, ServerError
from annotation.local_server.process import WHERE
from pipeline.core import files

BUSY_SECONDS = 60.0
WHOLE_COPY = (
    f"If it is a copy, its newest answers may be in {DATABASE.name}-wal beside the original: stop"
    " that server and copy both files (docs/server.md, Back up and restore)"
)


def copy_empty() -> None:
    """Put an empty database in place, which is made once for all servers here.

    Label Studio would take half a minute to create its tables each time.
    """
    if DATABASE.exists() or not os.access(EMPTY.parent, os.W_OK):
        return
    python = PROGRAM.with_name("python").absolute()
    with FileLock(EMPTY.with_suffix(".lock")):
        if not EMPTY.exists():
            with TemporaryDirectory(dir=EMPTY.parent) as folder:
                data = Path(folder).absolute()
                subprocess.run(  # noqa: S603  (our own command line)
                    [str(python), "-I", embedded.__file__, "version", WHERE, str(data)],
                    env={**os.environ, **folder_settings(data)},
                    capture_output=True,
                    check=False,  # on failure the server makes it, and says what is wrong
                )
                if (data / DATABASE.name).exists():
                    (data / DATABASE.name).replace(EMPTY)
    if EMPTY.exists():
        with files.unfinished(DATABASE, "wb", private=True) as stream:
            stream.write(EMPTY.read_bytes())


def write_ahead() -> None:
    """Switch the database to write-ahead: an answer waits for one disk write, not for several.

    Writes stay as safe, and readers never wait for a writer. The setting is permanent; if the file
    system does not support it, the database stays as it is.
    """
    if DATABASE.exists():
        with suppress(sqlite3.Error), closing(sqlite3.connect(DATABASE)) as database:
            database.execute("pragma journal_mode = wal")


def refuse_damaged() -> None:
    """Refuse to start a server on a database that SQLite can't read, or finds damaged.

    Raises:
        ServerError: it is damaged.
    """
    if not DATABASE.is_file():
        return
    try:
        with closing(sqlite3.connect(DATABASE, timeout=BUSY_SECONDS)) as database:
            [[state]] = database.execute("pragma quick_check(1)").fetchall()
    except sqlite3.Error as exc:
        state = str(exc)
    if state != "ok":
        raise ServerError(
            f"{DATABASE}: is damaged ({' '.join(state.split())}), so no server is started on it."
            f" Restore a backup (docs/server.md). {WHOLE_COPY}."
            f" Without either, move {DATABASE}* away and start again: what was pulled still counts"
            " (python -m annotation.pull --accept-loss)"
        )


def count_missing(origins: Collection[str]) -> int:
    """Return how many of these answers (`JUDGMENT_HISTORY.origin`) the database does not have."""
    answers = set[str]()
    with suppress(sqlite3.Error), closing(sqlite3.connect(DATABASE)) as database:
        rows = database.execute("select id, created_at from task_completion")
        answers = {f"{number}@{created.replace(' ', 'T')}Z" for number, created in rows}
    return len(set(origins) - answers)
