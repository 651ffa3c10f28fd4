"""Run a Label Studio server on this machine.

    python -m annotation.server start    (or: make label-studio)
    python -m annotation.server stop
    python -m annotation.server status
    python -m annotation.server check [--create]     (the server in .env, wherever it runs)

It listens on 127.0.0.1, keeps its database, media and log under .label-studio/, creates a first
user with a random password and token (in .env, which git ignores and only you can read), requires
a link to sign up, and sends no statistics. It keeps its port across restarts, so people's links
stay valid. Answers are kept in SQLite, or in the PostgreSQL database that LABEL_STUDIO_DATABASE
names (in the environment or `.env`); then `--workers` processes answer in parallel.
"""

import argparse
import os
import secrets
import sys
from functools import partial
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

from filelock import FileLock, Timeout

from annotation.label_studio import settings
from annotation.label_studio.client import LabelStudio
from annotation.local_server import database, ports, sqlite
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
from pipeline.campaign.campaign import FILE, load_open_campaign
from pipeline.core import cli, tables

USUAL_PORT = 8080
ATTEMPTS = 5
LOCAL_HOSTS = (ports.LOCALHOST, "localhost")
NOT_RUNNING = 3
TRIAL = "MomentRank: a trial, to be deleted"
"""The title of a project that `check --create` makes."""


def start(port: int | None, workers: int | None = None) -> Running:
    """Start the server unless it is running, and wait until it accepts our token.

    With `port` None it takes its previous port (from LABEL_STUDIO_URL), else the usual one, else
    one near it; with 0, any free one. With `workers` None there is one per core, at least two;
    SQLite has only one.

    Raises:
        ServerError: it is not installed, another one is configured, the requested port is taken,
            or it did not start; its log says why.
    """
    HOME.mkdir(mode=0o700, exist_ok=True)
    with _lock_server():  # two simultaneous starts become one
        process, before = find(), _local_port()
        _refuse_another_in_the_environment(find_running())
        server = wait_until_ready(process) if process else _start_new(port, workers)
        _refuse_another_in_the_environment(server)
        settings.write({settings.URL: server.url, settings.ROOT: str(MEDIA.absolute())})
    if process and port and server.port != port:
        raise ServerError(
            f"Label Studio runs at {server.url}; to move it to another port, stop it first:"
            " python -m annotation.server stop"
        )
    if process and workers and server.workers != workers:
        raise ServerError(
            f"Label Studio runs with {_describe_workers(server)}; to change that, stop it first:"
            " python -m annotation.server stop"
        )
    if port is None and before is not None and before != server.port:
        cli.log(ports.describe_move(before, server.url))
    if endpoint := settings.endpoint():
        LabelStudio(endpoint).compare_version()
    return server


def _lock_server() -> FileLock:
    """Hold the lock of this folder's server; log a line if another start has it."""
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
    postgres = database.configured()
    if workers and postgres is None:
        raise ServerError(
            f"--workers {workers}: SQLite has one writer; set {database.URL} (docs/server.md)"
        )
    if not PROGRAM.is_file():
        raise ServerError("Label Studio is not installed here; type: make label-studio")
    if port and not ports.wait_until_free(port):
        raise ports.taken_error(port)
    if postgres:
        database.remember(postgres)
    else:
        _check_embedded()
    credentials = _credentials()
    for attempt in range(ATTEMPTS):
        process = launch(port or _choose_port(port, attempt), credentials, postgres, workers)
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
    raise ServerError(f"{ATTEMPTS} ports were taken just before Label Studio could listen there")


def _check_embedded() -> None:
    """Refuse a damaged database; log how many of the answers that were pulled it lacks."""
    sqlite.refuse_damaged()
    campaign = load_open_campaign() if FILE.is_file() else None
    if campaign is None or not (DATABASE.is_file() and tables.JUDGMENT_HISTORY.path.is_file()):
        return
    pulled = tables.JUDGMENT_HISTORY.read()
    known = pulled.loc[pulled["state"].isin(["stands", "trusted"]), "origin"]
    if missing := sqlite.count_missing(known):
        cli.log(
            f"WARNING: {DATABASE}: lacks {missing:,} of {len(known):,} answers that were pulled."
            f" {sqlite.WHOLE_COPY}. If nothing newer exists: python -m annotation.pull"
            " --accept-loss (they still count)"
        )


