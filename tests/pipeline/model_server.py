"""The stand-in for a model's server, in a thread of its own."""

import asyncio
import threading
from contextlib import contextmanager
from dataclasses import replace

from support.fake_openai.script import Script
from support.fake_openai.server import Server

from pipeline.llm.dispatcher import Policy

KEY = "sk-secret-0123456789"
QUICK = Policy(tries=8, first=0.02, longest=0.2)
ASKING = {
    "model": "stand-in",
    "in_flight": 8,
    "requests_per_minute": 1_000_000,
    "tokens_per_minute": 1_000_000_000,
    "output_limit": "max_tokens",
    "extra": {},
    "input_price": 1.0,
    "output_price": 10.0,
}
"""What the settings of each backend that asks a model have in tests."""


class Running:
    """A server in a thread of its own."""

    def __init__(self, script):
        self._loop = asyncio.new_event_loop()
        self._up, self._stop = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._run()))
        self.server = Server(script)
        self._thread.start()
        assert self._up.wait(10)

    async def _run(self):
        listener, self.port = await self.server.start()
        self._up.set()
        await self._stop.wait()
        listener.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def stop(self):
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def stats(self):
        return self.server.stats

    def change(self, **script):
        self.server.script = replace(self.server.script, **script)


@contextmanager
def serving():
    """Yield a function that starts a server with a script; all of them end with the context."""
    running = []

    def serve(**script):
        running.append(Running(Script(**script)))
        return running[-1]

    try:
        yield serve
    finally:
        for server in running:
            server.stop()
