"""From the spans a tagger marks to whole names: `Ann` and `Lee` beside each other are one."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipeline.language import syntax
from pipeline.language.lexicon import BARE_ADJECTIVES, PLURAL_TITLES, TITLES
from pipeline.names.base import Span
from pipeline.names.evidence.lists import first_names


class Mark(NamedTuple):
    """A name in a text, at characters [start, end), without possessive.

    It is `loose` where only its last words were marked, as `Lagoon` of `Blue Lagoon`.
    """

    start: int
    end: int
    loose: bool = False


_BEFORE_NAMES = BARE_ADJECTIVES | TITLES.keys() | PLURAL_TITLES.keys()
_LETTERS_BEFORE = re.compile(r"\w*$")
_LETTERS_AFTER = re.compile(r"\w*")
_LINK = re.compile(r"\s*[,;:&/]\s*(?:(?:and|then)\b\s*)*|\s+(?:and\s+)?|(?<=[a-z]{2})\.(?=[A-Z])")
_CAPITAL_BEFORE = re.compile(r"(?:(?P<lower>[a-z,;]\s)|^\s*)([A-Z][\w-]*)\s+$")
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
    ends = [0, *(mark.end for mark in joined)]
    return [
        _with_capital_before(text, mark, taken) for mark, taken in zip(joined, ends, strict=False)
    ]


def _with_capital_before(text: str, mark: Mark, taken: int) -> Mark:
    """Take a word with a capital before a name to it, unless a sentence begins so."""
    found = _CAPITAL_BEFORE.search(text[: mark.start])
    word = found[2].lower() if found else ""
    if not found or found.start(2) < taken or word in _BEFORE_NAMES:
        return mark
    within = found["lower"] is not None
    begins = word in syntax.PHRASE_STARTS or word.endswith(("ing", "ed", "ly"))
    return mark if begins and not within else Mark(found.start(2), mark.end, loose=True)


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
        if start < end and not _is_number(text, start, end):
            yield from _apart(text, start, end)


def _is_number(text: str, start: int, end: int) -> bool:
    """Tell the digits of `room 13` from a person whom others call 13."""
    before = syntax.last_word(text[:start])
    return text[start:end].isdigit() and syntax.is_noun(before) and before not in TITLES


def _apart(text: str, start: int, end: int) -> Iterator[Mark]:
    """Yield the single names of a span: what belongs together is joined again."""
    at = start
    for link in [*_LINK.finditer(text, start, end), None]:
        stop = link.start() if link else end
        if text[at:stop].strip():
            yield Mark(at, stop)
        at = link.end() if link else end


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