def _choose_port(port: int | None, attempt: int) -> int:
    """Return the port to try: the previous one again if it was taken only briefly."""
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
    return _configured().port if _configured().hostname in LOCAL_HOSTS else None


def _refuse_to_leave_another() -> None:
    configured = _configured().hostname
    is_local = configured in {None, *LOCAL_HOSTS}
    url, token = (settings.value(name) or "" for name in (settings.URL, settings.TOKEN))
    statuses = {HTTPStatus.OK, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
    ours = DATABASE.exists() or KEY.exists()
    if is_local and (not url or ours or whoami_status(url, token) not in statuses):
        return
    raise ServerError(
        f"{settings.URL} names another server ({url if is_local else configured}), whose campaign"
        " this would abandon; to do so, remove it from the environment or from .env"
    )


def _refuse_another_in_the_environment(server: Running | None) -> None:
    """Refuse if the environment would send this folder's requests to another server."""
    configured = (
        settings.read() if server is None else {**settings.read(), settings.URL: server.url}
    )
    for name in (settings.URL, settings.TOKEN, settings.USERNAME, settings.PASSWORD):
        value = os.environ.get(name)
        if value and value.rstrip("/") != configured.get(name):
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
    """Return the first user's name, password and token: from .env, else new random ones."""
    existing = settings.read()
    values = {
        settings.USERNAME: existing.get(settings.USERNAME, "lead@example.org"),
        settings.PASSWORD: existing.get(settings.PASSWORD) or secrets.token_urlsafe(12),
        settings.TOKEN: existing.get(settings.TOKEN) or secrets.token_hex(20),
    }
    settings.write(values)
    return values


def main(options: argparse.Namespace) -> None:
    """Run the chosen command, and log where the server is."""
    if options.do == "start":
        server = start(options.port, options.workers)
        cli.log(f"Label Studio runs at {server.url}; user and password are in {settings.ENV}")
    elif options.do == "stop":
        cli.log("stopped" if stop() else "it was not running")
    elif options.do == "check":
        cli.log(check(create=options.create))
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
        cli.log("Label Studio is not running; type: make label-studio")
        sys.exit(NOT_RUNNING)


def _describe_workers(server: Running) -> str:
    if server.workers is None:
        return "SQLite"
    postgres = database.configured()
    return f"{server.workers} workers on {postgres.address if postgres else 'PostgreSQL'}"


def check(*, create: bool = False) -> str:
    """Ask the configured server, wherever it runs, whether it accepts our token.

    With `create`, a project is made there, read back and deleted.

    Raises:
        ServerError: the project reads back differently.
        StudioError: it does not answer, or refuses.
    """
    if not (endpoint := settings.endpoint()):
        cli.log(f"no server is configured; type: make label-studio, or set {settings.URL} in .env")
        sys.exit(NOT_RUNNING)
    studio = LabelStudio(endpoint)
    users = studio.users()
    version = studio.compare_version() or "of an unknown version"
    text = (
        f"{endpoint.url} answers and accepts the token (Label Studio {version},"
        f" {len(users)} accounts)"
    )
    return f"{text}; {_try_project(studio)}" if create else text


def _try_project(studio: LabelStudio) -> str:
    project = studio.create({"title": TRIAL})
    try:
        if studio.project(project.id).title != TRIAL:
            raise ServerError(f"{studio.url}: project {project.id} reads back differently")
    finally:
        deleted = studio.delete_empty(project)
    if not deleted:
        raise ServerError(f"{studio.url}: project {project.id} was not deleted; delete it there")
    return "a project was made, read back and deleted"


def _arguments() -> argparse.Namespace:
    parser = cli.parser("Works in the current folder.")
    commands = parser.add_subparsers(dest="do", required=True, metavar="VERB")
    begin = commands.add_parser("start", help="start it, and wait until it answers")
    begin.add_argument(
        "--port",
        type=int,
        help=f"listen only there (0: any free port); default: the previous port, at first"
        f" {USUAL_PORT}",
    )
    begin.add_argument(
        "--workers",
        type=cli.parse_positive,
        help="parallel processes; default: one per core, at least 2. PostgreSQL only",
    )
    commands.add_parser("stop", help="stop it")
    commands.add_parser("status", help="show where it runs")
    check = commands.add_parser("check", help="check that the server accepts our token")
    check.add_argument("--create", action="store_true", help="make a project, and delete it")
    return parser.parse_args()


if __name__ == "__main__":
    cli.run_command(partial(main, _arguments()))
