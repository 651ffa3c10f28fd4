"""A Label Studio of your own on this machine: for you alone, or for a campaign of many.

    python -m annotation.server start    (or: make label-studio)
    python -m annotation.server start --database postgresql://user@host/name --workers 4
    python -m annotation.server stop
    python -m annotation.server status
    python -m annotation.server check     (the one in .env, wherever it runs)
    python -m annotation.server backup FILE.zip [--clips]
    python -m annotation.server restore FILE.zip [--database postgresql://user@host/name]

It listens on 127.0.0.1, keeps its database, its media and its log under .label-studio/, makes a
first user with a random password and token (in .env, which git ignores and only you can read),
lets nobody sign up without a link, and sends no statistics. It keeps its port over restarts, so
that people's links stay valid. With the embedded SQLite it is right for a demo, a rehearsal and a
small campaign. With PostgreSQL several workers answer at once, for a large one. The password may
stand in the address, or in LABEL_STUDIO_DATABASE_PASSWORD or PGPASSWORD; it is kept in .env.

`backup` may run while people judge. It takes the database, `.env` and the private list of people:
all that neither git nor DVC holds. `restore` puts them in place, and keeps what was there.
"""

import argparse
import os
import secrets
import sys
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from filelock import FileLock, Timeout

from annotation.label_studio import settings
from annotation.label_studio.client import LabelStudio
from annotation.local_server import backup, choice, database, ports
from annotation.local_server.launch import (
    PortTakenError,
    TokenError,
    launch,
    wait_until_ready,
    whoami_status,
)
from annotation.local_server.layout import (
    DATABASE,
    HOME,
    KEY,
    LOCK,
    MEDIA,
    PROGRAM,
    ServerError,
)
from annotation.local_server.process import Running, find, find_running, terminate
from pipeline.core import cli

USUAL_PORT = 8080
ATTEMPTS = 5
HERE = (ports.LOCALHOST, "localhost")
NOT_RUNNING = 3


def start(port: int | None, workers: int | None = None) -> Running:
    """Start the server unless it runs, and wait until it answers with our token.

    `port` None is the one that it had (that of LABEL_STUDIO_URL), else the usual one, else one
    near it; 0 any that is free. `workers` None is one for each core; on SQLite there is but one.

    Raises:
        ServerError: it is not installed, another one is configured, the port that was asked for
            is taken, or it did not come up; its log says why.
    """
    HOME.mkdir(mode=0o700, exist_ok=True)
    with _lock_server():  # two starts at once are one
        process, before = find(), _local_port()
        _refuse_another_in_the_environment(find_running())
        server = wait_until_ready(process) if process else _start_new(port, workers)
        _refuse_another_in_the_environment(server)
        settings.write({settings.URL: server.url, settings.ROOT: str(MEDIA.absolute())})
    if process and port and server.port != port:
        raise ServerError(
            f"Label Studio runs at {server.url}; to move it to another port stop it first:"
            " python -m annotation.server stop"
        )
    if process and workers and server.workers != workers:
        raise ServerError(
            f"Label Studio runs with {_describe_workers(server)}; to change that stop it first:"
            " python -m annotation.server stop"
        )
    if port is None and before is not None and before != server.port:
        cli.log(ports.describe_move(before, server.url))
    return server


def _lock_server() -> FileLock:
    """Hold the lock of this folder's server; say so where another start has it."""
    lock = FileLock(LOCK)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        cli.log("another start is running here; waiting for it to finish")
    else:
        lock.release()
    return lock


def _start_new(port: int | None, workers: int | None) -> Running:
    _refuse_to_leave_another()
    place = database.configured()
    if workers and place is None:
        raise ServerError(
            f"--workers {workers}: SQLite has one writer; say --database postgresql://user@host/name"
        )
    if not PROGRAM.is_file():
        raise ServerError("Label Studio is not installed here; type: make label-studio")
    if port and not ports.wait_until_free(port):
        raise ports.taken_error(port)
    credentials = _credentials()
    for attempt in range(ATTEMPTS):
        process = launch(port or _choose_port(port, attempt), credentials, place, workers)
        try:
            server = wait_until_ready(process)
        except PortTakenError:
            if port:
                raise ports.taken_error(port) from None
            continue
        except TokenError:
            terminate(process)
            raise
        if port and server.port != port:
            terminate(process)
            raise ports.taken_error(port)
        return server
    raise ServerError(f"{ATTEMPTS} ports were taken just as Label Studio wanted to listen there")


def _choose_port(port: int | None, attempt: int) -> int:
    """Return the port to try: the same once more where somebody had it for a moment only."""
    if port == 0:
        return ports.first_free(0)
    former = _local_port() or USUAL_PORT
    if attempt == 0 and ports.wait_until_free(former):
        return former
    return ports.first_free(former + max(0, attempt - 1))


def _configured() -> SplitResult:
    url = settings.value(settings.URL)
    return settings.split_address(url.strip()) if url else urlsplit("")


