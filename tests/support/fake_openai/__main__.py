"""Serve until stopped: python -m support.fake_openai '{"faults": 0.1}'."""

import asyncio
import json
import sys
from contextlib import suppress

from support.fake_openai.script import Script
from support.fake_openai.server import Server


async def _serve(script: Script) -> None:
    listener, port = await Server(script).start()
    sys.stdout.write(f"http://127.0.0.1:{port}/v1\n")
    sys.stdout.flush()
    await listener.serve_forever()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(Script(**json.loads(sys.argv[1]))))
