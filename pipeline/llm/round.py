"""One attempt at captions for many descriptions: what is stored, what is asked, what it gave."""

from collections.abc import Awaitable, Callable, Sequence

from pipeline.llm import answers, plan
from pipeline.llm.answers import Answer, Reading
from pipeline.llm.cache import Cache
from pipeline.llm.outcomes import CallFailed
from pipeline.llm.plan import Chunk
from pipeline.llm.request import Recipe, Request
from pipeline.llm.spending import OK

Ask = Callable[[Request], Awaitable[Answer]]
Result = tuple[str | None, str]
"""A caption, or None and the outcome's name."""


class Round:
    """The descriptions of one attempt; `results` holds what is settled, by description."""

    def __init__(
        self, recipe: Recipe, cache: Cache, per_request: int, descriptions: Sequence[str]
    ) -> None:
        """Look up what is stored; `chunks` are left to settle.

        A chunk whose first answer is stored goes through what was answered then, step by step.
        Of the others, a description whose caption came in another company has that one.
        """
        self._recipe, self._cache = recipe, cache
        self.results: dict[str, Result] = {}
        self.size = len(descriptions)
        self._requests: dict[Chunk, Request] = {}
        chunks = plan.cut(descriptions, per_request)
        self._stored = {chunk for chunk in chunks if self._is_stored(chunk)}
        new = [chunk for chunk in chunks if chunk not in self._stored]
        known = cache.known(recipe.name) if new else {}
        whole = [chunk for chunk in new if not known.keys() & set(chunk.descriptions)]
        parted = [text for chunk in new if chunk not in whole for text in chunk.descriptions]
        self.results |= {text: (known[text], OK) for text in parted if text in known}
        left = plan.cut([text for text in parted if text not in known], per_request)
        self._stored |= {chunk for chunk in left if self._is_stored(chunk)}
        self.reused = len(self.results)
        self.chunks = [*(chunk for chunk in chunks if chunk in self._stored), *whole, *left]

    @property
    def hits(self) -> int:
        """How many chunks had their first answer when the round began."""
        return len(self._stored)

    @property
    def missing(self) -> list[Request]:
        """The requests that will be sent first."""
        return [self._request(chunk) for chunk in self.chunks if chunk not in self._stored]

    def _is_stored(self, chunk: Chunk) -> bool:
        return self._cache.get(self._request(chunk)) is not None

    def _request(self, chunk: Chunk) -> Request:
        if chunk not in self._requests:
            self._requests[chunk] = self._recipe.request(*chunk)
        return self._requests[chunk]

    async def settle(self, chunk: Chunk, ask: Ask) -> None:
        """Ask until every description of a chunk has its caption or its reason."""
        reading = await self._reading(self._request(chunk), ask)
        self.results |= {text: (caption, OK) for text, caption in reading.captions.items()}
        if reading.outcome is None:
            return
        rest = tuple(text for text in chunk.descriptions if text not in reading.captions)
        next_chunks = plan.after(chunk._replace(descriptions=rest), reading.outcome)
        for next_chunk in next_chunks:
            await self.settle(next_chunk, ask)
        if not next_chunks:
            self.results |= dict.fromkeys(rest, (None, reading.outcome.name))

    async def _reading(self, request: Request, ask: Ask) -> Reading:
        if answer := self._cache.get(request):
            return answers.read(answer, request.asked)
        try:
            return answers.read(await ask(request), request.asked)
        except CallFailed as failure:
            return Reading({}, failure.outcome)
