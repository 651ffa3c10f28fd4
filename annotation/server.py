"""A Label Studio of your own: on this machine, with an embedded database, for you alone.

    python -m annotation.server start    (or: make label-studio)
    python -m annotation.server stop
    python -m annotation.server status

It listens on 127.0.0.1, keeps its database, its media and its log under .label-studio/, makes a
first user with a random password and token (in .env, which git ignores and only you can read),
lets nobody sign up without a link, and phones nobody. Right for a demo, a rehearsal and a small
campaign; docs/campaign.md tells what a large one runs on.
"""

import argparse
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
from filelock import FileLock

from annotation import env
from momentrank.errors import MomentRankError
from pipeline import files, stage

PROGRAM = Path(".venv-label-studio/bin/label-studio")
HOME = Path(".label-studio")
DATA, MEDIA = HOME / "data", HOME / "media"
DATABASE, EMPTY = DATA / "label_studio.sqlite3", PROGRAM.parent.parent / "empty.sqlite3"
CLIPS, MADE = MEDIA / "clips", Path("datasets/work/clips")
RUNNING, LOG, LOCK = HOME / "server.json", HOME / "server.log", HOME / "server.lock"
USUAL_PORT = 8080
HERE = ("127.0.0.1", "localhost")
START_SECONDS, STOP_SECONDS = 180.0, 15.0
NOT_RUNNING = 3
QUIET = {
    "SENTRY_DSN": "",
    "FRONTEND_SENTRY_DSN": "",
    "SENTRY_RATE": "0",
    "COLLECT_ANALYTICS": "false",
    "LATEST_VERSION_CHECK": "false",
}


class ServerError(MomentRankError):
    """The server can't be started, or does not do as it is told."""


class Running(NamedTuple):
    """A server's process group, when that process began (ticks since boot), and its port."""

    pid: int
    began: str
    port: int

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_alive(self) -> bool:
        """Whether the process is still that one: numbers of processes are used again."""
        return _began(self.pid) == self.began


