"""The asker: all that one run asks one model for one purpose.

It works online or in batches, through the cache, within the limits; `spent` is what it has cost.
Several processes may ask together (`join`), each with a share of the limits and its own cache
inside the lead's. The lead then adopts what they bought (`adopt`) and counts it as its own.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from pipeline.core.progress import progress
from pipeline.core.sections import LanguageModel
from pipeline.llm.answers import Found, Reading
from pipeline.llm.batch import POLL, Batches
from pipeline.llm.breaker import Breaker
from pipeline.llm.cache import Cache
from pipeline.llm.client import Client, Endpoint
from pipeline.llm.dispatcher import Dispatcher, Session
from pipeline.llm.limiter import WINDOW, Limiter, RateBudget
from pipeline.llm.outcomes import CallFailed, LLMError, Next, Outcome, Purpose
from pipeline.llm.request import Recipe, Request
from pipeline.llm.retry import Policy
from pipeline.llm.round import Chunk, Round
from pipeline.llm.spending import Prices, Spending, Unsettled

_OPEN = 4  # chunks open per request in flight: those that wait for a retry take no place


class Access(NamedTuple):
    """How to reach a server: at the environment's endpoint, unless another is given.

    `window` and `poll` are the seconds of `limiter.WINDOW` and `batch.POLL`.
    """

    endpoint: Endpoint | None = None
    policy: Policy | None = None
    window: float = WINDOW
    poll: float = POLL


class Missed(NamedTuple):
    """What one of several processes got no answer to; it is sent as JSON to the one that adopts.

    `failures` counts requests by outcome; `given_up` has, by request, the outcome's name and hint
    and the server's message; `error` is why the process stopped early, if it did.
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
        self._unsettled, self._breaker = Unsettled(purpose), Breaker(purpose)
        self._settings, self._purpose = settings, purpose
        self._policy, self._poll = access.policy or Policy(), access.poll
        self.cache = Cache(Path(settings.cache), purpose)
        self._is_alone = True
        self._budget = RateBudget(
            settings.requests_per_minute, settings.tokens_per_minute, access.window
        )

    def round(self, recipe: Recipe[Found], texts: Sequence[str], per_request: int) -> Round[Found]:
        """Return a round for distinct texts: what is stored, and what is left to ask."""
        return Round(recipe, self.cache, per_request, texts, self._unsettled)

    def check_ready(self, current: Round[Found]) -> None:
        """Check that a round can be settled, as far as is known without asking.

        Raises:
            UsageError: a key is needed, but missing.
        """
        if self.endpoint.key is None and not current.is_stored:
            self.endpoint.require_key()

    def settle(
        self,
        recipe: Recipe[Found],
        texts: Sequence[str],
        per_request: int,
        unit: str,
        *,
        online: bool = False,
    ) -> Round[Found]:
        """Get a result, or a reason, for every text; return the round with its results.

        `online`: ask online, whatever the mode.

        Raises:
            LLMError: the account is empty, the key or model is wrong, the server is unreachable,
                or it sends no answers, or none that can be used.
            CacheError: another run is using the cache.
            UsageError: a key is needed, but missing.
        """
        with self.cache.lock():
            current = self.round(recipe, texts, per_request)
            in_batches = self._settings.mode == "batch" and not online
            asyncio.run(self._settle(current, recipe, unit, in_batches=in_batches))
        return current

    def join(self, *, is_useful: bool) -> None:
        """Ask as one of several processes: no answers here does not mean none anywhere.

        `is_useful`: the model has given usable answers before.
        """
        self._is_alone = False
        if is_useful:
            self._breaker.prove()

    def list_missed(self, error: LLMError | None) -> Missed:
        """Return what this process, one of several, got no answer to."""
        failures = self._unsettled.given_up.items()
        given_up = {key: [one.outcome.name, one.outcome.hint, one.said] for key, one in failures}
        return Missed(self.spent.failures, given_up, str(error) if error else None)

    def adopt(self, rounds: Iterable[Round[Found]], missed: Iterable[Missed]) -> None:
        """Adopt what other processes bought within these limits, and count it as bought here.

        `rounds` are the rounds as they were before. What was given up is not sent again.

        Raises:
            LLMError: one of the processes had to stop.
        """
        adopted, before, largest = self.cache.adopt(), self.spent.requests, 0
        for current in rounds:
            bought, asked = adopted.get(current.recipe.name, set()), current.missing()
            largest = max([largest, *(request.most for request in asked)])
            self.spent.cache_hits -= sum(request.key in bought for request in asked)
            for _, entry in self.cache.entries(current.recipe.name, bought):
                self.spent.requests += 1
                self.spent.pay(entry.answer, partial(current.likely_in, entry), entry.share)
                self.spent.count(current.recipe.read(entry.answer, entry.asked).outcome)
        errors = [self._adopt_missed(one) for one in missed]
        self._budget.charge(self.spent.requests - before, largest)
        for error in filter(None, errors):
            raise LLMError(error)

    def _adopt_missed(self, missed: Missed) -> str | None:
        self.spent.requests += sum(missed.failures.values())
        self.spent.failures.update(missed.failures)
        self.spent.outcomes.update(missed.failures)
        for key, (name, hint, said) in missed.given_up.items():
            self._unsettled.keep(key, CallFailed(Outcome(name, Next.GIVE_UP, hint), said))
        return missed.error

    async def _settle(
        self, current: Round[Found], recipe: Recipe[Found], unit: str, *, in_batches: bool
    ) -> None:
        self.spent.cache_hits += len(current.stored)
        self.spent.reused += current.reused
        if not current.is_stored:
            self.endpoint.require_key()
        client = Client(self.endpoint, self._settings.timeout)
        async with client.sdk:
            with progress(self._purpose.section, total=current.size, unit=unit) as bar:
                bar.update(len(current.results))
                session = Session(
                    recipe,
                    self._purpose,
                    client,
                    self._policy,
                    self.cache,
                    self.spent,
                    self._breaker,
                )
                if in_batches and not current.is_stored:
                    tokens = self._settings.batch_tokens
                    batches = Batches(session, max_tokens=tokens, poll=self._poll)
                    await batches.fill(current.missing())
                # What batches can't settle (bad answers, refused requests) continues from here.
                await self._online(session, current, bar)
        # A single text may be to blame itself; if several fail, they share a reason.
        if self._is_alone and current.size > 1 and not self.spent.was_answered:
            raise self._unsettled.error()
        for key, entry in current.serving():
            likely_in = partial(current.likely_in, entry)
            self.spent.note_serving(key, entry.answer, likely_in, entry.share)

    async def _online(
        self, session: Session[Found], current: Round[Found], bar: "tqdm[Any]"
    ) -> None:
        in_flight = self._settings.in_flight
        dispatcher = Dispatcher(session, Limiter(self._budget, in_flight), 2 * in_flight)
        if current.was_useful:
            self._breaker.prove()

        async def ask(request: Request) -> Reading[Found]:
            if failure := self._unsettled.given_up.get(request.key):
                raise failure
            return await dispatcher.ask(request)

        async def settle(chunk: Chunk) -> None:
            await current.settle(chunk, ask)
            bar.set_postfix_str(f"{self.spent.cost:.4f} USD", refresh=False)
            bar.update(len(chunk.texts))

        jobs = (partial(settle, chunk) for chunk in current.chunks)
        await dispatcher.run(jobs, _OPEN * in_flight)
