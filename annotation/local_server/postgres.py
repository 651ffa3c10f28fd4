"""Dump a PostgreSQL database and restore a dump, with PostgreSQL's own programs.

They get the password through their environment, never as an argument.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from annotation.local_server.database import Database
from annotation.local_server.layout import ServerError

DEBIAN = Path("/usr/lib/postgresql")
ANSWERS = "task_completion"
EXTENSION = re.compile(r"^\d+; \d+ \d+ EXTENSION - (\w+)", re.MULTILINE)
OF_EXTENSIONS = re.compile(r"^\d+; \d+ \d+ (?:COMMENT - )?EXTENSION ")
LOCK_SECONDS = 15
"""How long a restore waits for another client's transaction."""

PLAIN = ("--no-owner", "--no-privileges")


def dump(database: Database, path: Path) -> int:
    """Write a consistent copy of the database into a private file; return how many answers.

    Raises:
        ServerError: PostgreSQL refuses, does not answer, or is newer than its programs here.
    """
    path.touch(mode=0o600)
    _run("pg_dump", database, "--format=custom", *PLAIN, f"--file={path}")
    return count_answers(path)


def count_answers(path: Path) -> int:
    """Return how many answers a dump contains, by reading it.

    Raises:
        ServerError: it is not a dump of Label Studio's database, or is damaged.
    """
    rows = _run("pg_restore", None, "--data-only", f"--table={ANSWERS}", "--file=-", str(path))
    lines = iter(rows.splitlines())
    if not any(line.startswith("COPY ") for line in lines):
        raise ServerError(f"{path.name}: has no table of answers, so it is not Label Studio's")
    return sum(1 for _ in _until_end(lines))


def _until_end(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if line == "\\.":
            return
        yield line


def is_empty(database: Database) -> bool:
    """Return whether Label Studio has not created its tables there yet."""
    return not query(database, f"select to_regclass('public.{ANSWERS}')").strip()


def restore(database: Database, path: Path) -> None:
    """Replace the database's tables with those of a dump, in one transaction.

    Raises:
        ServerError: PostgreSQL refuses; then nothing has changed.
    """
    contents = _run("pg_restore", None, "--list", str(path))
    for name in EXTENSION.findall(contents):  # the administrator may have created them
        query(database, f"create extension if not exists {name}")
    chosen = path.with_suffix(".list")
    lines = contents.splitlines(keepends=True)
    chosen.write_text("".join(line for line in lines if not OF_EXTENSIONS.match(line)), "utf-8")
    whole = ("--single-transaction", "--exit-on-error", "--clean", "--if-exists", *PLAIN)
    _run("pg_restore", database, *whole, f"--use-list={chosen}", "--dbname=", str(path))


def query(database: Database, sql: str) -> str:
    """Return the result of a statement, one line per row.

    Raises:
        ServerError: PostgreSQL refuses, or does not answer.
    """
    options = ("--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1")
    return _run("psql", database, *options, f"--command={sql}")


def _run(name: str, database: Database | None, *arguments: str) -> str:
    """Return what a program prints.

    Raises:
        ServerError: it is not installed, or fails.
    """
    version = 0 if database is None or name == "psql" else _version(database)
    environment = {
        **os.environ,
        "LC_ALL": "C.UTF-8",
        "PGCONNECT_TIMEOUT": "10",
        "PGOPTIONS": f"-c lock_timeout={LOCK_SECONDS}s",
        **(database.client_environment if database else {}),
    }
    done = subprocess.run(  # noqa: S603  (our own command line)
        [_program(name, version), *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        reason = next(iter(done.stderr.strip().splitlines()), "without a message")
        where = f"{database.url}: " if database else ""
        raise ServerError(f"{where}{name} failed ({reason.removeprefix(f'{name}: ')})")
    return done.stdout


def _version(database: Database) -> int:
    return int(query(database, "show server_version_num")) // 10_000


def _program(name: str, version: int) -> str:
    """Return the path of one of PostgreSQL's programs.

    An older one can't read the server; a newer one writes what the server can't read back. So take
    the server's own version (Debian has several side by side), else the next, else the one in PATH.
    """
    installed = sorted((int(path.parts[-3]), path) for path in DEBIAN.glob(f"*/bin/{name}"))
    fitting = [path for number, path in installed if number >= version]
    path = fitting[0] if fitting and version else shutil.which(name)
    path = path or next((path for _, path in reversed(installed)), None)
    if path is None:
        raise ServerError(
            f"{name} is not installed; type: apt-get install postgresql-client (the server's"
            " version)"
        )
    return str(path)