def running() -> Running | None:
    """Return the server that was started here, if it still runs."""
    try:
        found = Running(**json.loads(RUNNING.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return found if found.is_alive else None


def start(port: int | None) -> Running:
    """Start the server unless it runs, and wait until it answers with our token.

    `port` None is the usual one if it is free, 0 any that is free.

    Raises:
        ServerError: it is not installed, another one is configured, or it did not come up; its
            log says why.
    """
    HOME.mkdir(exist_ok=True)
    with FileLock(LOCK):  # two starts at once are one
        found = running()
        _refuse_another_in_the_environment(found)
        if found is None:
            _refuse_to_leave_another()
            if not PROGRAM.is_file():
                raise ServerError("Label Studio is not installed here; type: make label-studio")
            found = _launched(port or _free_port(port), _credentials())
            _refuse_another_in_the_environment(found)
        env.write({env.URL: found.url, env.ROOT: str(MEDIA.absolute())})
    _wait(found)
    return found


def _refuse_to_leave_another() -> None:
    configured = urlsplit(env.value(env.URL) or "").hostname
    if configured not in {None, *HERE}:
        raise ServerError(
            f"{env.URL} is of another server ({configured}), whose campaign this would leave;"
            " take it out of the environment or of .env, if that is meant"
        )


def _refuse_another_in_the_environment(found: Running | None) -> None:
    """Stop where all that asks for the server of this folder would be sent to another one."""
    own = env.read() if found is None else {**env.read(), env.URL: found.url}
    for name in (env.URL, env.TOKEN, env.USERNAME, env.PASSWORD):
        given = os.environ.get(name)
        if given and given.rstrip("/") != own.get(name):
            raise ServerError(
                f"{name} stands in the environment, is not that of the server of this folder, and"
                f" would win over it: unset {name}, then again"
            )


def stop() -> bool:
    """Stop the server and wait until it is gone; False if none ran.

    Raises:
        ServerError: it would not stop.
    """
    found = running()
    if found is None:
        RUNNING.unlink(missing_ok=True)
        return False
    for kind in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(found.pid, kind)
        deadline = time.monotonic() + STOP_SECONDS
        while found.is_alive and time.monotonic() < deadline:
            time.sleep(0.05)
        if not found.is_alive:
            RUNNING.unlink(missing_ok=True)
            return True
    raise ServerError(f"process {found.pid} does not stop")


def _credentials() -> dict[str, str]:
    """Return the first user's name, password and token: those of .env, else new random ones."""
    known = env.read()
    values = {
        env.USERNAME: known.get(env.USERNAME, "lead@example.org"),
        env.PASSWORD: known.get(env.PASSWORD) or secrets.token_urlsafe(12),
        env.TOKEN: known.get(env.TOKEN) or secrets.token_hex(20),
    }
    env.write(values)
    return values


def _launched(port: int, values: dict[str, str]) -> Running:
    for folder in (DATA, MEDIA, MADE):
        folder.mkdir(parents=True, exist_ok=True)
    if not DATABASE.exists() and os.access(EMPTY.parent, os.W_OK):
        _begin_with_an_empty_one()
    if not CLIPS.is_symlink():
        CLIPS.symlink_to(os.path.relpath(MADE, MEDIA))
    settings = {
        **_own(DATA.absolute()),
        env.USERNAME: values[env.USERNAME],
        env.PASSWORD: values[env.PASSWORD],
        "LABEL_STUDIO_USER_TOKEN": values[env.TOKEN],
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "true",
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        env.ROOT: str(MEDIA.absolute()),
    }
    where = ["--internal-host", "127.0.0.1", "-p", str(port), "--data-dir", str(DATA.absolute())]
    with LOG.open("ab") as log, _no_ctrl_c():
        process = subprocess.Popen(  # noqa: S603  (our own command line)
            [str(PROGRAM.absolute()), "start", "--no-browser", *where],
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        process.returncode = 0  # it outlives this process, and Popen need not mind
        found = Running(process.pid, _began(process.pid), port)
        files.write_json(RUNNING, found._asdict())
    return found


def _own(data: Path) -> dict[str, str]:
    """Return the settings with which Label Studio keeps to a folder, and to itself."""
    return {
        **QUIET,
        "LABEL_STUDIO_BASE_DATA_DIR": str(data),
        "DJANGO_DB": "sqlite",
        "DATABASE_NAME": str(data / DATABASE.name),
    }


def _begin_with_an_empty_one() -> None:
    """Put a database without anybody in its place, which is made once for all servers here.

    Label Studio would take half a minute for its tables each time.
    """
    with FileLock(EMPTY.with_suffix(".lock")):
        if not EMPTY.exists():
            with TemporaryDirectory(dir=EMPTY.parent) as folder:
                data = Path(folder).absolute()
                subprocess.run(  # noqa: S603  (our own command line)
                    [str(PROGRAM.absolute()), "version", "--data-dir", str(data)],
                    env={**os.environ, **_own(data)},
                    capture_output=True,
                    check=False,  # what it could not make, the server makes, and says what is wrong
                )
                if (data / DATABASE.name).exists():
                    (data / DATABASE.name).replace(EMPTY)
    if EMPTY.exists():
        with files.atomic(DATABASE, "wb", private=True) as stream:
            stream.write(EMPTY.read_bytes())


@contextmanager
def _no_ctrl_c() -> Iterator[None]:
    """Hold Ctrl-C back, so that no server runs of which nothing is known."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(found: Running) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if not found.is_alive:
            raise ServerError(f"Label Studio ended as it started; {LOG} says why")
        status = answer(found.url, env.read().get(env.TOKEN, ""))
        if status == HTTPStatus.OK:
            return
        if status == HTTPStatus.UNAUTHORIZED:
            raise ServerError(
                f"{found.url} does not know the token in {env.ENV}: its database in {DATA} is of"
                " another one, or another server has just taken this port; mend it, and start again"
            )
        time.sleep(0.25)
    raise ServerError(f"{found.url} did not answer in {START_SECONDS:g} s; {LOG} may say why")


def answer(url: str, token: str) -> int | None:
    """Return the HTTP status of asking who we are, or None if nobody answers."""
    headers = {"Authorization": f"Token {token}"}
    try:
        return httpx.get(f"{url}/api/current-user/whoami", headers=headers, timeout=20).status_code
    except httpx.HTTPError:
        return None


def _free_port(wanted: int | None) -> int:
    """Return the usual port, or another where that is taken; for 0 any other."""
    for port in (0,) if wanted == 0 else (USUAL_PORT, 0):
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(listener.getsockname()[1])
    raise ServerError("no port is free")


def _began(pid: int) -> str:
    """Return when a process began, or nothing if it is gone or a zombie."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return "" if Path("/proc/self").exists() else _alive(pid)
    return "" if fields[0] == "Z" else fields[19]


def _alive(pid: int) -> str:
    """Return something if a process lives, where there is no /proc (macOS)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    return "alive"


def main(options: argparse.Namespace) -> None:
    """Do what is asked, and say where the server is."""
    if options.do == "start":
        found = start(options.port)
        stage.say(f"Label Studio runs at {found.url}; user and password stand in {env.ENV}")
    elif options.do == "stop":
        stage.say("stopped" if stop() else "it did not run")
    elif found_ := running():
        stage.say(f"Label Studio runs at {found_.url} (process {found_.pid})")
    else:
        stage.say("Label Studio does not run; type: make label-studio")
        sys.exit(NOT_RUNNING)


def _arguments() -> argparse.Namespace:
    parser = stage.parser("Works in the current folder.")
    parser.add_argument("do", choices=["start", "stop", "status"])
    parser.add_argument(
        "--port",
        type=int,
        help=f"listen there (0: any free one), not on {USUAL_PORT} or a free one",
    )
    return parser.parse_args()


if __name__ == "__main__":
    stage.report(partial(main, _arguments()))
