"""Repeated starts of a folder's server while another program competes for its port.

    python -m benchmarks.starts [--starts 20] [--port 8080]

The other program takes and releases the port at random, so the port may be free when it is looked
up and taken when Label Studio listens, or vice versa. After every start the address in `.env` must
accept the token in `.env`.
"""

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
from benchmarks.script import parse_arguments

SHORTEST, LONGEST = 0.2, 8.0
"""Seconds for which the other program holds or releases the port; a start takes longer."""


def come_and_go(port: int, seed: int) -> None:
    """Take and release a port forever."""
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


def start() -> tuple[bool, int]:
    """Start the server as `make demo` does; return whether it answers, and its port."""
    try:
        server.start(None)
    except ServerError as exc:
        print(f"    error: {exc}")
    endpoint = settings.endpoint()
    if endpoint is None:
        return False, 0
    return whoami_status(*endpoint) == HTTPStatus.OK, urlsplit(endpoint.url).port or 0


def main() -> None:
    """Print a line per start and the number of successes."""
    options = parse_arguments(__doc__, starts=20, port=server.USUAL_PORT)
    checkout = Path.cwd()
    rival = multiprocessing.Process(target=come_and_go, args=(options.port, 1), daemon=True)
    rival.start()
    good = moved = 0
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path(PROGRAM.parts[0]).symlink_to(checkout / PROGRAM.parts[0])
        settings.write({settings.URL: f"http://{LOCALHOST}:{options.port}"})
        for number in range(1, options.starts + 1):
            begin = time.perf_counter()
            fine, port = start()
            good, moved = good + fine, moved + (port != options.port)
            print(f"{number:3}: {'answers' if fine else 'FAILED'} at {port}"
                  f" after {time.perf_counter() - begin:.1f} s", flush=True)  # fmt: skip
            server.stop()
            settings.write({settings.URL: f"http://{LOCALHOST}:{options.port}"})
    rival.terminate()
    print(f"{good} of {options.starts} starts; {moved} at another port, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
