"""The HTTP server: scripted faults, rate limits and statistics."""

import asyncio
import hashlib
import json
import random
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace

from support.fake_openai.answers import answer, prompt_tokens
from support.fake_openai.judges import is_about_a_clip
from support.fake_openai.script import OK, Json, Reply, Script, Stats, error, of_json


class Limits:
    """Limits of requests and tokens per window."""

    def __init__(self) -> None:
        """Start with empty windows."""
        self.log: list[tuple[float, int, int]] = []

    def exceeds(self, script: Script, tokens: int) -> bool:
        """Tell whether another request of `tokens` would exceed a limit."""
        now = time.monotonic()
        start = now // script.window * script.window if script.fixed else now - script.window
        self.log = [entry for entry in self.log if entry[0] > start]
        requests = sum(entry[1] for entry in self.log) + 1
        used = sum(entry[2] for entry in self.log) + tokens
        return (0 < script.requests < requests) or (0 < script.tokens < used)

    def add(self, requests: int, tokens: int) -> None:
        """Count requests and tokens now."""
        self.log.append((time.monotonic(), requests, tokens))


class Server:
    """The server, with its script and statistics."""

    def __init__(self, script: Script) -> None:
        """Start with empty statistics."""
        self.script, self.stats, self.limits = script, Stats(), Limits()
        self._asked: Counter[str] = Counter()

    async def start(self) -> tuple[asyncio.Server, int]:
        """Listen on this machine; return the listener and its port."""
        listener = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**28)
        return listener, int(listener.sockets[0].getsockname()[1])

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
                content = await reader.readexactly(int(headers.get("content-length", 0)))
                method, path, _ = head[0].split(" ")
                if auth := headers.get("authorization"):
                    self.stats.keys = sorted({*self.stats.keys, auth})
                if not await _send(writer, await self._reply(method, path, content)):
                    break
        writer.close()

    async def _reply(self, method: str, path: str, content: bytes) -> Reply:
        if path.endswith("/chat/completions"):
            return await self._chat(content)
        if path.endswith("/stats"):
            return of_json(self.stats.summary())
        return error(404, "not_found", f"No such thing: {method} {path}")

    async def _chat(self, content: bytes) -> Reply:
        stats = self.stats
        stats.requests += 1
        stats.in_flight += 1
        stats.max_in_flight = max(stats.max_in_flight, stats.in_flight)
        in_flight = True
        try:
            key = hashlib.sha256(content).hexdigest()
            body = json.loads(content)
            if refused := self._refuse(body):
                return refused
            fault = self._fault(key)
            stats.faults[fault] += 1
            if fault == "timeout":  # the client gives up: no longer in flight
                await asyncio.sleep(self.script.hang / 4)
                stats.in_flight, in_flight = stats.in_flight - 1, False
                await asyncio.sleep(self.script.hang * 3 / 4)
            reply = await self._reply_in_time(body, fault)
            if reply.status == OK and not reply.cut and fault != "timeout":
                stats.answered[key] += 1
            return reply
        finally:
            stats.in_flight -= in_flight

    async def _reply_in_time(self, body: Json, fault: str) -> Reply:
        """Answer after the latency; pictures are examined meanwhile, in a thread."""
        latency = asyncio.create_task(asyncio.sleep(self.script.latency))
        if not is_about_a_clip(body):
            await latency
            return self._answer(body, fault)
        reply = await asyncio.to_thread(self._answer, body, fault)
        self.stats.note(reply)
        await latency
        return reply

    def _refuse(self, body: Json) -> Reply | None:
        """Refuse a request that exceeds a limit or the budget."""
        script = self.script
        most = prompt_tokens(body, script.picture_tokens)
        most += int(body.get("max_tokens") or body["max_completion_tokens"])
        if self.limits.exceeds(script, 0 if script.at_answer else most):
            self.stats.own_429 += 1
            return error(429, "rate_limit_exceeded", "Rate limit reached", ("Retry-After", "1"))
        self.limits.add(1, 0 if script.at_answer else most)
        if script.money == 0:
            return error(429, "insufficient_quota", "You exceeded your current quota")
        return None

    def _fault(self, key: str) -> str:
        """Return the fault for a request, drawn by seed, request and repetition."""
        self._asked[key] += 1
        chance = random.Random(f"{self.script.seed} {key} {self._asked[key]}")
        if chance.random() >= self.script.faults:
            return ""
        return chance.choice(self.script.kinds)

    def _answer(self, body: Json, fault: str) -> Reply:
        """Answer, and charge for the tokens."""
        reply = answer(self.script, body, fault)
        if reply.status == OK and b'"usage"' in reply.body:
            used = json.loads(reply.body)["usage"]["total_tokens"]
            if self.script.at_answer:
                self.limits.add(0, used)
            if self.script.money > 0:
                self.script = replace(self.script, money=max(0, self.script.money - used))
        return reply


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> bool:
    """Send a reply; return whether the connection stays open."""
    lines = [f"HTTP/1.1 {reply.status} Whatever", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in reply.headers]
    lines += [f"Content-Length: {len(reply.body)}", "", ""]
    body = reply.body[: len(reply.body) // 2] if reply.cut else reply.body
    writer.write("\r\n".join(lines).encode() + body)
    await writer.drain()
    return not reply.cut
