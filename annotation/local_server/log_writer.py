"""Copy a server's output into a log of limited size, without secrets.

A separate program that uses only the standard library: it reads the output from its standard input
until the server ends, and keeps the newest part. `MASKED` in its environment lists the secrets that
must not be written, one per line; anything else that looks like a token is hidden as well.
"""

import logging
import os
import re
import signal
import sys
from logging.handlers import RotatingFileHandler
from pathlib import Path

MASKED = "MOMENTRANK_MASKED"
BYTES, GENERATIONS = 2 * 2**20, 3
LINE_BYTES = 2**16
HIDDEN = "[hidden]"
SECRET = re.compile(
    r"(?:(?<=token=)|(?<=token%3D))[\w.%-]+"  # the sign-up link, quoted or not
    r"|(?<=password=)[^\s&\"']+"
    r"|eyJ[\w-]+\.[\w-]+\.[\w-]*"  # personal access tokens, keys of tasks
    r"|\b[0-9a-f]{40}\b",  # legacy tokens
    re.IGNORECASE,
)


def mask(line: str, secrets: list[str]) -> str:
    """Return a line without any of the secrets, and without what looks like one."""
    for secret in secrets:
        line = line.replace(secret, HIDDEN)
    return SECRET.sub(HIDDEN, line)


def main() -> None:
    """Copy until the end; skip what can't be written (full disk), and never block."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends when the server does
    os.umask(0o077)
    secrets = [line for line in os.environ.get(MASKED, "").splitlines() if line]
    logging.raiseExceptions = False
    path, size = Path(sys.argv[1]), int(sys.argv[2])
    log = RotatingFileHandler(
        path, maxBytes=size, backupCount=GENERATIONS, encoding="utf-8", errors="replace"
    )
    while raw := sys.stdin.buffer.readline(LINE_BYTES):
        text = mask(raw.decode("utf-8", "replace").rstrip("\n"), secrets)
        log.handle(logging.makeLogRecord({"msg": text}))


if __name__ == "__main__":
    main()
