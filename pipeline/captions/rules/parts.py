"""A long text in parts, each for itself: what looks back from every name is quadratic."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.names.base import Span

LONG = 1000
"""Characters up to which a text is one part. TVR's longest visual description has 458."""
# Four letters in lower case before it: the full stop of no title and no initial.
_ENDS = (re.compile(r"(?<=[a-z]{4}[.!?])\s+"), re.compile(r"\s+"))


class Part(NamedTuple):
    """A part of a text, with the names in it; their places are those in the part."""

    text: str
    spans: list[Span]


def parts(text: str, spans: Sequence[Span]) -> Iterator[Part]:
    """Yield a text as it is, or, if it is long, by sentences of together at most `LONG`."""
    start = 0
    while len(text) - start > LONG:
        end = _end(text, start)
        yield _part(text, spans, start, end)
        start = end
    yield _part(text, spans, start, len(text)) if start else Part(text, list(spans))


def _end(text: str, start: int) -> int:
    for pattern in _ENDS:
        if ends := [found.end() for found in pattern.finditer(text, start, start + LONG)]:
            return ends[-1]
    space = _ENDS[-1].search(text, start)
    return space.end() if space else len(text)


def _part(text: str, spans: Sequence[Span], start: int, end: int) -> Part:
    inside = (
        (max(span.start, start), min(span.end, end), span.score)
        for span in spans
        if span.start < end and span.end > start
    )
    return Part(
        text[start:end], [Span(a - start, b - start, text[a:b], score) for a, b, score in inside]
    )
