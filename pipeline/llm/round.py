"""One attempt at captions for many descriptions: what is stored, what is asked, what it gave."""

from collections import deque
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence

from pipeline.llm import answers, plan
from pipeline.llm.answers import Reading
from pipeline.llm.cache import Cache, Entry
from pipeline.llm.outcomes import CallFailed
from pipeline.llm.plan import Chunk
from pipeline.llm.request import Recipe, Request
from pipeline.llm.spending import OK
from pipeline.llm.unsettled import Unsettled

Ask = Callable[[Request], Awaitable[Reading]]
Result = tuple[str | None, str]
"""A caption, or None and the outcome's name."""


class Round:
    """The descriptions of one attempt; `results` holds what is settled, by description.

    `chunks` are left to settle: of those in `stored` the first answer is there. `used` are the
    keys of the answers that it read.
    """

    def __init__(
        self,
        recipe: Recipe,
        cache: Cache,
        per_request: int,
        descriptions: Sequence[str],
        unsettled: Unsettled,
    ) -> None:
        """Look up what is stored.

        A chunk whose first answer is stored goes through what was answered then, step by step.
        Of the others, a description whose caption came in other company has that one, and one
        that was asked for alone, without a caption, is not asked for so again.
        """
        self._recipe, self._cache, self._per_request = recipe, cache, per_request
        self._unsettled = unsettled
        self.results: dict[str, Result] = {}
        self.size = len(descriptions)
        self.chunks = plan.cut(descriptions, per_request)
        self.stored: set[Chunk] = set()
        self.used: set[str] = set()
        self._look_up()
        self.reused = len(self.results)

    def _look_up(self) -> None:
        self.stored = {chunk for chunk in self.chunks if self._is_stored(chunk)}
        new = [chunk for chunk in self.chunks if chunk not in self.stored]
        known = self._cache.known(self._recipe.name) if new else {}
        alone = self._stored_alone(known) if new else {}
        found = known.keys() | alone.keys()
        parted = {chunk for chunk in new if found & set(chunk.descriptions)}
        texts = [text for chunk in new if chunk in parted for text in chunk.descriptions]
        self.results |= {text: (known[text][0], OK) for text in texts if text in known}
        self.used |= {known[text][1] for text in self.results}
        left = [alone[text] for text in texts if text in alone]
        left += plan.cut([text for text in texts if text not in found], self._per_request)
        self.stored |= {chunk for chunk in left if self._is_stored(chunk)}
        self.chunks = [*(chunk for chunk in self.chunks if chunk not in parted), *left]

    def _stored_alone(self, known: Container[str]) -> dict[str, Chunk]:
        """Return the first stored ask of each description that was asked for alone, in vain."""
        texts = self._cache.asked_alone(self._recipe.name)
        asks = (Chunk((text,), ask) for ask in reversed(range(plan.ASKS)) for text in texts)
        failed = (chunk for chunk in asks if chunk.descriptions[0] not in known)
        return {chunk.descriptions[0]: chunk for chunk in failed if self._is_stored(chunk)}

    def _is_stored(self, chunk: Chunk) -> bool:
        return self._cache.get(self._recipe.request(*chunk)) is not None

    @property
    def is_stored(self) -> bool:
        """Whether nothing has to be sent, unless a stored answer was bad."""
        return len(self.stored) == len(self.chunks)

    @property
    def has_captions(self) -> bool:
        """Whether the model has ever answered this recipe with a caption."""
        return self._cache.has_captions(self._recipe.name)

    def missing(self) -> list[Request]:
        """Return the requests that will be sent first."""
        return [self._recipe.request(*chunk) for chunk in self.chunks if chunk not in self.stored]

    def serving(self) -> Iterator[tuple[str, Entry]]:
        """Yield every answer that the results rest on, by its key."""
        return self._cache.entries(self._recipe.name, self.used)

    def likely_in(self, entry: Entry) -> int:
        """Return the tokens that were paid for what was sent for an answer, about."""
        return self._recipe.request(list(entry.asked.values())).likely_in

    async def settle(self, chunk: Chunk, ask: Ask) -> None:
        """Ask until every description of a chunk has its caption or its reason.

        Both halves come before any quarter: so one description that fails brings answers
        between its failures, and is not taken for a server that is away.
        """
        left = deque([chunk])
        while left:
            left.extend(await self._step(left.popleft(), ask))

    async def _step(self, chunk: Chunk, ask: Ask) -> list[Chunk]:
        """Ask for a chunk once; return what is asked for next."""
        reading = await self._reading(self._recipe.request(*chunk), ask)
        self.results |= {text: (caption, OK) for text, caption in reading.captions.items()}
        if reading.outcome is None:
            return []
        rest = tuple(text for text in chunk.descriptions if text not in reading.captions)
        following = plan.after(chunk._replace(descriptions=rest), reading.outcome)
        if not following:
            self.results |= dict.fromkeys(rest, (None, reading.outcome.name))
            self._unsettled.add(reading.outcome, len(rest))
        return following

    async def _reading(self, request: Request, ask: Ask) -> Reading:
        if answer := self._cache.get(request):
            reading = answers.read(answer, request.asked)
        else:
            try:
                reading = await ask(request)
            except CallFailed as failure:
                self._unsettled.heard(failure)
                return Reading({}, failure.outcome)
        self.used.add(request.key)
        return reading
