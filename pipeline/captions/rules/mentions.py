"""Mentions of people: which characters are a name, with its title and possessive.

A tagger marks spans; a cast list and the position of a word show further ones. Adjacent spans are
one name, `Ann` and `Lee`, and a name with its title and possessive is a mention.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from pipeline.language import syntax
from pipeline.language.lexicon import (
    BARE_ADJECTIVES,
    GENDER_OF_NOUN,
    PLURAL_TITLES,
    TITLES,
    title_key,
    title_pattern,
    words,
)
from pipeline.names.base import Span
from pipeline.names.evidence.judging import is_name
from pipeline.names.evidence.lists import first_names, is_elsewhere, lemmas, may_be_adverb
from pipeline.names.evidence.surroundings import surroundings_of
from pipeline.names.refinement import is_of_event

# Names that a tagger need not mark

_SHORT_TITLES = "|".join(sorted(title.capitalize() for title in words("titles", "announcing")))
_TITLED = re.compile(rf"(?<!\w)(?:{_SHORT_TITLES})(?:\.\s*|\s+)(?!(?:An?|The)\b)([A-Z\d][\w-]*)")
_LOWER_FIRST = re.compile(r"\s*([a-z][\w-]*)")
_LOWER_TITLED = re.compile(
    rf"(?<![\w-])(?:{'|'.join(sorted(words('titles', 'bare')))})\.? ([a-z]+)\b"
)
# Next to another capital (San Francisco), or after `in` or `from`, it may be a place.
_ALONE = re.compile(
    r"\b(?!in\b|from\b)[a-z][\w'\u2019-]*[,;]? (?P<name>[A-Z][a-z]+)"
    r"(?=['\u2019]s|\s+[^A-Z\s]|[.,;!?]|\s*$)"
)


def cast_finder(cast: Collection[str]) -> Callable[[str], list[Span]]:
    """Return a finder of a cast's names, in lower case, and of obvious names."""
    either = "|".join(map(re.escape, sorted(cast, key=len, reverse=True)))
    if not either:
        return _find_plain
    # However a cast list spells McKay, a word is a name only with a capital.
    pattern = re.compile(rf"(?<![\w-])(?=[A-Z])(?i:{either})(?![\w-])")
    return lambda text: [*(_span(match) for match in pattern.finditer(text)), *_find_plain(text)]


def find_opening(text: str, names: Collection[str]) -> list[Span]:
    """Return a known name in lower case that begins a text as its subject: `rook smiles`."""
    word = _LOWER_FIRST.match(text)
    verb = syntax.next_word(text[word.end() :]) if word else ""
    return [_span(word, 1)] if word and word[1] in names and syntax.is_singular_verb(verb) else []


def _find_plain(text: str) -> list[Span]:
    """Return names after an abbreviated title, and common first names in mid-sentence."""
    alone = [_span(match, "name") for match in _ALONE.finditer(text)]
    around = surroundings_of(text, alone)
    return [
        *(_span(match, 1) for match in _TITLED.finditer(text)),
        *(_span(match, 1) for match in _LOWER_TITLED.finditer(text) if _is_name_there(text, match)),
        *(span for span, nearby in zip(alone, around, strict=True) if is_name(nearby)),
    ]


def _is_name_there(text: str, titled: re.Match[str]) -> bool:
    """Find a name after a title without an article, as in `while captain rook talks`."""
    before = syntax.last_word(text[: titled.start()])
    after = syntax.next_word(text[titled.end() :]) or "and"
    begins_phrase = before not in syntax.DETERMINERS and not syntax.is_noun(before)
    return begins_phrase and syntax.is_noun(titled[1]) and syntax.ends_noun_phrase(after)


def _span(match: re.Match[str], group: int | str = 0) -> Span:
    return Span(*match.span(group), match[group], 1.0)


# From spans to whole names


class Name(NamedTuple):
    """A name in a text, at characters [start, end), without possessive.

    It is `loose` if only its last words were marked, such as `Lagoon` in `Blue Lagoon`.
    """

    start: int
    end: int
    loose: bool = False


_BEFORE_NAMES = BARE_ADJECTIVES | TITLES.keys() | PLURAL_TITLES.keys()
_LETTERS_BEFORE = re.compile(r"\w*$")
_LETTERS_AFTER = re.compile(r"\w*")
_LINK = re.compile(r"\s*[,;:&/]\s*(?:(?:and|then)\b\s*)*|\s+(?:and\s+)?|(?<=[a-z]{2})\.(?=[A-Z])")
_CAPITAL_BEFORE = re.compile(r"(?:(?P<lower>[a-z,;]\s)|^\s*)([A-Z][\w-]*)\s+$")
_OF_FEASTS = frozenset(("day", "eve", "evening", "morning", "night"))
_NO_NAME = re.compile(r"^[\W_]+|(?:['\u2019`\u00b4]s|(?<!\bJr)(?<!\bSr)[\W_]+)$", re.IGNORECASE)


