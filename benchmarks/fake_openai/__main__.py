"""Serve until stopped: python -m benchmarks.fake_openai '{"faults": 0.1}'."""

import asyncio
import json
import sys
from contextlib import suppress

from benchmarks.fake_openai.script import Script
from benchmarks.fake_openai.server import Server


async def _serve(script: Script) -> None:
    listener, port = await Server(script).start()
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    await listener.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(Script(**json.loads(sys.argv[1]))))
