"""The process of this folder's server, found by the data folder in its command line.

No file records which process it is: a file may be stale, from an earlier boot, or never written.
Workers have the command line of the process that forked them; only that process leads a group.
"""

import os
from contextlib import suppress
from typing import NamedTuple

import psutil

from annotation.local_server.layout import DATA, ServerError
from annotation.local_server.ports import LOCALHOST

STOP_SECONDS = 15.0
WHERE, WORKERS = "--data-dir", "--workers"


class Running(NamedTuple):
    """A server that listens: its process, and the port that it actually took."""

    process: psutil.Process
    port: int

    @property
    def pid(self) -> int:
        """The number of its process."""
        return int(self.process.pid)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{LOCALHOST}:{self.port}"

    @property
    def workers(self) -> int | None:
        """How many processes answer; None on SQLite, where there is one."""
        with suppress(psutil.Error):
            line = self.process.cmdline()
            return int(line[line.index(WORKERS) + 1]) if WORKERS in line else None
        return None


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process still runs: process numbers are reused, and zombies don't run."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def find() -> psutil.Process | None:
    """Return the process of this folder's server, even if still starting; None if there is none."""
    mine = [WHERE, str(DATA.resolve())]
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if "start" in line and line[-2:] == mine and _leads(process) and is_alive(process):
            return process
    return None


def _leads(process: psutil.Process) -> bool:
    try:
        return os.getpgid(process.pid) == int(process.pid)
    except ProcessLookupError:
        return False


def find_running() -> Running | None:
    """Return this folder's server, if it listens."""
    process = find()
    port = port_of(process) if process else None
    return Running(process, port) if process and port else None


def port_of(process: psutil.Process) -> int | None:
    """Return the port on which a process listens, or None if it does not (yet)."""
    with suppress(psutil.Error):
        connections = process.net_connections("tcp4")
        ports = (
            connection.laddr.port
            for connection in connections
            if connection.status == psutil.CONN_LISTEN
        )
        return min(ports, default=None)
    return None


def _workers(process: psutil.Process) -> list[psutil.Process]:
    """Return the other processes of a process's group, which end with it."""
    with suppress(psutil.NoSuchProcess, ProcessLookupError):
        children = process.children(recursive=True)
        return [child for child in children if os.getpgid(child.pid) == int(process.pid)]
    return []


def terminate(process: psutil.Process) -> None:
    """Stop a process and its workers, and wait until they are gone.

    Raises:
        ServerError: it would not stop.
    """
    group = [process, *_workers(process)]
    for signal in ("terminate", "kill"):
        for member in group[:1] if signal == "terminate" else group:  # the first stops the others
            with suppress(psutil.NoSuchProcess):
                getattr(member, signal)()
        psutil.wait_procs(group, timeout=STOP_SECONDS)
        if not any(is_alive(member) for member in group):
            return
    raise ServerError(f"process {process.pid} does not stop")
