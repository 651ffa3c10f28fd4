"""The dispatcher: sends requests within the limits, retries them, and stores answers on arrival.

Its retries are the only ones: the SDK's own are switched off, as they retry an empty account. A
circuit breaker stops the run when the server is unreachable or its answers are unusable.
"""

import asyncio
import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Generic

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from pipeline.core import cli
from pipeline.llm import outcomes
from pipeline.llm.answer_cache import Cache
from pipeline.llm.answers import Answer, Found, Reading
from pipeline.llm.client import Client
from pipeline.llm.limiter import Limiter
from pipeline.llm.outcomes import CallFailed, LLMError, Next, Outcome, Purpose
from pipeline.llm.request import Body, Recipe, Request
from pipeline.llm.spending import Spending

IN_A_ROW = {Next.WAIT: 5, Next.HALVE: 50}
"""Requests in a row that ended so, without an answer in between, after which the run stops.

Refused requests may come in a row by chance, so more of them are needed than of failures to
reach the server.
"""

FIRST_ANSWERS = 20
"""A run is stopped if this many first answers are all unusable: each of them was paid for.

A model that can't answer in the required form would be asked `asker.ASKS` times for every request
and for every half of it. Fewer answers prove too little: no model may have an answer to some texts.
"""

_SHOWN = 200  # characters of an unusable answer


@dataclass(frozen=True)
class Policy:
    """How often a call is made at most, and how long to wait in between, in seconds.

    The waits double from `first` to `longest`; each is randomly shortened, to half at the least.
    By default they add up to more than a minute, over which most servers count. If a server asks
    for more than `patience`, there is no retry.
    """

    tries: int = 8
    first: float = 1.0
    longest: float = 30.0
    patience: float = 120.0

    @property
    def retrying(self) -> AsyncRetrying:
        """What calls a function until it succeeds, fails too often, or waiting does not help."""
        return AsyncRetrying(
            retry=retry_if_exception(self.is_worth_waiting),
            stop=stop_after_attempt(self.tries),
            wait=self._wait,
            reraise=True,
        )

    def is_worth_waiting(self, failure: BaseException) -> bool:
        """Return whether the same call may succeed later, and soon enough."""
        if not isinstance(failure, CallFailed) or failure.outcome.next is not Next.WAIT:
            return False
        return failure.wait is None or failure.wait <= self.patience

    def _wait(self, state: RetryCallState) -> float:
        doubled = min(self.longest, self.first * 2.0 ** (state.attempt_number - 1))
        backoff = doubled * random.uniform(0.5, 1)
        failure = state.outcome.exception() if state.outcome else None
        asked = failure.wait if isinstance(failure, CallFailed) else None
        return max(backoff, (asked or 0) + random.uniform(0, self.first))


class Breaker:
    """Counts how requests end over all attempts of a run, and stops the run when needed.

    `is_usable`: the model has answered in the required form before, in any run.
    """

    def __init__(self, purpose: Purpose) -> None:
        """Begin with empty counts."""
        self.is_usable = False
        self._purpose = purpose
        self._refused_subjects, self._answered_subjects = set[str](), set[str]()
        self._in_a_row = Counter[Next]()
        self._answers = 0
        self._unusable = Counter[Outcome]()
        self._shown = ""

    def count_failure(self, failure: CallFailed, subject: str | None) -> None:
        """Count a request that got no answer; a refused subject counts once.

        Raises:
            LLMError: the run must stop.
        """
        outcome = failure.outcome
        if outcome.next is Next.GIVE_UP:
            return
        if outcome.next is Next.HALVE and subject is not None:
            if subject in self._refused_subjects:
                return
            self._refused_subjects.add(subject)
        self._in_a_row[outcome.next] += 1
        unreachable = outcome is outcomes.CONNECTION and not self._answers
        if unreachable or self._in_a_row[outcome.next] >= IN_A_ROW.get(outcome.next, 1):
            raise self._purpose.stop(failure) from failure

    def count_answer(self, answer: Answer, reading: Reading[Any], subject: str | None) -> None:
        """Count an answer that was paid for, and whether any of it can be used.

        Several answers about one subject count once: the subject itself may be to blame.

        Raises:
            LLMError: the first answers are all unusable.
        """
        self._in_a_row.clear()
        self._answers += subject is None or subject not in self._answered_subjects
        self._answered_subjects |= set() if subject is None else {subject}
        self.is_usable = self.is_usable or bool(reading.found)
        if reading.outcome:
            self._unusable[reading.outcome] += 1
            self._shown = self._shown or " ".join((answer.content or answer.refusal or "").split())
        if self.is_usable or self._answers < FIRST_ANSWERS:
            return
        kinds = ", ".join(f"{outcome.name} {n}" for outcome, n in self._unusable.most_common())
        [(commonest, _)] = self._unusable.most_common(1)
        shown = f"; one of them begins: {self._shown[:_SHOWN]}" if self._shown else ""
        answers = f"the first {self._answers} answers are all unusable"
        raise LLMError(f"{answers} ({kinds}): {self._purpose.hint(commonest)}{shown}")


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

    async def run(self, jobs: Iterable[Callable[[], Awaitable[None]]], at_once: int) -> None:
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
            LLMError: the run must stop, and nothing more is sent.
        """
        subject = request.pictures.subject if request.pictures else None
        try:
            try:
                answer: Answer = await self.policy.retrying(self._ask_once, request)
            except CallFailed as failure:
                self.breaker.count_failure(failure, subject)
                raise
            reading = self.recipe.read(answer, request.asked)
            self.spent.count(reading.outcome)
            self.breaker.count_answer(answer, reading, subject)
        except LLMError as error:
            self._stopped = error
            raise
        return reading

    async def _ask_once(self, request: Request) -> Answer:
        # Loaded before it takes a slot: no slot is spent waiting for pictures.
        async with self._memory if request.pictures else nullcontext():
            body = await request.load()
            async with self.limiter.slot(request.most) as slot:
                if self._stopped:
                    raise self._stopped
                self._in_flight.add(task := asyncio.current_task())
                try:
                    answer = await self._send(body)
                finally:
                    self._in_flight.discard(task)
                self.cache.put(request, answer)  # first, so that nothing can lose it
                slot.charge(self.spent.pay(answer, lambda: request.likely_in))
                return answer

    async def _send(self, body: Body) -> Answer:
        self.spent.requests += 1
        try:
            return await self.client.ask(body, self.recipe.watched)
        except CallFailed as failure:
            self.spent.count(failure.outcome)
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
