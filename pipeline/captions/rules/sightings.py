"""Names that can be seen without a tagger: the cast's, and what is a name by its place."""

import re
from collections.abc import Callable, Collection

from pipeline.language import syntax
from pipeline.language.lexicon import words
from pipeline.names.base import Span
from pipeline.names.evidence.judging import is_name
from pipeline.names.evidence.surroundings import surroundings_of

Sighting = Callable[[str], list[Span]]

_SHORT_TITLES = "|".join(sorted(title.capitalize() for title in words("titles", "announcing")))
_TITLED = re.compile(rf"(?<!\w)(?:{_SHORT_TITLES})(?:\.\s*|\s+)(?!(?:An?|The)\b)([A-Z\d][\w-]*)")
_LOWER_FIRST = re.compile(r"\s*([a-z][\w-]*)")
_LOWER_TITLED = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted(words('titles', 'bare')))})\.? ([a-z]+)\b"
)
# Beside another capital (San Francisco), or after `in` and `from`, it may be a place.
_ALONE = re.compile(
    r"\b(?!in\b|from\b)[a-z][\w'\u2019-]*[,;]? (?P<name>[A-Z][a-z]+)"
    r"(?=['\u2019]s|\s+[^A-Z\s]|[.,;!?]|\s*$)"
)


def plain(text: str) -> list[Span]:
    """Return what stands after an abbreviated title, and usual first names in mid-sentence."""
    titled = [Span(*match.span(1), match[1], 1.0) for match in _TITLED.finditer(text)]
    alone = [Span(*found.span("name"), found["name"], 1.0) for found in _ALONE.finditer(text)]
    around = surroundings_of(text, alone)
    listed = (span for span, one in zip(alone, around, strict=True) if is_name(one))
    return [*titled, *_after_lower_title(text), *listed]


def opening(text: str, names: Collection[str]) -> list[Span]:
    """Return a known name that a text begins with, in lower case, as subject: `rook smiles`."""
    word = _LOWER_FIRST.match(text)
    verb = syntax.next_word(text[word.end() :]) if word else ""
    if not word or word[1] not in names or not syntax.is_singular_verb(verb):
        return []
    return [Span(*word.span(1), word[1], 1.0)]


def _after_lower_title(text: str) -> list[Span]:
    """Return what stands after a title without any article, as in `while captain rook talks`."""
    return [
        Span(*match.span(1), match[1], 1.0)
        for match in _LOWER_TITLED.finditer(text)
        if _begins_phrase(syntax.last_word(text[: match.start()]))
        and syntax.is_noun(match[1])
        and syntax.ends_noun_phrase(syntax.next_word(text[match.end() :]) or "and")
    ]


def _begins_phrase(before: str) -> bool:
    return before not in syntax.DETERMINERS and not syntax.is_noun(before)


def sighting_of(cast: Collection[str]) -> Sighting:
    """Return what finds the names of a cast, in lower case, and those plain to see."""
    either = "|".join(map(re.escape, sorted(cast, key=len, reverse=True)))
    if not either:
        return plain
    # However a cast list spells McKay, only a capital makes a name of a word.
    pattern = re.compile(rf"(?<![\w-])(?=[A-Z])(?i:{either})(?![\w-])")
    return lambda text: [
        *(Span(*match.span(), match[0], 1.0) for match in pattern.finditer(text)),
        *plain(text),
    ]
