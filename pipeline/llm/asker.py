"""The asker: all that one run asks one model for one purpose.

It asks through the cache, within the limits; `spent` is what it has cost. Several processes may ask
together, each as a worker (`as_worker`) with a share of the limits and its own cache inside the
lead's. The lead then takes over what they bought (`merge_worker_results`) and counts it as its own.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pipeline.core.progress import progress
from pipeline.core.sections import LanguageModel
from pipeline.llm.answer_cache import Cache
from pipeline.llm.answers import Found, Reading
from pipeline.llm.attempt import Attempt, Chunk
from pipeline.llm.breaker import Breaker
from pipeline.llm.client import Client, Endpoint
from pipeline.llm.dispatcher import Dispatcher
from pipeline.llm.limiter import WINDOW, Limiter, RateBudget
from pipeline.llm.outcomes import CallFailed, LLMError, Next, Outcome, Purpose
from pipeline.llm.request import Recipe, Request
from pipeline.llm.retry import Policy
from pipeline.llm.spending import FailureLog, Prices, Spending

_OPEN = 4  # chunks open per request in flight: those that wait for a retry use none


class Access(NamedTuple):
    """How to reach a server: at the environment's endpoint, unless another is given.

    `window` is the seconds of `limiter.WINDOW`.
    """

    endpoint: Endpoint | None = None
    policy: Policy | None = None
    window: float = WINDOW


class Unanswered(NamedTuple):
    """What a worker got no answer to; it is sent to the lead as JSON.

    `failures` counts requests by outcome; `given_up` has, by request, the outcome's name and hint
    and the server's message; `error` is why the worker stopped early, if it did.
    """

    failures: Mapping[str, int]
    given_up: Mapping[str, Sequence[str]]
    error: str | None


class Asker:
    """Asks one endpoint, as configured."""

    def __init__(
        self, settings: LanguageModel, purpose: Purpose, access: Access | None = None
    ) -> None:
        """Send nothing yet.

        Raises:
            UsageError: the environment's address or key is not valid.
        """
        self.spent = Spending(Prices(settings.input_price, settings.output_price))
        access = access or Access()
        self.endpoint = access.endpoint or Endpoint.from_environment()
        self._failures, self._breaker = FailureLog(purpose), Breaker(purpose)
        self._settings, self._purpose = settings, purpose
        self._policy = access.policy or Policy()
        self.cache = Cache(Path(settings.cache), purpose)
        self._is_worker = False
        self._budget = RateBudget(
            settings.requests_per_minute, settings.tokens_per_minute, access.window
        )

    def attempt(
        self, recipe: Recipe[Found], texts: Sequence[str], per_request: int
    ) -> Attempt[Found]:
        """Return an attempt at distinct texts: what is stored, and what is left to ask."""
        return Attempt(recipe, self.cache, per_request, texts, self._failures)

    def check_ready(self, attempt: Attempt[Found]) -> None:
        """Check that an attempt can be resolved, as far as is known without asking.

        Raises:
            UsageError: a key is needed, but missing.
        """
        if not attempt.is_stored:
            self.endpoint.require_key()

    def resolve(
        self, recipe: Recipe[Found], texts: Sequence[str], per_request: int, unit: str
    ) -> Attempt[Found]:
        """Get a result, or a reason, for every text; return the attempt with its results.

        Raises:
            LLMError: the account is empty, the key or model is wrong, the server is unreachable,
                or it sends no answers, or none that can be used.
            CacheError: another run is using the cache.
            UsageError: a key is needed, but missing.
        """
        with self.cache.lock():
            attempt = self.attempt(recipe, texts, per_request)
            self.spent.cache_hits += len(attempt.stored)
            self.spent.reused += attempt.reused
            self.check_ready(attempt)
            asyncio.run(self._ask(attempt, unit))
            # A single text may be to blame itself; if several fail, they share a reason.
            if not self._is_worker and attempt.size > 1 and not self.spent.was_answered:
                raise self._failures.error()
            for key, entry in attempt.used_entries():
                likely_in = partial(attempt.likely_in, entry)
                self.spent.count_towards_result(key, entry.answer, likely_in, entry.share)
        return attempt

    async def _ask(self, attempt: Attempt[Found], unit: str) -> None:
        """Ask for all chunks of an attempt; what is stored is read on the way."""
        if attempt.was_useful:
            self._breaker.mark_usable()
        in_flight, client = self._settings.in_flight, Client(self.endpoint, self._settings.timeout)
        dispatcher = Dispatcher(
            attempt.recipe,
            self._purpose,
            client,
            self._policy,
            self.cache,
            self.spent,
            self._breaker,
            Limiter(self._budget, in_flight),
            loaded=2 * in_flight,
        )

        async def ask(request: Request) -> Reading[Found]:
            if failure := self._failures.given_up.get(request.key):
                raise failure
            return await dispatcher.ask(request)

        with progress(self._purpose.section, total=attempt.size, unit=unit) as bar:
            bar.update(len(attempt.results))

            async def resolve(chunk: Chunk) -> None:
                await attempt.resolve(chunk, ask)
                bar.set_postfix_str(f"{self.spent.cost:.4f} USD", refresh=False)
                bar.update(len(chunk.texts))

            jobs = (partial(resolve, chunk) for chunk in attempt.chunks)
            async with client.sdk:
                await dispatcher.run(jobs, _OPEN * in_flight)

    def as_worker(self, *, is_useful: bool) -> None:
        """Ask as one of several processes: no answers here does not mean none anywhere.

        `is_useful`: the model has given usable answers before.
        """
        self._is_worker = True
        if is_useful:
            self._breaker.mark_usable()

    def list_unanswered(self, error: LLMError | None) -> Unanswered:
        """Return what this worker got no answer to."""
        given_up = {
            key: [failure.outcome.name, failure.outcome.hint, failure.message]
            for key, failure in self._failures.given_up.items()
        }
        return Unanswered(self.spent.failures, given_up, str(error) if error else None)

    def merge_worker_results(
        self, attempts: Iterable[Attempt[Found]], unanswered: Iterable[Unanswered]
    ) -> None:
        """Take over what workers bought within these limits, and count it as bought here.

        `attempts` are as they were before. What was given up is not sent again.

        Raises:
            LLMError: one of the workers had to stop.
        """
        merged, before, largest = self.cache.merge_shards(), self.spent.requests, 0
        for attempt in attempts:
            bought, asked = merged.get(attempt.recipe.name, set()), attempt.missing()
            largest = max([largest, *(request.most for request in asked)])
            self.spent.cache_hits -= sum(request.key in bought for request in asked)
            for _, entry in self.cache.entries(attempt.recipe.name, bought):
                self.spent.requests += 1
                self.spent.pay(entry.answer, partial(attempt.likely_in, entry))
                self.spent.count(attempt.recipe.read(entry.answer, entry.asked).outcome)
        errors = [self._merge_unanswered(report) for report in unanswered]
        self._budget.charge(self.spent.requests - before, largest)
        for error in filter(None, errors):
            raise LLMError(error)

    def _merge_unanswered(self, report: Unanswered) -> str | None:
        self.spent.requests += sum(report.failures.values())
        self.spent.failures.update(report.failures)
        self.spent.outcomes.update(report.failures)
        for key, (name, hint, message) in report.given_up.items():
            failure = CallFailed(Outcome(name, Next.GIVE_UP, hint), message)
            self._failures.give_up(key, failure)
        return report.error
