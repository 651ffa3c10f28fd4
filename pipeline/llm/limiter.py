"""A rate limiter: it limits requests in flight, and requests and tokens in any minute.

The server's minute is not ours: it may count a request at any instant between sending and answer,
in a window that slides or in one that starts on the minute. So a request counts from before it is
sent until a full window after it ended. Whatever window the server uses, everything in it still
counts here, and the sum never exceeds the limit.
"""

import asyncio
import heapq
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

WINDOW = 60.0
"""Seconds over which a server counts."""

_MARGIN = 1.02  # the server's clock may run, or round, a little differently
_CATCH_UP = 0.05  # seconds: timers wake late, and this makes up for it


@dataclass
class Slot:
    """The slot of one request, and how many tokens are reserved for it."""

    tokens: int

    def charge(self, tokens: int) -> None:
        """Record how many tokens the request used.

        The count can only grow: servers charge the most that a request may use when it arrives,
        and do not give back the rest.
        """
        self.tokens = max(self.tokens, tokens)


class RateBudget:
    """The requests and tokens that count now, and when there is room for more."""

    def __init__(
        self,
        requests: int,
        tokens: int,
        window: float = WINDOW,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Allow `requests` and `tokens` per `window` seconds."""
        self._requests, self._tokens = requests, tokens
        self._window, self._clock = window * _MARGIN, clock
        self._counted_requests = self._counted_tokens = 0
        self._leaving: list[tuple[float, int]] = []  # (when it no longer counts, its tokens)
        self._not_before = -math.inf

    def wait(self, tokens: int) -> float:
        """Return the seconds until a request of `tokens` may be sent; inf: one must end first."""
        now = self._clock()
        while self._leaving and self._leaving[0][0] <= now:
            self._counted_requests -= 1
            self._counted_tokens -= heapq.heappop(self._leaving)[1]
        wait = self._not_before - now
        # A request above the limit by itself is sent when nothing else counts, or never would be.
        fits = self._counted_tokens + tokens <= self._tokens or not self._counted_requests
        if fits and self._counted_requests < self._requests:
            return wait
        return max(wait, self._leaving[0][0] - now if self._leaving else math.inf)

    def enter(self, tokens: int) -> None:
        """Note a request before it is sent, and space the next one evenly over the window.

        Servers may enforce a limit "per minute" second by second.
        """
        self._counted_requests += 1
        self._counted_tokens += tokens
        spacing = self._window / self._requests
        self._not_before = max(self._not_before, self._clock() - _CATCH_UP) + spacing

    def end(self, reserved: int, used: int) -> None:
        """Note that a request ended: it counts for one more window."""
        self._counted_tokens += used - reserved
        heapq.heappush(self._leaving, (self._clock() + self._window, used))

    def pause(self, seconds: float) -> None:
        """Let nothing through for a while, as the server requested."""
        self._not_before = max(self._not_before, self._clock() + seconds)


class Limiter:
    """Lets requests through as the budget and `in_flight` allow, in order of arrival."""

    def __init__(self, budget: RateBudget, in_flight: int) -> None:
        """Allow up to `in_flight` concurrent requests, if the budget has room."""
        self._budget = budget
        self._free_slots = asyncio.Semaphore(in_flight)
        self._turn = asyncio.Lock()
        self._ended = asyncio.Event()

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[Slot]:
        """Wait for a slot for a request of at most `tokens`, and hold it in the block."""
        async with self._free_slots:
            async with self._turn:
                while (wait := self._budget.wait(tokens)) > 0:
                    self._ended.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(None if math.isinf(wait) else wait):
                            await self._ended.wait()
                self._budget.enter(tokens)
            slot = Slot(tokens)
            try:
                yield slot
            finally:
                self._budget.end(reserved=tokens, used=slot.tokens)
                self._ended.set()

    def pause(self, seconds: float) -> None:
        """Let nothing through for a while."""
        self._budget.pause(seconds)
