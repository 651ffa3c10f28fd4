"""One attempt at captions for many descriptions: what is stored, what is asked, what it gave.

What is asked for together, and what follows on an answer that can't be used, is the same whether
answers come one by one, in a batch, or out of the cache. So a run that was killed, or that is run
again, asks for the same and finds what is stored.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from typing import NamedTuple

from pipeline.llm import answers
from pipeline.llm.answers import Reading
from pipeline.llm.cache import Cache, Entry
from pipeline.llm.outcomes import CallFailed, Next, Outcome
from pipeline.llm.request import Recipe, Request
from pipeline.llm.spending import OK, Unsettled

Ask = Callable[[Request], Awaitable[Reading]]
Result = tuple[str | None, str]
"""A caption, or None and the outcome's name."""

ASKS = 3
"""How often the same descriptions are asked for together before they are parted."""


class Chunk(NamedTuple):
    """Descriptions that are asked for together, for the `ask`-th time."""

    descriptions: tuple[str, ...]
    ask: int = 0


def cut(descriptions: Sequence[str], size: int) -> list[Chunk]:
    """Cut descriptions into chunks of at most `size`."""
    starts = range(0, len(descriptions), size)
    return [Chunk(tuple(descriptions[start : start + size])) for start in starts]


def next_chunks(chunk: Chunk, outcome: Outcome) -> list[Chunk]:
    """Return what is asked for next when `chunk` ended so; nothing if it has failed.

    Halves, down to one, so that a description that no model answers for, or that a server
    fails on however often it is tried, does not fail its neighbours.
    """
    if outcome.next is Next.ASK_AGAIN and chunk.ask + 1 < ASKS:
        return [chunk._replace(ask=chunk.ask + 1)]
    if outcome.next is not Next.STOP and len(chunk.descriptions) > 1:
        middle = len(chunk.descriptions) // 2
        return [Chunk(chunk.descriptions[:middle]), Chunk(chunk.descriptions[middle:])]
    return []


class Bound(NamedTuple):
    """The most that asking can take: requests, tokens in and tokens out."""

    requests: int
    tokens_in: int
    tokens_out: int


def upper_bound(size: int, fixed_in: int, text_in: int, most_out: int) -> Bound:
    """Return what a chunk takes at most, where every answer is unusable and as long as can be.

    All its parts down to single descriptions are asked for `ASKS` times each.

    Args:
        size: Descriptions in the chunk.
        fixed_in: Tokens of a request without its descriptions.
        text_in: Tokens of the chunk's descriptions; every level of halves asks for them all.
        most_out: Tokens of an answer at most.
    """
    requests = ASKS * (2 * size - 1)
    levels = (size - 1).bit_length() + 1
    return Bound(requests, requests * fixed_in + ASKS * levels * text_in, requests * most_out)


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
        self.chunks = cut(descriptions, per_request)
        self.stored: set[Chunk] = set()
        self.used: set[str] = set()
        self._look_up()
        self.reused = len(self.results)

    def _look_up(self) -> None:
        self.stored = {chunk for chunk in self.chunks if self._is_stored(chunk)}
        new = [chunk for chunk in self.chunks if chunk not in self.stored]
        captions = self._cache.captions(self._recipe.name) if new else {}
        alone = self._find_asked_alone(captions) if new else {}
        stored = captions.keys() | alone.keys()
        parted = {chunk for chunk in new if stored & set(chunk.descriptions)}
        texts = [text for chunk in new if chunk in parted for text in chunk.descriptions]
        self.results |= {text: (captions[text][0], OK) for text in texts if text in captions}
        self.used |= {captions[text][1] for text in self.results}
        left = [alone[text] for text in texts if text in alone]
        left += cut([text for text in texts if text not in stored], self._per_request)
        self.stored |= {chunk for chunk in left if self._is_stored(chunk)}
        self.chunks = [*(chunk for chunk in self.chunks if chunk not in parted), *left]

    def _find_asked_alone(self, captions: Container[str]) -> dict[str, Chunk]:
        """Return the first stored ask of each description that was asked for alone, in vain."""
        texts = self._cache.single_descriptions(self._recipe.name)
        asks = (Chunk((text,), ask) for ask in reversed(range(ASKS)) for text in texts)
        failed = (chunk for chunk in asks if chunk.descriptions[0] not in captions)
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
        return bool(self._cache.captions(self._recipe.name))

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
        reading = await self._read(self._recipe.request(*chunk), ask)
        self.results |= {text: (caption, OK) for text, caption in reading.captions.items()}
        if reading.outcome is None:
            return []
        rest = tuple(text for text in chunk.descriptions if text not in reading.captions)
        following = next_chunks(chunk._replace(descriptions=rest), reading.outcome)
        if not following:
            self.results |= dict.fromkeys(rest, (None, reading.outcome.name))
            self._unsettled.add(reading.outcome, len(rest))
        return following

    async def _read(self, request: Request, ask: Ask) -> Reading:
        if answer := self._cache.get(request):
            reading = answers.read(answer, request.asked)
        else:
            try:
                reading = await ask(request)
            except CallFailed as failure:
                self._unsettled.keep(failure)
                return Reading({}, failure.outcome)
        self.used.add(request.key)
        return reading
