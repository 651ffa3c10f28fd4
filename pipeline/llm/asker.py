"""Requests to answers: within the limits, with the retry policy, kept as they arrive."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from pipeline.llm import answers, outcomes
from pipeline.llm.answers import Answer, Reading
from pipeline.llm.cache import Cache
from pipeline.llm.client import Client
from pipeline.llm.limiter import Limiter
from pipeline.llm.outcomes import CallFailed, LLMError, Next, Outcome
from pipeline.llm.request import Request
from pipeline.llm.retry import Policy
from pipeline.llm.spending import Spending

IN_A_ROW = {Next.WAIT: 5, Next.HALVE: 50}
"""After so many requests in a row that ended so, and no answer between, the server is given up.

Descriptions that it refuses may well stand together; one that is away is away.
"""

Job = Callable[[], Awaitable[None]]


class Asker:
    """Asks one server, until it is useless to go on."""

    def __init__(
        self, client: Client, limiter: Limiter, policy: Policy, cache: Cache, spent: Spending
    ) -> None:
        """Bring together what asking takes."""
        self._client, self._limiter, self._policy = client, limiter, policy
        self._cache, self._spent = cache, spent
        self._answered, self._in_a_row = 0, Counter[Next]()
        self._stopped: LLMError | None = None
        self._flying: set[asyncio.Task[Any] | None] = set()

    async def run(self, jobs: Iterable[Job], at_once: int) -> None:
        """Run jobs that ask, in their order. When one finds that it is useless, none begins.

        What is in flight then is waited for, as it may be paid for, and kept.

        Raises:
            LLMError: it is useless to go on.
        """
        left = deque(jobs)

        async def work() -> None:
            while left:
                await left.popleft()()

        tasks = [asyncio.create_task(work()) for _ in range(min(at_once, len(left)))]
        try:
            if tasks:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        except asyncio.CancelledError:
            self._flying.clear()  # somebody pressed Ctrl-C: nothing is waited for
            raise
        finally:
            left.clear()
            for task in tasks:
                if task not in self._flying:
                    task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def ask(self, request: Request) -> Reading:
        """Ask until there is an answer, good or bad, and keep it.

        Raises:
            CallFailed: there is none for this request.
            LLMError: it is useless to go on.
        """
        try:
            answer = await self._policy.call(lambda: self._once(request))
        except CallFailed as failure:
            self._in_a_row[failure.outcome.next] += 1
            if self._is_useless_after(failure.outcome):
                self._stopped = LLMError.stopped(failure)
                raise self._stopped from failure
            raise
        self._answered += 1
        self._in_a_row.clear()
        reading = answers.read(answer, request.asked)
        self._spent.ended(reading.outcome)
        return reading

    def _is_useless_after(self, outcome: Outcome) -> bool:
        unreachable = outcome is outcomes.CONNECTION and not self._answered
        given_up = self._in_a_row[outcome.next] >= IN_A_ROW.get(outcome.next, 1)
        return unreachable or given_up

    async def _once(self, request: Request) -> Answer:
        async with self._limiter.slot(request.most) as slot:
            if self._stopped:
                raise self._stopped
            self._flying.add(task := asyncio.current_task())
            try:
                answer = await self._send(request)
            finally:
                self._flying.discard(task)
            self._cache.put(request, answer)  # first: nothing may come between it and the disk
            slot.used(self._spent.paid(answer, lambda: request.likely_in))
            return answer

    async def _send(self, request: Request) -> Answer:
        self._spent.requests += 1
        try:
            return await self._client.ask(request)
        except CallFailed as failure:
            self._spent.ended(failure.outcome)
            if self._stopped:
                raise self._stopped from failure
            if failure.outcome is outcomes.RATE_LIMITED and self._policy.is_worth_waiting(failure):
                self._limiter.pause(failure.wait or 0)
            raise
