"""The asker: all that one run asks one model for one purpose, one attempt after the other.

It asks through the cache, within the limits; `spent` is what it has cost.

A text is what a model is asked about; its result is a caption or a level. Which texts are asked
together, and what follows an unusable answer, is the same whether answers come from the server or
from the cache. So a run that was killed, or that is repeated, makes the same requests and finds
what is stored.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple

from pipeline.core.progress import progress
from pipeline.core.sections import LanguageModel
from pipeline.llm.answer_cache import Cache, Entry
from pipeline.llm.answers import Found, Reading
from pipeline.llm.client import Client, Endpoint
from pipeline.llm.dispatcher import Breaker, Dispatcher, Policy
from pipeline.llm.limiter import WINDOW, Limiter, RateBudget
from pipeline.llm.outcomes import CallFailed, Next, Outcome, Purpose
from pipeline.llm.request import Recipe, Request
from pipeline.llm.spending import OK, FailureLog, Prices, Spending

Ask = Callable[[Request], Awaitable[Reading[Found]]]
Result = tuple[Found | None, str]
"""What was found, or None and the outcome's name."""

_OPEN = 4  # chunks open per request in flight: those that wait for a retry use none

ASKS = 3
"""How often the same texts are asked together before they are split."""


class Chunk(NamedTuple):
    """Texts that are asked together, for the `ask`-th time."""

    texts: tuple[str, ...]
    ask: int = 0


def cut(texts: Sequence[str], size: int) -> list[Chunk]:
    """Cut texts into chunks of at most `size`."""
    starts = range(0, len(texts), size)
    return [Chunk(tuple(texts[start : start + size])) for start in starts]


def next_chunks(chunk: Chunk, outcome: Outcome) -> list[Chunk]:
    """Return what to ask next after `chunk` ended so; nothing if it has failed.

    Chunks are halved down to single texts, so that a text that no model answers, or that a server
    always fails on, does not make its neighbours fail.
    """
    if outcome.next is Next.ASK_AGAIN and chunk.ask + 1 < ASKS:
        return [chunk._replace(ask=chunk.ask + 1)]
    if outcome.next is not Next.STOP and len(chunk.texts) > 1:
        middle = len(chunk.texts) // 2
        return [Chunk(chunk.texts[:middle]), Chunk(chunk.texts[middle:])]
    return []


