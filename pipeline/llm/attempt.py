"""One attempt at many texts: what is stored, what is asked, and the results.

A text is what a model is asked about; its result is a caption or a level.

Which texts are asked together, and what follows an unusable answer, is the same whether answers
come from the server or from the cache. So a run that was killed, or that is repeated, makes the
same requests and finds what is stored.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Container, Iterator, Sequence
from typing import Generic, NamedTuple

from pipeline.llm.answer_cache import Cache, Entry
from pipeline.llm.answers import Found, Reading
from pipeline.llm.outcomes import CallFailed, Next, Outcome
from pipeline.llm.request import Recipe, Request
from pipeline.llm.spending import OK, FailureLog

Ask = Callable[[Request], Awaitable[Reading[Found]]]
Result = tuple[Found | None, str]
"""What was found, or None and the outcome's name."""

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


class Bound(NamedTuple):
    """An upper bound for asking: requests, tokens in and tokens out."""

    requests: int
    tokens_in: int
    tokens_out: int


def upper_bound(size: int, fixed_in: int, text_in: int, most_out: int) -> Bound:
    """Return the most that a chunk can take: every answer is unusable and as long as possible.

    It is halved down to single texts, and every half is asked `ASKS` times.

    Args:
        size: Texts in the chunk.
        fixed_in: Tokens of a request without its texts.
        text_in: Tokens of the chunk's texts; every level of halves sends them all.
        most_out: Tokens of an answer at most.
    """
    requests = ASKS * (2 * size - 1)
    levels = (size - 1).bit_length() + 1
    return Bound(requests, requests * fixed_in + ASKS * levels * text_in, requests * most_out)


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
        else:
            try:
                reading = await ask(request)
            except CallFailed as failure:
                self._failures.give_up(request.key, failure)
                return Reading({}, failure.outcome)
        self.used.add(request.key)
        return reading
