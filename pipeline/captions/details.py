"""What a caption keeps of its description, names aside: the words that say what happens.

Names are replaced on purpose, so they must not count when the two are compared. They are masked in
both texts, and so is every general word for people: `Nora hugs Omar` and `A woman hugs another man`
both become `Someone hugs someone`. Details are the stems of the remaining words (Snowball's English
stemmer), without function words, pronouns and general words for people.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import snowballstemmer

from pipeline.captions.replacements import WORDS
from pipeline.language import lexicon, syntax
from pipeline.names import truecase
from pipeline.names.base import Span

MASK = "someone"
_FUNCTION = """
  i me mine my myself you your yours yourself we us our ours ourselves he him his himself she her
  hers herself it its itself they them their theirs themselves who whom whose this that these
  those somebody anyone everyone nobody one ones other others another else people
  be been being am not no so too very there here as"""
_PEOPLE = [w for kind in ("men", "women", "neutral") for w in lexicon.words("people", kind)]
NO_DETAILS = syntax.PHRASE_STARTS.union(_PEOPLE, map(lexicon.plural, _PEOPLE), _FUNCTION.split())
"""Words, in lower case, that a caption need not keep."""
_SEVERAL = "a couple of|a few|several|some|" + "|".join(lexicon.NUMBERS)
_PEOPLE_WORDS = "|".join(sorted(map(re.escape, WORDS), key=lambda word: (-len(word), word)))
_GENERAL = re.compile(
    rf"\b(?:(?:an?|the|another|{_SEVERAL}) )?(?:(?:first|second|third) )?(?:other )?"
    rf"(?:{_PEOPLE_WORDS})\b(?!-)(?: else\b)?(?:['\u2019]s?(?!\w))?",
    re.IGNORECASE,
)
_LISTED = re.compile(rf"{MASK}(?:(?:,? and|,) {MASK})+\b", re.IGNORECASE)
_STEMMER = snowballstemmer.stemmer("english")


def mask(text: str, names: Iterable[Span]) -> str:
    """Return the text with `someone` for each name; a title before a name is dropped."""
    masked, end = "", 0
    for name in sorted(names):
        if name.start >= end:
            masked += _drop_titles(text[end : name.start]) + MASK
        end = max(end, name.end)
    masked += text[end:]
    return masked[:1].upper() + masked[1:]


def _drop_titles(left: str) -> str:
    """Return the text before a name, without titles right before the name: `and Dr. `."""
    title = syntax.title_before(left)
    return _drop_titles(left[: title.start]) if title else left


def mask_people(text: str, names: Iterable[Span] = ()) -> str:
    """Return a text without saying who it is about: people, one or several, are `someone`."""
    people = _LISTED.sub(MASK, _GENERAL.sub(MASK, " ".join(mask(text, names).split())))
    return people[:1].upper() + people[1:]


def details(text: str, names: Iterable[Span] = ()) -> Counter[str]:
    """Return how often each detail appears in a text outside its names, by stem."""
    words = truecase.words(mask(text, names))
    return Counter(
        _stem(word.key) for word in words if len(word.key) > 1 and word.key not in NO_DETAILS
    )


@cache
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


def detail_share(description: Counter[str], caption: Counter[str]) -> float:
    """Return the share of a description's details that its caption keeps; 1 if it has none."""
    return (description & caption).total() / description.total() if description else 1.0


class Pair(NamedTuple):
    """A description and its caption, and the names in each."""

    description: str
    described: Sequence[Span]
    caption: str
    named: Sequence[Span]


class Compared(NamedTuple):
    """Both texts without their people, and the share of details that the caption keeps.

    What was not requested is None.
    """

    description: str | None
    caption: str | None
    share: float | None


class Asked(NamedTuple):
    """Which comparisons to make."""

    masked: bool
    measured: bool


def compare(asked: Asked, rows: Sequence[Pair]) -> list[Compared]:
    """Return the requested comparisons of each pair."""
    return [_compare(asked, pair) for pair in rows]


def _compare(asked: Asked, pair: Pair) -> Compared:
    description = caption = share = None
    if asked.masked:
        description = mask_people(pair.description, pair.described)
        caption = mask_people(pair.caption, pair.named)
    if asked.measured:
        share = detail_share(details(pair.description, pair.described), details(pair.caption))
    return Compared(description, caption, share)