def _find_names(text: str, spans: Sequence[Span]) -> Iterator[Name]:
    """Yield the names in a text in order, without overlaps."""
    joined: list[Name] = []
    for name in sorted(_single_names(text, [*spans, *_repeats(text, spans)])):
        if joined and (name.start < joined[-1].end or _are_one_name(text, joined[-1], name)):
            joined[-1] = Name(joined[-1].start, max(name.end, joined[-1].end))
        else:
            joined.append(name)
    ends = [0, *(name.end for name in joined)]
    for name, end in zip(joined, ends, strict=False):
        yield _with_capital_before(text, name, end)


def _with_capital_before(text: str, name: Name, free_from: int) -> Name:
    """Add a capitalized word before a name to the name, unless it begins a sentence."""
    match = _CAPITAL_BEFORE.search(text[: name.start])
    word = match[2].lower() if match else ""
    if not match or match.start(2) < free_from or word in _BEFORE_NAMES:
        return name
    is_event = word in _OF_FEASTS or is_of_event(text[: match.start(2)], word)
    if is_elsewhere(word) or is_event:
        return name  # on Monday Ann sings; on New Year's Eve Ann sings
    # Smiling Ann, yesterday Ann; but Wing Commander Ann.
    inflected = word.endswith(("ing", "ed", "ly")) and word not in lemmas(word)
    begins = inflected or may_be_adverb(word) or word in syntax.PHRASE_STARTS
    if begins and not match["lower"]:
        return name
    return _with_capital_before(text, Name(match.start(2), name.end, loose=True), free_from)


