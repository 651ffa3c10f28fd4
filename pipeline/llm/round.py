"""One attempt at many texts: what is stored, what is asked, what it gave.

A text is what a model is asked about, and stands for its caption, or its level.

What is asked for together, and what follows on an answer that can't be used, is the same whether
answers come one by one, in a batch, or out of the cache. So a run that was killed, or that is run
again, asks for the same and finds what is stored.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from typing import Generic, NamedTuple

from pipeline.llm.answers import Found, Reading
from pipeline.llm.cache import Cache, Entry
from pipeline.llm.outcomes import CallFailed, Next, Outcome
from pipeline.llm.request import Recipe, Request
from pipeline.llm.spending import OK, Unsettled

Ask = Callable[[Request], Awaitable[Reading[Found]]]
Result = tuple[Found | None, str]
"""What was found, or None and the outcome's name."""

ASKS = 3
"""How often the same texts are asked for together before they are parted."""


class Chunk(NamedTuple):
    """Texts that are asked for together, for the `ask`-th time."""

    texts: tuple[str, ...]
    ask: int = 0


def cut(texts: Sequence[str], size: int) -> list[Chunk]:
    """Cut texts into chunks of at most `size`."""
    starts = range(0, len(texts), size)
    return [Chunk(tuple(texts[start : start + size])) for start in starts]


def next_chunks(chunk: Chunk, outcome: Outcome) -> list[Chunk]:
    """Return what is asked for next when `chunk` ended so; nothing if it has failed.

    Halves, down to one, so that a text that no model answers for, or that a server
    fails on however often it is tried, does not fail its neighbours.
    """
    if outcome.next is Next.ASK_AGAIN and chunk.ask + 1 < ASKS:
        return [chunk._replace(ask=chunk.ask + 1)]
    if outcome.next is not Next.STOP and len(chunk.texts) > 1:
        middle = len(chunk.texts) // 2
        return [Chunk(chunk.texts[:middle]), Chunk(chunk.texts[middle:])]
    return []


class Bound(NamedTuple):
    """The most that asking can take: requests, tokens in and tokens out."""

    requests: int
    tokens_in: int
    tokens_out: int


def upper_bound(size: int, fixed_in: int, text_in: int, most_out: int) -> Bound:
    """Return what a chunk takes at most, where every answer is unusable and as long as can be.

    All its parts down to single texts are asked for `ASKS` times each.

    Args:
        size: Texts in the chunk.
        fixed_in: Tokens of a request without its texts.
        text_in: Tokens of the chunk's texts; every level of halves asks for them all.
        most_out: Tokens of an answer at most.
    """
    requests = ASKS * (2 * size - 1)
    levels = (size - 1).bit_length() + 1
    return Bound(requests, requests * fixed_in + ASKS * levels * text_in, requests * most_out)


class Round(Generic[Found]):
    """The texts of one attempt; `results` holds what is settled, by text.

    `chunks` are left to settle: of those in `stored` the first answer is there. `used` are the
    keys of the answers that it read.
    """

    def __init__(
        self,
        recipe: Recipe[Found],
        cache: Cache,
        per_request: int,
        texts: Sequence[str],
        unsettled: Unsettled,
    ) -> None:
        """Look up what is stored.

        A chunk whose first answer is stored goes through what was answered then, step by step.
        Of the others, a text whose result came in other company has that one, and one that was
        asked for alone, without a result, is not asked for so again.
        """
        self.recipe, self._cache, self._per_request = recipe, cache, per_request
        self._unsettled = unsettled
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
        found = self._cache.found(self.recipe) if new else {}
        alone = self._find_asked_alone(found) if new else {}
        stored = found.keys() | alone.keys()
        parted = {chunk for chunk in new if stored & set(chunk.texts)}
        texts = [text for chunk in new if chunk in parted for text in chunk.texts]
        self.results |= {text: (found[text][0], OK) for text in texts if text in found}
        self.used |= {found[text][1] for text in self.results}
        left = [alone[text] for text in texts if text in alone]
        left += cut([text for text in texts if text not in stored], self._per_request)
        self.stored |= {chunk for chunk in left if self._is_stored(chunk)}
        self.chunks = [*(chunk for chunk in self.chunks if chunk not in parted), *left]

    def _find_asked_alone(self, found: Container[str]) -> dict[str, Chunk]:
        """Return the first stored ask of each text that was asked for alone, in vain."""
        texts = self._cache.single_texts(self.recipe.name)
        asks = (Chunk((text,), ask) for ask in reversed(range(ASKS)) for text in texts)
        failed = (chunk for chunk in asks if chunk.texts[0] not in found)
        return {chunk.texts[0]: chunk for chunk in failed if self._is_stored(chunk)}

    def _is_stored(self, chunk: Chunk) -> bool:
        return self._cache.get(self.recipe.request(*chunk)) is not None

    @property
    def is_stored(self) -> bool:
        """Whether nothing has to be sent, unless a stored answer was bad."""
        return len(self.stored) == len(self.chunks)

    @property
    def was_useful(self) -> bool:
        """Whether the model has ever answered this recipe with what can be used."""
        return bool(self._cache.found(self.recipe))

    def missing(self) -> list[Request]:
        """Return the requests that will be sent first."""
        return [self.recipe.request(*chunk) for chunk in self.chunks if chunk not in self.stored]

    def serving(self) -> Iterator[tuple[str, Entry]]:
        """Yield every answer that the results rest on, by its key."""
        return self._cache.entries(self.recipe.name, self.used)

    def likely_in(self, entry: Entry) -> int:
        """Return the tokens that were paid for what was sent for an answer, about."""
        return self.recipe.request(list(entry.asked.values())).likely_in

    async def settle(self, chunk: Chunk, ask: Ask[Found]) -> None:
        """Ask until every text of a chunk has its result or its reason.

        Both halves come before any quarter: so one text that fails brings answers
        between its failures, and is not taken for a server that is away.
        """
        left = deque([chunk])
        while left:
            left.extend(await self._step(left.popleft(), ask))

    async def _step(self, chunk: Chunk, ask: Ask[Found]) -> list[Chunk]:
        """Ask for a chunk once; return what is asked for next."""
        reading = await self._read(self.recipe.request(*chunk), ask)
        self.results |= {text: (found, OK) for text, found in reading.found.items()}
        if reading.outcome is None:
            return []
        rest = tuple(text for text in chunk.texts if text not in reading.found)
        following = next_chunks(chunk._replace(texts=rest), reading.outcome)
        if not following:
            self.results |= dict.fromkeys(rest, (None, reading.outcome.name))
            self._unsettled.add(reading.outcome, len(rest))
        return following

    async def _read(self, request: Request, ask: Ask[Found]) -> Reading[Found]:
        if answer := self._cache.get(request):
            reading = self.recipe.read(answer, request.asked)
        else:
            try:
                reading = await ask(request)
            except CallFailed as failure:
                self._unsettled.keep(request.key, failure)
                return Reading({}, failure.outcome)
        self.used.add(request.key)
        return reading
