"""The only retry policy: the SDK's own is switched off, as it retries an empty account."""

import email.utils
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from pipeline.llm.outcomes import CallFailed, Next

T = TypeVar("T")


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

    async def call(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Call until there is a result.

        Raises:
            CallFailed: waiting does not help, or the call failed too often.
        """
        retrying = AsyncRetrying(
            retry=retry_if_exception(self.is_worth_waiting),
            stop=stop_after_attempt(self.tries),
            wait=self._wait,
            reraise=True,
        )

        async def once() -> T:  # tenacity awaits only what it recognizes as a coroutine function
            return await operation()

        return await retrying(once)

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


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a response asks to wait, if any; `now` is Unix time."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if not math.isnan(seconds):
            return max(0.0, seconds)
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, OverflowError):
        return None
    return max(0.0, date.timestamp() - now)