def _repeats(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Yield every occurrence of a marked name, as taggers may miss some."""
    for name in sorted({span.text.strip() for span in spans}):
        if name[:1].isupper():
            yield from map(_span, re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text))


def _single_names(text: str, spans: Iterable[Span]) -> Iterator[Name]:
    """Yield the names in each span as whole words; those that belong together are joined later."""
    for span in spans:
        start, end = _snap_to_words(text, max(span.start, 0), min(span.end, len(text)))
        if start >= end or _is_number(text, start, end):
            continue
        for link in [*_LINK.finditer(text, start, end), None]:
            stop = link.start() if link else end
            if text[start:stop].strip():
                yield Name(start, stop)
            start = link.end() if link else end


def _snap_to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span from its first to its last whole word; empty if it has no letter."""
    inner = text[start:end]
    if not re.search(r"\w", inner):
        return start, start
    lead = _NO_NAME.match(inner) if not inner[0].isalnum() else None
    start += lead.end() if lead else 0
    start -= _length(_LETTERS_BEFORE.search(text[:start]))
    end += _length(_LETTERS_AFTER.match(text[end:])) if text[end - 1].isalnum() else 0
    while (tail := _NO_NAME.search(text[start:end])) and tail.end() == end - start:
        end = start + tail.start()
    return start, end


def _length(match: re.Match[str] | None) -> int:
    return len(match[0]) if match else 0


def _is_number(text: str, start: int, end: int) -> bool:
    """Distinguish the digits of `room 13` from a person whom others call 13."""
    before = syntax.last_word(text[:start])
    return text[start:end].isdigit() and syntax.is_noun(before) and before not in TITLES


def _are_one_name(text: str, first: Name, second: Name) -> bool:
    """Distinguish `hands Ann Lee's coat` (one person) from `hands Ann Mary's coat` (two)."""
    name, between = text[first.start : first.end].lower(), text[first.end : second.start]
    if name in TITLES or len(name) == 1:
        return bool(re.fullmatch(r"\.?\s*", between))
    is_first_name = text[second.start : second.end].lower() in first_names()
    two = is_first_name and syntax.DITRANSITIVE.search(text[: first.start])
    return between.isspace() and not two


# From names to mentions


class Mention(NamedTuple):
    """A person in a text, at characters [start, end): `Dr. Ann Lee's`.

    `names` are in lower case, without titles; `suffix` is the "'s" of a possessive, or empty.
    A `family` is a surname in the plural: the Lees. A `loose` name has a word that is part of it
    only because of its capital.
    """

    start: int
    end: int
    names: tuple[str, ...]
    title: str | None = None
    suffix: str = ""
    family: bool = False
    loose: bool = False


_SHORT = 3
"""Letters up to which a name that ends in s is not taken for one with an extra s."""
_DETERMINER = re.compile(r"\b(?:an?|the|his|her|their|my)\s+$", re.IGNORECASE)
_TITLE_WITHIN = re.compile(rf"({title_pattern()})\b", re.IGNORECASE)
_NAME_AFTER = re.compile(r"(?:\.\s*|\s+)[A-Z][\w-]*|\.")
_WORD = re.compile(r"\w+(?:[-'\u2019]\w+)*")
_POSSESSIVE = re.compile(r"\s?['\u2019`\u00b4]s(?!\w)|['\u2019](?=\s\w)")
_CONTRACTION = re.compile(r"\s?['\u2019]s\s+(?:an?|the|not|been|in|on|at|about|trying|going)\b")
_OF_FAMILY = re.compile(r"\bthe\s+$", re.IGNORECASE)


def find_mentions(text: str, spans: Sequence[Span], names: Collection[str] = ()) -> list[Mention]:
    """Return the mentions of people in a text, in order; `names` are those of the corpus."""
    mentions: list[Mention] = []
    for name in _find_names(text, spans):
        mention = _mention(text, name, names)
        if mentions and mention.start <= mentions[-1].start:
            mentions.pop()  # it is in the title: Chief Petty Officer
        free_from = mentions[-1].end if mentions else 0
        if mention.end > free_from:
            mentions.append(mention._replace(start=max(mention.start, free_from)))
    return mentions


def _mention(text: str, name: Name, names: Collection[str]) -> Mention:
    start, end, title = _with_title(text, name)
    body = tuple(_WORD.findall(text[start:end].lower()))
    if title:
        either = {*title.split(), *TITLES, *PLURAL_TITLES}
        body = tuple(word for word in body if word not in either)
    left, right = text[:start], text[end:]
    if len(body) == 1 and body[0] in GENDER_OF_NOUN and body[0] not in first_names():
        # Mom, the Waiter: a noun with a capital, not a name.
        title, body = body[0], ()
    if len(body) == 1 and _lacks_apostrophe(body[0], left, right, names):
        return Mention(start, end, (_singular(body[0], names),), title, "'s")
    family = bool(_OF_FAMILY.search(left)) and _is_family(body, names)
    if len(body) == 1 and not family:
        body = (_singular(body[0], names),)
    possessive = None if _CONTRACTION.match(right) else _POSSESSIVE.match(right)
    if possessive is None or _is_quote(left, possessive[0]):
        return Mention(start, end, body, title, "", family, name.loose)
    return Mention(start, end + possessive.end(), body, title, "'s", family, name.loose)


def _with_title(text: str, name: Name) -> tuple[int, int, str | None]:
    """Return a name with the titles before it, or at its start; a bare title needs a name."""
    start, end, _ = name
    within = _TITLE_WITHIN.match(text, start, end)
    titles = [title_key(within[1])] if within else []
    if within and within.end() == end:
        if after := _NAME_AFTER.match(text, end):
            end = after.end()
        # `the Dean` is a title without a name, but Dean is called so.
        elif within[1].lower() in first_names() and not _DETERMINER.search(text[:start]):
            titles = []
    # `the doctor Ann` has a noun, not a title: `context` handles it.
    while (before := syntax.title_before(text[:start])) and not before.is_definite:
        start = before.start
        titles.append(before.key)
    if titles and text[start].isupper():  # Wing Commander
        start = _with_capital_before(text, Name(start, end), 0).start
    whole = title_key(text[start : within.end() if within else name.start].strip())
    if titles and whole in TITLES:
        return start, end, whole
    titles.sort(key=lambda title: title in TITLES and TITLES[title].role is None)
    return start, end, titles[0] if titles else None


def _is_family(body: Sequence[str], names: Collection[str]) -> bool:
    """Recognize `the Lees`, a surname in the plural."""
    if len(body) != 1 or not body[0].endswith("s") or body[0].endswith("ss"):
        return False
    return body[0] not in names and body[0] not in first_names()


def _lacks_apostrophe(name: str, left: str, right: str, names: Collection[str]) -> bool:
    """Recognize `Anns coat` for `Ann's coat`, if Ann is known and Anns is not; `by Ann coat`."""
    before_noun = syntax.is_before_noun(right)
    if before_noun and name != _singular(name, names):
        return True
    if syntax.DITRANSITIVE.search(left) or syntax.case_of(left, right) != "object":
        return syntax.is_before_relative(right)
    return (before_noun and name.endswith("s")) or syntax.is_before_possession(right)


def _singular(name: str, names: Collection[str]) -> str:
    """Return a name without an s that only a missing apostrophe explains."""
    is_known = name in names or name in first_names() or len(name) <= _SHORT
    too_long = name.endswith("s") and (name[:-1] in names or name[:-1] in first_names())
    return name[:-1] if too_long and not is_known else name


def _is_quote(left: str, mark: str) -> bool:
    """Distinguish the closing quote of 'Ann' from the apostrophe of `James' coat`."""
    return not mark.endswith("s") and left[-1:] in ("'", "\u2018")
