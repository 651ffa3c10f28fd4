"""From the spans a tagger marks to whole names: `Ann` and `Lee` beside each other are one."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipeline.names import Span
from pipeline.rewriters.rules import syntax
from pipeline.rewriters.rules.gender import first_names
from pipeline.rewriters.rules.lexicon import TITLES


class Mark(NamedTuple):
    """A name in a text, at characters [start, end), without possessive."""

    start: int
    end: int


_LETTERS_BEFORE = re.compile(r"\w*$")
_LETTERS_AFTER = re.compile(r"\w*")
_NO_NAME = re.compile(r"^[\W_]+|(?:['\u2019`\u00b4]s|[\W_]+)$", re.IGNORECASE)


def marks(text: str, spans: Sequence[Span]) -> list[Mark]:
    """Return the names of a text in order, apart from each other."""
    found = sorted(_whole(text, [*spans, *_repeats(text, spans)]))
    joined: list[Mark] = []
    for mark in found:
        if joined and (mark.start < joined[-1].end or _is_one_name(text, joined[-1], mark)):
            joined[-1] = Mark(joined[-1].start, max(mark.end, joined[-1].end))
        else:
            joined.append(mark)
    return joined


def _repeats(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield every place of a marked name, for taggers that see one and miss another."""
    for name in sorted({span.text.strip() for span in spans}):
        if name[:1].isupper():
            for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                yield Span(match.start(), match.end(), name, 1.0)


def _whole(text: str, spans: Iterable[Span]) -> Iterator[Mark]:
    """Yield each span from its first to its last whole word."""
    for span in spans:
        start, end = max(span.start, 0), min(span.end, len(text))
        inner = text[start:end]
        if not re.search(r"\w", inner):
            continue
        lead = _NO_NAME.match(inner) if not inner[0].isalnum() else None
        start += lead.end() if lead else 0
        start -= len(_letters(_LETTERS_BEFORE, text[:start]))
        end += len(_letters(_LETTERS_AFTER, text[end:])) if text[end - 1].isalnum() else 0
        while (tail := _NO_NAME.search(text[start:end])) and tail.end() == end - start:
            end = start + tail.start()
        if start < end:
            yield Mark(start, end)


def _letters(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[0] if found else ""


def _is_one_name(text: str, first: Mark, second: Mark) -> bool:
    """Tell `hands Ann Lee's coat`, with one person, from `hands Ann Mary's coat`, with two."""
    name = text[first.start : first.end].lower()
    if name in TITLES or len(name) == 1:
        return bool(re.fullmatch(r"\.?\s*", text[first.end : second.start]))
    given = text[second.start : second.end].lower() in first_names()
    two = given and syntax.DITRANSITIVE.search(text[: first.start])
    return text[first.end : second.start].isspace() and not two
