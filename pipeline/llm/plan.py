"""Which descriptions are asked for together, and what follows on an answer that won't do.

Pure: the same whether answers come one by one, in a batch, or out of the cache. So a run that
was killed, or that is run again, asks for the same and finds what is stored.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.llm.outcomes import Next, Outcome

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


def after(chunk: Chunk, outcome: Outcome) -> list[Chunk]:
    """Return what is asked for next, when `chunk` ended so; nothing if it has failed.

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


def bound(size: int, fixed_in: int, text_in: int, most_out: int) -> Bound:
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
