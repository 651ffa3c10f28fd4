"""A PostgreSQL of a test's own, on a socket, 127.0.0.1 and a free port; gone afterwards.

with cluster() as place:        # a new and empty database, whose owner is no administrator
    database.remember(place)
"""

import contextlib
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from annotation.local_server import database

PROGRAMS = Path("/usr/lib/postgresql")
MISSING = "PostgreSQL is not installed: apt-get install postgresql"
FAST = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c shared_buffers=32MB"


@contextlib.contextmanager
def cluster(name: str = "kitchen", options: str = FAST) -> Iterator[database.Database]:
    """Start PostgreSQL in a temporary folder; yield a database of it; skip where there is none."""
    versions = sorted(PROGRAMS.glob("*/bin"), key=lambda path: float(path.parts[-2]))
    if not versions:
        pytest.skip(MISSING)
    who = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="momentrank-pg-"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if who:
            account = pwd.getpwnam(who)
            os.chown(folder, account.pw_uid, account.pw_gid)

        def run(program: str, *arguments: str, **environment: str) -> None:
            result = subprocess.run(
                [versions[-1] / program, *arguments],
                user=who,
                group=who,
                extra_groups=[] if who else None,
                env={**os.environ, **environment},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
                stderr=subprocess.PIPE if program != "pg_ctl" else subprocess.DEVNULL,
                check=False,
                text=True,
            )
            assert result.returncode == 0, (program, result.stderr)

        admin, port, data = secrets.token_hex(8), free_port(), str(folder / "data")
        (folder / "password").write_text(admin)
        if who:
            os.chown(folder / "password", account.pw_uid, account.pw_gid)
        how = ("--auth=scram-sha-256", "--username=postgres", "--no-sync", "--encoding=UTF8")
        run("initdb", "-D", data, *how, "--locale=C.UTF-8", f"--pwfile={folder / 'password'}")
        where = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 {options}"
        run("pg_ctl", "-D", data, "-o", where, "-l", str(folder / "log"), "-w", "start")
        stack.callback(run, "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        password = f"s3cret {secrets.token_hex(8)}"
        as_admin = {"PGHOST": str(folder), "PGPORT": str(port), "PGUSER": "postgres"}
        for sql in (
            f"create role lead login password '{password}'",
            f"create database {name} owner lead",
        ):
            run("psql", "-qc", sql, **as_admin, PGPASSWORD=admin)
        yield database.parse(f"postgresql://lead:{quote(password)}@:{port}/{name}?host={folder}")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
