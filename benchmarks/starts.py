"""Start the server of a folder again and again, beside another program on its port.

    python -m benchmarks.starts [--starts 20] [--port 8080]

The other program takes the port and leaves it at random moments, so that it is free when it is
looked up and taken when Label Studio wants to listen, and the other way round. After every start
the address in `.env` must accept the token in `.env`.
"""

import argparse
import multiprocessing
import os
import random
import socket
import tempfile
import time
from contextlib import chdir
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from annotation import server
from annotation.label_studio import settings
from annotation.local_server.launch import whoami_status
from annotation.local_server.layout import PROGRAM, ServerError
from annotation.local_server.ports import LOCALHOST

SHORTEST, LONGEST = 0.2, 8.0
"""Seconds for which the other program has the port, or has left it: a start takes longer."""


def come_and_go(port: int, seed: int) -> None:
    """Take a port and leave it, for ever."""
    random.seed(seed)
    while True:
        time.sleep(random.uniform(SHORTEST, LONGEST))
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((LOCALHOST, port))
                listener.listen()
            except OSError:
                continue
            time.sleep(random.uniform(SHORTEST, LONGEST))


def started() -> tuple[bool, int]:
    """Start the server as `make demo` does; tell whether it answers, and at which port."""
    try:
        server.start(None)
    except ServerError as exc:
        print(f"    error: {exc}")
    found = settings.endpoint()
    if found is None:
        return False, 0
    return whoami_status(*found) == HTTPStatus.OK, urlsplit(found.url).port or 0


def main() -> None:
    """Print a line for every start, and how many were good."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--port", type=int, default=server.USUAL_PORT)
    options = parser.parse_args()
    checkout = Path.cwd()
    rival = multiprocessing.Process(target=come_and_go, args=(options.port, 1), daemon=True)
    rival.start()
    good = moved = 0
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path(PROGRAM.parts[0]).symlink_to(checkout / PROGRAM.parts[0])
        settings.write({settings.URL: f"http://{LOCALHOST}:{options.port}"})
        for number in range(1, options.starts + 1):
            begin = time.perf_counter()
            fine, port = started()
            good, moved = good + fine, moved + (port != options.port)
            print(f"{number:3}: {'answers' if fine else 'FAILED'} at {port}"
                  f" after {time.perf_counter() - begin:.1f} s", flush=True)  # fmt: skip
            server.stop()
            settings.write({settings.URL: f"http://{LOCALHOST}:{options.port}"})
    rival.terminate()
    print(f"{good} of {options.starts} starts; {moved} at another port, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