def _local_port() -> int | None:
    return _configured().port if _configured().hostname in HERE else None


def _refuse_to_leave_another() -> None:
    configured = _configured().hostname
    here = configured in {None, *HERE}
    url, token = (settings.value(name) or "" for name in (settings.URL, settings.TOKEN))
    statuses = {HTTPStatus.OK, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
    ours = DATABASE.exists() or KEY.exists()
    if here and (not url or ours or whoami_status(url, token) not in statuses):
        return
    raise ServerError(
        f"{settings.URL} is of another server ({url if here else configured}), whose campaign this"
        " would leave; take it out of the environment or of .env, if that is meant"
    )


def _refuse_another_in_the_environment(server: Running | None) -> None:
    """Stop where all that asks for the server of this folder would be sent to another one."""
    own = settings.read() if server is None else {**settings.read(), settings.URL: server.url}
    for name in (settings.URL, settings.TOKEN, settings.USERNAME, settings.PASSWORD):
        value = os.environ.get(name)
        if value and value.rstrip("/") != own.get(name):
            raise ServerError(
                f"{name} is set in the environment and differs from this folder's server, which it"
                f" would override: unset {name}, then try again"
            )


def stop() -> bool:
    """Stop the server and wait until it is gone; False if none ran.

    Raises:
        ServerError: it would not stop.
    """
    process = find()
    if process is None:
        return False
    terminate(process)
    return True


def _credentials() -> dict[str, str]:
    """Return the first user's name, password and token: those of .env, else new random ones."""
    existing = settings.read()
    values = {
        settings.USERNAME: existing.get(settings.USERNAME, "lead@example.org"),
        settings.PASSWORD: existing.get(settings.PASSWORD) or secrets.token_urlsafe(12),
        settings.TOKEN: existing.get(settings.TOKEN) or secrets.token_hex(20),
    }
    settings.write(values)
    return values


def main(options: argparse.Namespace) -> None:
    """Run the chosen command, and say where the server is."""
    if options.do in {"start", "restore"}:
        choice.hide_password(options.database)
    if options.do == "start":
        if chosen := options.database or os.environ.get(database.URL):
            choice.choose(chosen)
        server = start(options.port, options.workers)
        cli.log(f"Label Studio runs at {server.url}; user and password are in {settings.ENV}")
    elif options.do == "stop":
        cli.log("stopped" if stop() else "it did not run")
    elif options.do == "check":
        cli.log(check())
    elif options.do == "backup":
        cli.log(backup.write(options.file, clips=options.clips))
    elif options.do == "restore":
        into = database.parse(options.database) if options.database else None
        cli.log(backup.restore(options.file, into))
    else:
        _status()


def _status() -> None:
    if server := find_running():
        cli.log(
            f"Label Studio runs at {server.url} (process {server.pid}, {_describe_workers(server)})"
        )
    elif process := find():
        cli.log(f"Label Studio is starting (process {process.pid})")
    else:
        cli.log("Label Studio does not run; type: make label-studio")
        sys.exit(NOT_RUNNING)


def _describe_workers(server: Running) -> str:
    if server.workers is None:
        return "SQLite"
    place = database.configured()
    return f"{server.workers} workers on {place.url if place else 'PostgreSQL'}"


def check() -> str:
    """Ask the server that is configured, wherever it runs, whether it takes our token.

    Raises:
        StudioError: it does not answer, or refuses.
    """
    if not (endpoint := settings.endpoint()):
        cli.log("none is configured")
        sys.exit(NOT_RUNNING)
    users = LabelStudio(endpoint).users()
    return f"{endpoint.url} answers and takes the token ({len(users)} accounts)"


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder.")
    commands = parser.add_subparsers(dest="do", required=True)
    begin = commands.add_parser("start", help="start it, and wait until it answers")
    begin.add_argument(
        "--port",
        type=int,
        help=f"listen there and nowhere else (0: any free one); usually the port that it had,"
        f" first {USUAL_PORT}",
    )
    begin.add_argument(
        "--workers",
        type=cli.count,
        help="processes that answer at once; usually one for each core. PostgreSQL only",
    )
    commands.add_parser("stop", help="stop it")
    commands.add_parser("status", help="say where it runs")
    commands.add_parser("check", help="say whether the one that is configured takes our token")
    save = commands.add_parser("backup", help="write all that git and DVC don't hold into a file")
    put = commands.add_parser("restore", help="put a backup in place; keeps what was there")
    for command in (save, put):
        command.add_argument("file", type=Path, metavar="FILE.zip")
    save.add_argument("--clips", action="store_true", help="the clips too")
    for command in (begin, put):
        command.add_argument(
            "--database",
            metavar="URL",
            help=f"keep all answers in PostgreSQL: postgresql://user@host:{database.PORT}/name"
            f" (first {database.URL}; without it SQLite, in this folder)",
        )
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
