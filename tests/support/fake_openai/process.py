"""The stand-in server in its own process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

TESTS = Path(__file__).parents[2]


@contextmanager
def serving(**script: object) -> Iterator[str]:
    """Run the server with a script; yield its address."""
    command = [sys.executable, "-m", "support.fake_openai", json.dumps(script)]
    env = os.environ | {"PYTHONPATH": f"{TESTS.parent}{os.pathsep}{TESTS}"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


def read_stats(url: str) -> dict[str, int]:
    """Return what the stand-in server has answered."""
    with closing(HTTPConnection(urlsplit(url).netloc)) as connection:
        connection.request("GET", "/v1/stats")
        stats: dict[str, int] = json.load(connection.getresponse())
        return stats