class Attempt(Generic[Found]):
    """The texts of one attempt; `results` has what is resolved, by text.

    `chunks` are left to resolve; the first answer to those in `stored` is in the cache. `used` are
    the keys of the answers that were read.
    """

    def __init__(
        self,
        recipe: Recipe[Found],
        cache: Cache,
        per_request: int,
        texts: Sequence[str],
        failures: FailureLog,
    ) -> None:
        """Look up what is stored.

        A chunk whose first answer is stored replays the stored answers, step by step. In the other
        chunks, a text with a result from another chunk takes that one, and a text that was asked
        alone, without a result, is not asked alone again.
        """
        self.recipe, self._cache, self._per_request = recipe, cache, per_request
        self._failures = failures
        self.results: dict[str, Result[Found]] = {}
        self.size = len(texts)
        self.chunks = cut(texts, per_request)
        self.stored: set[Chunk] = set()
        self.used: set[str] = set()
        self._look_up()
        self.reused = len(self.results)

    def _look_up(self) -> None:
        self.stored = {chunk for chunk in self.chunks if self._is_stored(chunk)}
        new = [chunk for chunk in self.chunks if chunk not in self.stored]
        results = self._cache.list_results(self.recipe) if new else {}
        alone = self._find_asked_alone(results) if new else {}
        stored = results.keys() | alone.keys()
        split = {chunk for chunk in new if stored & set(chunk.texts)}
        texts = [text for chunk in new if chunk in split for text in chunk.texts]
        self.results |= {text: (results[text][0], OK) for text in texts if text in results}
        self.used |= {results[text][1] for text in self.results}
        left = [alone[text] for text in texts if text in alone]
        left += cut([text for text in texts if text not in stored], self._per_request)
        self.stored |= {chunk for chunk in left if self._is_stored(chunk)}
        self.chunks = [*(chunk for chunk in self.chunks if chunk not in split), *left]

    def _find_asked_alone(self, results: Container[str]) -> dict[str, Chunk]:
        """Return the first stored ask of each text that was asked alone, without a result."""
        texts = self._cache.single_texts(self.recipe.name)
        asks = (Chunk((text,), ask) for ask in reversed(range(ASKS)) for text in texts)
        failed = (chunk for chunk in asks if chunk.texts[0] not in results)
        return {chunk.texts[0]: chunk for chunk in failed if self._is_stored(chunk)}

    def _is_stored(self, chunk: Chunk) -> bool:
        return self._cache.get(self.recipe.request(*chunk)) is not None

    @property
    def is_stored(self) -> bool:
        """Whether nothing needs to be sent, unless a stored answer is bad."""
        return len(self.stored) == len(self.chunks)

    @property
    def was_useful(self) -> bool:
        """Whether the model has ever given this recipe a usable answer."""
        return bool(self._cache.list_results(self.recipe))

    def missing(self) -> list[Request]:
        """Return the requests that will be sent first."""
        return [self.recipe.request(*chunk) for chunk in self.chunks if chunk not in self.stored]

    def used_entries(self) -> Iterator[tuple[str, Entry]]:
        """Yield every answer that the results are based on, with its key."""
        return self._cache.entries(self.recipe.name, self.used)

    def likely_in(self, entry: Entry) -> int:
        """Return about how many input tokens were paid for an answer."""
        return self.recipe.request(list(entry.asked.values())).likely_in

    async def resolve(self, chunk: Chunk, ask: Ask[Found]) -> None:
        """Ask until every text of a chunk has a result or a reason.

        Both halves come before any quarter: so a failing text is asked between answered ones, and
        does not look like an unreachable server.
        """
        left = deque([chunk])
        while left:
            left.extend(await self._step(left.popleft(), ask))

    async def _step(self, chunk: Chunk, ask: Ask[Found]) -> list[Chunk]:
        """Ask for a chunk once; return what to ask next."""
        reading = await self._read(self.recipe.request(*chunk), ask)
        self.results |= {text: (result, OK) for text, result in reading.found.items()}
        if reading.outcome is None:
            return []
        rest = tuple(text for text in chunk.texts if text not in reading.found)
        following = next_chunks(chunk._replace(texts=rest), reading.outcome)
        if not following:
            self.results |= dict.fromkeys(rest, (None, reading.outcome.name))
            self._failures.count(reading.outcome, len(rest))
        return following

    async def _read(self, request: Request, ask: Ask[Found]) -> Reading[Found]:
        if answer := self._cache.get(request):
            reading = self.recipe.read(answer, request.asked)
        elif failure := self._failures.given_up.get(request.key):
            return Reading({}, failure.outcome)
        else:
            try:
                reading = await ask(request)
            except CallFailed as failure:
                self._failures.give_up(request.key, failure)
                return Reading({}, failure.outcome)
        self.used.add(request.key)
        return reading


class Access(NamedTuple):
    """How to reach a server: at the environment's endpoint, unless another is given.

    `window` is the seconds of `limiter.WINDOW`.
    """

    endpoint: Endpoint | None = None
    policy: Policy = Policy()
    window: float = WINDOW


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
        self._policy = access.policy
        self.cache = Cache(Path(settings.cache), purpose)
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
            if attempt.size > 1 and not self.spent.was_answered:
                raise self._failures.error()
            for key, entry in attempt.used_entries():
                likely_in = partial(attempt.likely_in, entry)
                self.spent.count_towards_result(key, entry.answer, likely_in)
        return attempt

    async def _ask(self, attempt: Attempt[Found], unit: str) -> None:
        """Ask for all chunks of an attempt; what is stored is read on the way."""
        self._breaker.is_usable |= attempt.was_useful
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

        with progress(self._purpose.section, total=attempt.size, unit=unit) as bar:
            bar.update(len(attempt.results))

            async def resolve(chunk: Chunk) -> None:
                await attempt.resolve(chunk, dispatcher.ask)
                bar.set_postfix_str(f"{self.spent.cost:.4f} USD", refresh=False)
                bar.update(len(chunk.texts))

            jobs = (partial(resolve, chunk) for chunk in attempt.chunks)
            async with client.sdk:
                await dispatcher.run(jobs, _OPEN * in_flight)
