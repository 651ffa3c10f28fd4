"""The context of a word with a capital: the name it is part of, and the words around that."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.language.syntax import LINKS, PREPOSITIONS
from pipeline.names import truecase
from pipeline.names.base import Span
from pipeline.names.evidence.lists import is_word

MIN_WORDS = 3
"""The fewest words of `LONG` letters in a headline, apart from its first one."""
LONG = 4
"""Letters of a word that a headline capitalises, whatever it is."""
HEADLINE = 0.9
"""From this share of such words with a capital, a text is a headline."""

NEAR = 4
"""Candidates before and after one that are its company."""
STRETCH = 200
"""Characters before and after a candidate that are read."""

_BEFORE = re.compile(r"(?:^|[^\w'\u2019-])([^\W\d_][\w'\u2019-]*\.?)\s+$")
_AFTER = re.compile(r"\s+([^\W\d_][\w'\u2019-]*)")


class Surroundings(NamedTuple):
    """A candidate for a name in its text.

    Attributes:
        keys: its words in lower case, without possessive.
        run: the words with a capital that it is among, with only spaces between: both words
            of `the Chinese Theater`.
        left: the text shortly before that run.
        right: what follows it, possessive included.
        at_start: the run begins a sentence, where any word has a capital.
        headline: the text capitalises ordinary words too.
        quoted: it is in a quotation.
        company: the words of the candidates near it, in lower case.
        is_lower: none of its words has a capital.
    """

    keys: tuple[str, ...]
    run: tuple[str, ...]
    left: str
    right: str
    at_start: bool
    headline: bool
    quoted: bool = False
    company: frozenset[str] = frozenset()
    is_lower: bool = False

    @property
    def is_possessive(self) -> bool:
        """Tell whether it is possessive: Ann's."""
        return self.right[:2] in ("'s", "\u2019s")

    def before(self, count: int = 1) -> list[str]:
        """Return up to `count` words before the run, in lower case, the nearest first."""
        return list(_words_before(self.left, count))

    def after(self, count: int = 1) -> list[str]:
        """Return up to `count` words after the run, in lower case; none after punctuation."""
        return list(_words_after(self.right, count))

    def owned(self, count: int = 1) -> list[str]:
        """Return up to `count` words after a possessive, in lower case."""
        return list(_words_after(self.right[2:], count))


def surroundings_of(text: str, spans: Sequence[Span]) -> list[Surroundings]:
    """Return the surroundings of each span of a text."""
    words = list(truecase.words(text)) if spans else []
    headline = bool(spans) and is_headline(words)
    found = [_around(text, span, words, headline) for span in spans]
    return [around._replace(company=_company(found, at)) for at, around in enumerate(found)]


def _company(surroundings: Sequence[Surroundings], at: int) -> frozenset[str]:
    near = surroundings[max(at - NEAR, 0) : at + NEAR + 1]
    return frozenset(key for other in near for key in other.keys).difference(surroundings[at].keys)


def _around(text: str, span: Span, words: Sequence[truecase.Word], headline: bool) -> Surroundings:
    inside = [n for n, w in enumerate(words) if w.start < span.end and w.end > span.start]
    if not inside:
        return Surroundings((), (), text[: span.start], text[span.end :], False, headline)
    first, last = inside[0], inside[-1]
    while first and _is_linked(text, words[first - 1], words[first]):
        first -= 1
    while last + 1 < len(words) and _is_linked(text, words[last], words[last + 1]):
        last += 1
    return Surroundings(
        keys=tuple(words[n].key for n in inside),
        run=tuple(word.key for word in words[first : last + 1]),
        left=text[max(words[first].start - STRETCH, 0) : words[first].start],
        right=text[words[last].end : words[last].end + STRETCH],
        at_start=words[first].is_first,
        headline=headline,
        quoted=opens_quote(text[: span.start]),
        is_lower=all(words[n].is_lower for n in inside),
    )


def _is_linked(text: str, first: truecase.Word, second: truecase.Word) -> bool:
    between = text[first.end : second.start]
    short = first.end - first.start == 1 or first.key in truecase.ABBREVIATIONS
    linked = between.isspace() or (between in (".", ". ") and short)
    return linked and not first.is_lower and not second.is_lower


def opens_quote(left: str) -> bool:
    """Tell whether a text continues inside a quotation."""
    return left.count('"') % 2 == 1 or left.count("\u201c") > left.count("\u201d")


def is_headline(words: Sequence[truecase.Word]) -> bool:
    """Tell whether ordinary words have a capital: Couple Walks Through Market."""
    small = PREPOSITIONS | LINKS
    inner = [
        word
        for word in words
        if not word.is_first and word.end - word.start >= LONG and word.key not in small
    ]
    capitals = [word for word in inner if not word.is_lower]
    if len(inner) < MIN_WORDS or len(capitals) < HEADLINE * len(inner):
        return False
    ordinary = sum(is_word(word.key) for word in capitals)
    return ordinary > 1 and 2 * ordinary >= len(capitals)


def _words_before(left: str, count: int) -> Iterator[str]:
    for _ in range(count):
        match = _BEFORE.search(left)
        if not match:
            return
        yield match[1].rstrip(".").lower()
        left = left[: match.start(1)]


def _words_after(right: str, count: int) -> Iterator[str]:
    for _ in range(count):
        match = _AFTER.match(right)
        if not match:
            return
        yield match[1].lower()
        right = right[match.end() :]
