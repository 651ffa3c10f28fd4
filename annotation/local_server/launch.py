"""Start the server's process, and wait until it accepts our token on the port that it took.

Label Studio checks whether its port is free, and moves to the next one if it is not; half a minute
later it listens. Whatever happens in between, the port is read from the process itself.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus

import psutil

from annotation.label_studio import settings
from annotation.local_server import embedded, log_writer, sqlite, workers
from annotation.local_server.database import Database
from annotation.local_server.environment import behind_https, folder_settings
from annotation.local_server.layout import (
    CLIPS,
    CUT_CLIPS,
    DATA,
    LOG,
    MEDIA,
    PROGRAM,
    ServerError,
)
from annotation.local_server.ports import LOCALHOST
from annotation.local_server.process import WHERE, WORKERS, Running, is_alive, port_of
from pipeline.core.parallel import cores

START_SECONDS = 300.0
LOG_SECONDS, POLL_SECONDS = 2.0, 0.25
TAKEN = workers.TAKEN
"""Django's server prints the same."""

FATAL = re.compile(r"FATAL: *(.*)|(connection to server .*)")
"""Why PostgreSQL refuses a connection."""


class PortTakenError(ServerError):
    """Another program took the port between Label Studio's check and its listening."""


class TokenError(ServerError):
    """The server's database does not know our token."""


def launch(
    port: int,
    credentials: Mapping[str, str],
    database: Database | None = None,
    number: int | None = None,
) -> psutil.Process:
    """Start the server's process, which will try this port first; it outlives the current one.

    With a PostgreSQL database it is the first of several: `number` workers, else one per core, and
    at least two.
    """
    for folder in (DATA, MEDIA, CUT_CLIPS):
        folder.mkdir(parents=True, exist_ok=True)
    if not CLIPS.is_symlink():
        CLIPS.symlink_to(os.path.relpath(CUT_CLIPS, MEDIA))
    data = DATA.resolve()
    where = folder_settings(data)
    if database is None:
        sqlite.copy_empty()
        sqlite.write_ahead()
        words = [embedded.__file__, "start", "--no-browser", "--internal-host", LOCALHOST]
    else:
        words = [workers.__file__, "start", WORKERS, str(number or max(2, cores()))]
        where |= database.settings
    python = PROGRAM.with_name("python").absolute()
    secrets = [credentials[settings.PASSWORD], credentials[settings.TOKEN]]
    environment = {
        **where,
        settings.USERNAME: credentials[settings.USERNAME],
        settings.PASSWORD: credentials[settings.PASSWORD],
        "LABEL_STUDIO_USER_TOKEN": credentials[settings.TOKEN],
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        settings.ROOT: str(MEDIA.absolute()),
        **behind_https(settings.value(settings.HOST)),
    }
    with _no_ctrl_c(), _log([*secrets, database.password if database else ""]) as log:
        server = subprocess.Popen(  # noqa: S603  (our own command line)
            [str(python), "-I", *words, "-p", str(port), WHERE, str(data)],
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        server.returncode = 0  # it outlives this process: don't let Popen warn
    return psutil.Process(server.pid)


@contextmanager
def _log(secrets: list[str]) -> Iterator[int]:
    reading, writing = os.pipe()
    try:
        writer = subprocess.Popen(  # noqa: S603  (our own command line)
            [sys.executable, "-I", log_writer.__file__, str(LOG.absolute()), str(log_writer.BYTES)],
            env={**os.environ, log_writer.MASKED: "\n".join(secrets)},
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        writer.returncode = 0  # it ends when the server does
        yield writing
    finally:
        os.close(reading)
        os.close(writing)


@contextmanager
def _no_ctrl_c() -> Iterator[None]:
    """Hold Ctrl-C back until the server runs, so that it is not stopped halfway."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def wait_until_ready(process: psutil.Process) -> Running:
    """Return the server once it accepts our token, with the port that it took.

    Raises:
        PortTakenError: it ended because its port was taken.
        TokenError: it does not know our token.
        ServerError: it ended for another reason, or did not answer in time.
    """
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if not is_alive(process):
            raise _exit_error()
        port = port_of(process)
        if port is not None:
            server = Running(process, port)
            status = whoami_status(server.url, settings.read().get(settings.TOKEN, ""))
            if status == HTTPStatus.OK:
                return server
            if status == HTTPStatus.UNAUTHORIZED:
                raise TokenError(
                    f"{server.url} does not know the token in {settings.ENV}: its database in"
                    f" {DATA} belongs to another server, is a copy without its -wal file, or these"
                    " tokens were disabled (see Organization, Access Token Settings); correct that,"
                    " and start again"
                )
        time.sleep(POLL_SECONDS)
    raise ServerError(f"Label Studio did not answer in {START_SECONDS:g} s; {LOG} may say why")


def _exit_error() -> ServerError:
    deadline, last = time.monotonic() + LOG_SECONDS, ""
    while time.monotonic() < deadline:  # the log is written by a process of its own
        with suppress(OSError):
            last = LOG.read_text(encoding="utf-8", errors="replace")[-400:]
        if TAKEN in last[-300:]:
            return PortTakenError("Label Studio's port was taken while it started")
        if fatal := FATAL.search(last):
            return ServerError(f"PostgreSQL did not let Label Studio in: {fatal[0]}")
        time.sleep(0.1)
    return ServerError(f"Label Studio ended while starting; {LOG} says why")


def whoami_status(url: str, token: str) -> int | None:
    """Return the HTTP status of a `whoami` request, or None without an answer."""
    import httpx  # noqa: PLC0415  (--help needs none)

    headers = {"Authorization": f"Token {token}"}
    try:
        return httpx.get(f"{url}/api/current-user/whoami", headers=headers, timeout=20).status_code
    except httpx.HTTPError:
        return None
