"""What a caption lost or broke beside the people, word for word.

The other checks mask the people in both texts, so they can't see that a name was cut out of a
phrase: `On New Year's Eve` as `On New Year's a woman`. Here the words that are left are compared,
and so are the places where a phrase for a person stands.

A caption in other words is not compared word for word: only one that adds none of its own has
lost those that it lacks.
"""

import re
from collections import Counter
from collections.abc import Sequence

from pipeline.captions.details import Pair, details
from pipeline.captions.replacements import WORDS
from pipeline.language import lexicon, syntax
from pipeline.names import truecase
from pipeline.names.base import Span
from pipeline.names.evidence import lists
from pipeline.names.refinement import is_of_event

_TITLE_WORDS = {word for title in lexicon.TITLES for word in title.split()}
_TITLES = "|".join(word.capitalize() for word in sorted(_TITLE_WORDS - {"first", "second"}))
_SHORT = "|".join(sorted(truecase.ABBREVIATIONS))
_PERSON = r"(?:an?|another|someone|somebody|two|several|he|she|they)\b"
_ONE = r"(?:an?|another|someone|somebody|he|she|they)\b"
_WORD = f"(?:{'|'.join(map(re.escape, WORDS))})"
_HEADS = "|".join(sorted(word.capitalize() for word in lists.listed("around", "things_after")))
_BROKEN = (
    re.compile(rf"(?i)\b(?:an?|the|his|its|their|my|your|our|another) (?!other\b){_ONE}"),
    re.compile(r"(?i)\ban? (?:two|several)\b"),
    re.compile(
        rf"(?i)\b(?!(?:he|here|how|it|let|she|that|there|this|what|when|where|who)\b)\w+['\u2019]s?"
        rf" {_PERSON}"
    ),
    re.compile(rf"\b(?:{_TITLES}) (?i:{_PERSON})"),
    re.compile(rf"(?i)\b(?:{_SHORT})\. {_PERSON}"),
    re.compile(rf"(?i)\b(?:van de[nr]?|de la|der|von|della|ibn) {_ONE}"),
    re.compile(rf"(?i)\b{_WORD} (?-i:{_HEADS})\b"),
    re.compile(rf"(?i)\w[\"\u201d] {_PERSON}"),
    re.compile(rf"(?i)\b(?:gonna|wanna|gotta|hurricane|cyclone|typhoon) {_PERSON}"),
)
"""Places where no phrase for a person fits: after an article, a possessive, a title, a nickname, a
particle, or before the rest of a name: a person Day."""
_AFTER_CAPITAL = re.compile(r"(?<=[a-z,] )([A-Z][a-z]+) (?:an?|another|someone|somebody)\b")
_DAYS = frozenset(("day", "eve", "evening", "morning", "night"))
_HOST = re.compile(r"([a-z]+)['\u2019]s? ")
_FRAGMENT = re.compile(
    rf"(?i)(?:^|[.!?]\s+)((?:(?:an?|the|another)\s+)?{_WORD})[.!?]\s"
    rf"|\b({_WORD}\. (?-i:[a-z])\w*)"
)
"""A phrase for a person as a sentence of its own, or with a full stop within its sentence."""
_COUNTED = "couple few several group place name named called"
_OF_PEOPLE = frozenset(
    details(" ".join((*WORDS, *map(lexicon.plural, WORDS), *lexicon.NUMBERS, _COUNTED)))
)
"""The stems of what stands for people, and of what goes with a name: a man named Omar."""
_SAID_OTHERWISE = re.compile(r"\w+['\u2019](?:d|ll|r|re|v|ve)|cannot|wear")
"""Stems of what function words can say: they're, in a hat."""
_ENDS = re.compile(r"[.!?][\"'\u201d\u2019)]*(?=\s+[\"'\u201c(]?\w)")


def list_damage(_: None, rows: Sequence[Pair]) -> list[str]:
    """Return what each caption lost or broke: `lost: eve; broken: Year's a`, or nothing."""
    return ["; ".join(_damage(pair.description, pair.described, pair.caption)) for pair in rows]


def _damage(description: str, described: Sequence[Span], caption: str) -> list[str]:
    lost = _find_lost(description, described, caption)
    broken = _find_broken(caption) - _find_broken(description)
    if _count_ends(caption) > _count_ends(description):
        broken += _find_fragments(caption) - _find_fragments(description)
    return [
        *(f"lost: {word}" for word in sorted(lost)),
        *(f"broken: {phrase}" for phrase in sorted(broken)),
    ]


def _find_broken(text: str) -> Counter[str]:
    phrases = Counter(match[0] for pattern in _BROKEN for match in pattern.finditer(text))
    capitals = (
        match
        for match in _AFTER_CAPITAL.finditer(text)
        if not _stands_apart(text[: match.start()], match[1].lower())
    )
    phrases |= Counter(match[0] for match in capitals)
    hosts = (match for match in map(_HOST.match, phrases) if match)
    slips = [match.string for match in hosts if not lists.may_be_noun(match[1])]
    return phrases - Counter(dict.fromkeys(slips, len(text)))  # he enter's a room


def _find_fragments(text: str) -> Counter[str]:
    return Counter(match[1] or match[2] for match in _FRAGMENT.finditer(text))


def _stands_apart(left: str, word: str) -> bool:
    """Tell whether a capitalised word may end a phrase before a person: on Monday a man sings."""
    return lists.is_elsewhere(word) or word in _DAYS or is_of_event(left, word)


def _count_ends(text: str) -> int:
    ends = (match.start() + 1 for match in _ENDS.finditer(text))
    return sum(not truecase.ends_abbreviated(text[:end]) for end in ends)


def _find_lost(description: str, described: Sequence[Span], caption: str) -> Counter[str]:
    """Return the stems that a caption lacks, if it has none that the description has not.

    A verb that looks like a title counts: `miss` in `they miss Ann`.
    """
    if "miss" in description.split() and "miss" not in caption.split():
        return Counter(["miss"])
    before = details(description, _with_capitals(description, described))
    after = details(caption)
    if (after - before).keys() - _OF_PEOPLE:
        return Counter()
    lost = (before - after).items()
    return Counter(
        {s: n for s, n in lost if s not in _OF_PEOPLE and not _SAID_OTHERWISE.fullmatch(s)}
    )


def _with_capitals(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return spans with the capitalised words right before them: Blue Lagoon."""
    words = list(truecase.words(text))
    return [span._replace(start=_first_start(text, span, words)) for span in spans]


def _first_start(text: str, span: Span, words: Sequence[truecase.Word]) -> int:
    start = span.start
    for word in reversed([word for word in words if word.end <= span.start]):
        if word.is_lower or text[word.end : start].strip() or word.key in syntax.PHRASE_STARTS:
            break
        start = word.start
    return start
