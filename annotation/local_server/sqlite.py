"""The embedded database: created instantly, fast to write, copied while in use."""

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
PARTS = tuple(f"{DATABASE.name}{end}" for end in ("", "-journal", "-wal", "-shm"))
WHOLE_COPY = (
    f"If it is a copy, its newest answers may be in {DATABASE.name}-wal beside the original: stop"
    " that server and copy both files, or use `python -m annotation.server backup` there"
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
            f" Restore a backup (python -m annotation.server restore FILE.zip). {WHOLE_COPY}."
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


def dump(to: Path) -> int:
    """Copy the database while it is in use; return how many answers the copy contains.

    Raises:
        ServerError: it is missing or damaged.
    """
    if not DATABASE.is_file():
        raise ServerError(f"{DATABASE}: missing; no server has run in this folder yet")
    try:
        with (
            closing(sqlite3.connect(DATABASE, timeout=BUSY_SECONDS)) as source,
            closing(sqlite3.connect(to)) as copy,
        ):
            source.backup(copy)
            return _count(copy, DATABASE)
    except sqlite3.Error as exc:
        raise ServerError(f"{DATABASE}: can't be copied ({exc})") from exc


def count_answers(path: Path, name: Path) -> int:
    """Return how many answers a database contains; `name` is its name in errors.

    Raises:
        ServerError: it is damaged, or not Label Studio's.
    """
    try:
        with closing(sqlite3.connect(path)) as database:
            return _count(database, name)
    except sqlite3.Error as exc:
        raise ServerError(f"{name}: not a readable backup ({exc})") from exc


def _count(database: sqlite3.Connection, name: Path) -> int:
    [[state]] = database.execute("pragma quick_check(1)").fetchall()
    if state != "ok":
        raise ServerError(f"{name}: is damaged ({state})")
    [[number]] = database.execute("select count(*) from task_completion").fetchall()
    return int(number)
