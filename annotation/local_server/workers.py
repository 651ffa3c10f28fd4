"""Run Label Studio on PostgreSQL: gunicorn workers behind one port.

    PYTHON -I workers.py start [--host 127.0.0.1] -p PORT --workers N --data-dir FOLDER

A separate program that runs in Label Studio's environment and imports none of our code. The first
process creates the tables and the first user, once; then the workers are forked from it. The
environment says where the database is, and who the first user is.
"""

import argparse
import os
import runpy
import socket
import sys
from importlib import import_module
from pathlib import Path

LOCALHOST = "127.0.0.1"
TAKEN = "port is already in use"
THREADS = 4
"""Parallel requests per worker: one that computes, others that send clips or wait."""

DATABASE_OPTIONS = {
    "ATOMIC_REQUESTS": True,  # a worker that dies leaves a whole answer or none, never half of one
    "CONN_MAX_AGE": 60,  # seconds: opening a connection costs more than a query
    "CONN_HEALTH_CHECKS": True,
}

OPTIONS = {
    "--worker-class": "gthread",
    "--threads": str(THREADS),
    "--timeout": "120",  # for a worker that hangs; requests have no limit, imports may take minutes
    "--graceful-timeout": "10",  # less than `stop` waits
    "--keep-alive": "30",
    "--limit-request-line": "8190",
    "--log-level": "warning",
}


def main() -> None:
    """Take the port, prepare the database, and serve."""
    options = parse(sys.argv[1:])
    with take_port(options.host, int(options.p)) as listener:
        prepare(options.data_dir)
        serve(listener, options.workers)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("start")
    parser.add_argument("--host", default=LOCALHOST)
    for name in ("-p", "--workers", "--data-dir"):
        parser.add_argument(name, required=True)
    return parser.parse_args(arguments)


def take_port(host: str, port: int) -> socket.socket:
    """Return a socket bound to the port, which does not listen yet."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as exc:
        raise SystemExit(f"{host}:{port}: {TAKEN} ({exc})") from exc
    return listener


def prepare(folder: str) -> None:
    """Create or update the tables and the first user; leave no open connection to inherit."""
    sys.argv = ["label-studio", "init", "--quiet", "--data-dir", folder]
    import_module("label_studio.server").main()
    connections = import_module("django.db").connections
    connections.settings["default"].update(DATABASE_OPTIONS)
    import_module("core.wsgi")
    connections.close_all()


def serve(listener: socket.socket, workers: str) -> None:
    """Become gunicorn's first process."""
    listener.set_inheritable(True)
    bind = ["--bind", f"fd://{listener.detach()}", "--workers", workers, "--no-control-socket"]
    options = [text for pair in OPTIONS.items() for text in pair]
    os.chdir(Path(import_module("label_studio").__file__ or "").parent)
    sys.argv = ["gunicorn", *bind, *options, "core.wsgi:application"]
    runpy.run_module("gunicorn", run_name="__main__")


if __name__ == "__main__":
    main()
