"""Ports of this machine: which one is free, and which program has one that is not."""

import errno
import socket
import time
from contextlib import suppress

import psutil

from annotation.local_server.layout import ServerError

LOCALHOST = "127.0.0.1"
GRACE = 2.0
"""How many seconds to wait for a port."""
SPAN = 100
"""How many ports above the wanted one to try before taking any port."""


def is_free(port: int) -> bool:
    """Return whether a server could listen on a port of 127.0.0.1.

    Connections of a previous server that are still closing don't count: they end by themselves.
    """
    with socket.socket() as visitor:
        if visitor.connect_ex((LOCALHOST, port)) == 0:
            return False
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOCALHOST, port))
        except OSError as exc:
            if exc.errno not in {errno.EADDRINUSE, errno.EACCES}:
                raise
            return False
    return True


def wait_until_free(port: int) -> bool:
    """Return whether a port is free, or becomes free within `GRACE` seconds.

    A server that was killed keeps its port until its last thread is gone.
    """
    deadline = time.monotonic() + GRACE
    while not is_free(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def first_free(wanted: int) -> int:
    """Return `wanted`, or the next free port above it; for 0, any free port."""
    above = range(wanted, wanted + SPAN if wanted else 0)
    return next((port for port in above if port < 2**16 and is_free(port)), None) or _any()


def _any() -> int:
    with socket.socket() as listener:
        listener.bind((LOCALHOST, 0))
        return int(listener.getsockname()[1])


def describe_holder(port: int) -> str:
    """Return which program listens on a port, as far as this user can see."""
    with suppress(psutil.Error, OSError):
        for connection in psutil.net_connections("tcp"):
            if (
                connection.status == psutil.CONN_LISTEN
                and connection.laddr.port == port
                and connection.pid
            ):
                return f"{psutil.Process(connection.pid).name()}, process {connection.pid}"
    return "another program"


def taken_error(port: int) -> ServerError:
    """Return the error for a requested port that is taken."""
    return ServerError(
        f"--port {port}: taken by {describe_holder(port)}; use another one, or omit --port"
    )


def describe_move(before: int, url: str) -> str:
    """Return the message that the server has moved to another port, and how to go back."""
    old = f"http://{LOCALHOST}:{before}"
    state = f"is taken ({describe_holder(before)})"
    if is_free(before):
        state = "was taken while it started, and is free again"
    return (
        f"WARNING: Label Studio was at {old} until now, and is at {url} from now on: port"
        f" {before} {state}.\n"
        f"  Links that people have still lead to {old}, which is not this server. To go back:"
        f" stop the other program, then\n"
        f"    python -m annotation.server stop; python -m annotation.server start --port {before}\n"
        f"  To stay here, send people new links: python -m annotation.people invite"
    )
