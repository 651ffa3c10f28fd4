"""Serve until stopped: python -m benchmarks.fake_openai [--script '{"faults": 0.1}']."""

import argparse
import asyncio
import json
import sys
from contextlib import suppress

from benchmarks.fake_openai.script import Script
from benchmarks.fake_openai.server import Server


async def _serve(script: Script, port: int) -> None:
    listener, port = await Server(script).start(port)
    sys.stdout.write(f"http://127.0.0.1:{port}/v1\n")
    sys.stdout.flush()
    await listener.serve_forever()


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script", type=json.loads, default={})
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(Script(**options.script), options.port))


if __name__ == "__main__":
    main()
