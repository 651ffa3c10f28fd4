"""Rewriting with a large language model (paper, section 3.1 and Appendix A).

Descriptions go out several at a time, each distinct one once, and come back by id. The first
attempt is at temperature 0, repairs at 0.2 with another seed. What the model would not or
could not rewrite has no caption, but the reason.
"""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from pipeline.captions.rewriter import Moment, Rewrite
from pipeline.core.progress import progress
from pipeline.core.sections import OpenAI
from pipeline.llm.batch import POLL, Batches
from pipeline.llm.breaker import Breaker
from pipeline.llm.cache import Cache
from pipeline.llm.client import Client, Endpoint
from pipeline.llm.dispatcher import Dispatcher, Session
from pipeline.llm.limiter import WINDOW, Limiter, RateBudget
from pipeline.llm.prompt import Prompt
from pipeline.llm.request import Recipe, Request
from pipeline.llm.retry import Policy
from pipeline.llm.round import Bound, Chunk, Round, cut, upper_bound
from pipeline.llm.spending import BATCH_SHARE, Prices, Spending, Unsettled

_OPEN = 4  # chunks open per request in flight: those that wait to be sent again hold no place


class Estimate(NamedTuple):
    """What rewriting would take, about; `stored` distinct descriptions are paid for already.

    `most_requests` and `most_cost` bound it from above.
    """

    descriptions: int
    stored: int
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float
    most_requests: int
    most_cost: float


class LlmRewriter:
    """The rewriter behind `rewrite.backend: openai`; `spent` tells what it has cost."""

    source = "llm"

    def __init__(  # noqa: PLR0913  (the last four are for tests and for other servers)
        self,
        settings: OpenAI,
        prompt: Prompt,
        *,
        endpoint: Endpoint | None = None,
        policy: Policy | None = None,
        window: float = WINDOW,
        poll: float = POLL,
    ) -> None:
        """Ask as `settings` say; the endpoint is the environment's unless given.

        `window` and `poll` are the seconds of `limiter.WINDOW` and `batch.POLL`.

        Raises:
            UsageError: the environment's address or key is not valid.
        """
        self.model: str | None = settings.model
        self.prompt: str | None = prompt.label
        self.spent = Spending(Prices(settings.input_price, settings.output_price))
        self._unsettled, self._breaker = Unsettled(), Breaker()
        self._settings, self._prompt = settings, prompt
        self._endpoint = endpoint or Endpoint.from_environment()
        self._policy, self._poll = policy or Policy(), poll
        self._cache = Cache(Path(settings.cache))
        self._budget = RateBudget(settings.requests_per_minute, settings.tokens_per_minute, window)

    def check_ready(self, moments: Sequence[Moment]) -> None:
        """Make sure that these can be rewritten, as far as is known without asking.

        Raises:
            UsageError: there is no key, and one is needed.
        """
        if self._endpoint.key is None and not self._round(moments, attempt=0).is_stored:
            self._endpoint.require_key()

    def rewrite(self, moments: Sequence[Moment], attempt: int) -> Iterator[Rewrite]:
        """Yield one rewrite for every moment, in their order.

        Raises:
            LLMError: the account is empty, the key or model is wrong, the server is gone, it
                answers nothing at all, or nothing that can be used.
            CacheError: another run is using the cache.
            UsageError: there is no key, and one is needed.
        """
        with self._cache.lock():
            current = self._round(moments, attempt)
            asyncio.run(self._settle(current))
        for moment in moments:
            yield Rewrite(moment.moment_id, *current.results[moment.description])

    def estimate(self, moments: Sequence[Moment], repairs: int = 0) -> Estimate:
        """Return what rewriting would take; nothing is sent, and no key is needed.

        Tokens are about a quarter of the bytes, and a caption as long as its description. What
        is asked again after an unusable answer, and the repairs, count for the upper bound alone:
        there all answers are unusable, and each is as long as it may be.

        Args:
            moments: What would be rewritten.
            repairs: How often a caption that fails a check is rewritten at most.
        """
        missing = self._round(moments, attempt=0).missing()
        texts = list(dict.fromkeys(moment.description for moment in moments))
        distinct = len(texts)
        again = cut(texts, self._settings.per_request)
        fixed_in = self._recipe(0).request([]).likely_in
        first = [self._bound(request, fixed_in) for request in missing]
        repair = [self._bound(self._recipe(1).request(*chunk), fixed_in) for chunk in again]
        bounds = [*first, *repair * repairs]
        tokens_in = sum(request.likely_in for request in missing)
        tokens_out = sum(request.likely_out for request in missing)
        share = BATCH_SHARE if self._settings.mode == "batch" else 1.0
        return Estimate(
            descriptions=distinct,
            stored=distinct - sum(len(request.asked) for request in missing),
            requests=len(missing),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=share * self.spent.prices.cost(tokens_in, tokens_out),
            most_requests=sum(bound.requests for bound in bounds),
            most_cost=sum(self.spent.prices.cost(*bound[1:]) for bound in bounds),
        )

    def _bound(self, request: Request, fixed_in: int) -> Bound:
        text_in = max(0, request.likely_in - fixed_in)
        most_out = self._settings.max_output_tokens
        return upper_bound(len(request.asked), fixed_in, text_in, most_out)

    def _round(self, moments: Sequence[Moment], attempt: int) -> Round:
        distinct = list(dict.fromkeys(moment.description for moment in moments))
        per_request = self._settings.per_request
        return Round(self._recipe(attempt), self._cache, per_request, distinct, self._unsettled)

    def _recipe(self, attempt: int) -> Recipe:
        settings = self._settings
        return Recipe(
            self._endpoint.url,
            settings.model,
            self._prompt,
            settings.max_output_tokens,
            attempt,
            settings.output_limit,
            settings.extra,
        )

    async def _settle(self, current: Round) -> None:
        """Bring every description of a round to its end."""
        self.spent.cache_hits += len(current.stored)
        self.spent.reused += current.reused
        if not current.is_stored:
            self._endpoint.require_key()
        client = Client(self._endpoint, self._settings.timeout)
        async with client.sdk:
            with progress("rewrite", total=current.size, unit="texts") as bar:
                bar.update(len(current.results))
                session = Session(client, self._policy, self._cache, self.spent, self._breaker)
                if self._settings.mode == "batch" and not current.is_stored:
                    tokens = self._settings.batch_tokens
                    batches = Batches(session, max_tokens=tokens, poll=self._poll)
                    await batches.fill(current.missing())
                # What no batch can settle, a bad answer or a refused request, goes on from here.
                await self._online(session, current, bar)
        # One description may be to blame for it; several fail for a reason that all share.
        if current.size > 1 and not self.spent.was_answered:
            raise self._unsettled.error()
        for key, entry in current.serving():
            likely_in = partial(current.likely_in, entry)
            self.spent.note_serving(key, entry.answer, likely_in, entry.share)

    async def _online(self, session: Session, current: Round, bar: "tqdm[Any]") -> None:
        in_flight = self._settings.in_flight
        dispatcher = Dispatcher(session, Limiter(self._budget, in_flight))
        if current.has_captions:
            self._breaker.prove()

        async def settle(chunk: Chunk) -> None:
            await current.settle(chunk, dispatcher.ask)
            bar.set_postfix_str(f"{self.spent.cost:.4f} USD", refresh=False)
            bar.update(len(chunk.descriptions))

        jobs = (partial(settle, chunk) for chunk in current.chunks)
        await dispatcher.run(jobs, _OPEN * in_flight)
