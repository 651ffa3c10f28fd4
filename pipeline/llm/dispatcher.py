"""The dispatcher: sends requests within the limits, retries them, and stores answers on arrival."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic

from pipeline.core import cli
from pipeline.llm import outcomes
from pipeline.llm.answer_cache import Cache
from pipeline.llm.answers import Answer, Found, Reading
from pipeline.llm.breaker import Breaker
from pipeline.llm.client import Client
from pipeline.llm.limiter import Limiter
from pipeline.llm.outcomes import CallFailed, LLMError, Next, Outcome, Purpose
from pipeline.llm.request import Body, Recipe, Request
from pipeline.llm.retry import Policy
from pipeline.llm.spending import Spending

Job = Callable[[], Awaitable[None]]


@dataclass
class Dispatcher(Generic[Found]):
    """Asks one server, until the run must stop.

    At most `loaded` requests with pictures are in memory.
    """

    recipe: Recipe[Found]
    purpose: Purpose
    client: Client
    policy: Policy
    cache: Cache
    spent: Spending
    breaker: Breaker
    limiter: Limiter
    loaded: int

    def __post_init__(self) -> None:
        """Send nothing yet."""
        self._memory = asyncio.Semaphore(self.loaded)
        self._reported = set[Outcome]()
        self._stopped: LLMError | None = None
        self._in_flight: set[asyncio.Task[Any] | None] = set()

    async def run(self, jobs: Iterable[Job], at_once: int) -> None:
        """Run jobs that ask, in order. When one finds that the run must stop, no other begins.

        Requests in flight are then waited for, as they may be paid for, and their answers kept.

        Raises:
            LLMError: the run must stop.
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
            self._in_flight.clear()  # someone pressed Ctrl-C: do not wait
            raise
        finally:
            left.clear()
            for task in tasks:
                if task not in self._in_flight:
                    task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def ask(self, request: Request) -> Reading[Found]:
        """Ask until there is an answer, good or bad, and store it.

        Raises:
            CallFailed: this request gets no answer.
            LLMError: the run must stop.
        """
        subject = request.pictures.subject if request.pictures else None
        try:
            answer = await self.policy.call(lambda: self._ask_once(request))
        except CallFailed as failure:
            with self._stopping():
                self.breaker.count_failure(failure, subject)
            raise
        reading = self.recipe.read(answer, request.asked)
        self.spent.count(reading.outcome)
        with self._stopping():
            self.breaker.count_answer(answer, reading, subject)
            self.breaker.check()
        return reading

    @contextmanager
    def _stopping(self) -> Iterator[None]:
        """Send nothing more once the run must stop."""
        try:
            yield
        except LLMError as error:
            self._stopped = error
            raise

    async def _ask_once(self, request: Request) -> Answer:
        if request.pictures is None:
            return await self._send(request, request.body)
        # Loaded before it takes a slot: no slot is spent waiting for pictures.
        async with self._memory:
            return await self._send(request, await request.load())

    async def _send(self, request: Request, body: Body) -> Answer:
        async with self.limiter.slot(request.most) as slot:
            if self._stopped:
                raise self._stopped
            self._in_flight.add(task := asyncio.current_task())
            try:
                answer = await self._post(body)
            finally:
                self._in_flight.discard(task)
            self.cache.put(request, answer)  # first, so that nothing can lose it
            slot.charge(self.spent.pay(answer, lambda: request.likely_in))
            return answer

    async def _post(self, body: Body) -> Answer:
        self.spent.requests += 1
        try:
            return await self.client.ask(body, self.recipe.watched)
        except CallFailed as failure:
            self.spent.count_failure(failure.outcome)
            if self._stopped:
                raise self._stopped from failure
            self._report_first(failure)
            if failure.outcome is outcomes.RATE_LIMITED and self.policy.is_worth_waiting(failure):
                self.limiter.pause(failure.wait or 0)
            raise

    def _report_first(self, failure: CallFailed) -> None:
        """Report the first failure of each kind that is retried, which may take minutes."""
        outcome = failure.outcome
        if outcome.next is Next.WAIT and outcome not in self._reported:
            self._reported.add(outcome)
            hint = self.purpose.hint(outcome)
            cli.log(f"{failure}; trying up to {self.policy.tries} times ({hint})")
