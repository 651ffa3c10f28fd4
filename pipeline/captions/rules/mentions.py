"""Mentions of people: a name with its title before it and its possessive after it."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from pipeline.captions.rules.marks import Mark, marks
from pipeline.language import syntax
from pipeline.language.lexicon import GENDER_OF_NOUN, PLURAL_TITLES, TITLES
from pipeline.names.base import Span
from pipeline.names.evidence.lists import first_names


class Mention(NamedTuple):
    """A person in a text, at characters [start, end): `Dr. Ann Lee's`.

    `names` are lower case, without title; `suffix` is "'s" of a possessive, else empty.
    A `family` is a surname in the plural: the Lees. A `loose` name has a word in it that
    nothing but its capital makes part of a name.
    """

    start: int
    end: int
    names: tuple[str, ...]
    title: str | None = None
    suffix: str = ""
    family: bool = False
    loose: bool = False


_SHORT = 3
"""Letters up to which a name that ends in s is not taken for one with an s too much."""
_TITLE_NAMES = "|".join(sorted((*TITLES, *PLURAL_TITLES), key=len, reverse=True))
_TITLE_BEFORE = re.compile(
    rf"(?<![\w'\u2019-])(?P<the>(?:an?|the|his|her|their|my)\s+)?(?P<title>{_TITLE_NAMES})"
    r"(?:\.\s*|\s+|(?<=Dr|Mr|Ms),\s*)$",
    re.IGNORECASE,
)
_DETERMINER = re.compile(r"\b(?:an?|the|his|her|their|my)\s+$", re.IGNORECASE)
_TITLE_WITHIN = re.compile(rf"({_TITLE_NAMES})\b", re.IGNORECASE)
_NAME_AFTER = re.compile(r"(?:\.\s*|\s+)[A-Z][\w-]*|\.")
_WORD = re.compile(r"\w+(?:[-'\u2019]\w+)*")
_POSSESSIVE = re.compile(r"\s?['\u2019`\u00b4]s(?!\w)|['\u2019](?=\s\w)")
_CONTRACTION = re.compile(r"\s?['\u2019]s\s+(?:an?|the|not|been|in|on|at|about|trying|going)\b")
_OF_FAMILY = re.compile(r"\bthe\s+$", re.IGNORECASE)


def find_mentions(text: str, spans: Sequence[Span], names: Collection[str] = ()) -> list[Mention]:
    """Return the mentions of people in a text, in order; `names` are the corpus's own."""
    found: list[Mention] = []
    for mark in marks(text, spans):
        mention = _mention(text, mark, names)
        taken = found[-1].end if found else 0
        if mention.end > taken:
            found.append(mention._replace(start=max(mention.start, taken)))
    return found


def _mention(text: str, mark: Mark, names: Collection[str]) -> Mention:
    start, end, title = _with_title(text, mark)
    words = _WORD.findall(text[start:end].lower())
    body = tuple(word for word in words if not _is_title(word)) if title else tuple(words)
    left, right = text[:start], text[end:]
    if len(body) == 1 and body[0] in GENDER_OF_NOUN and body[0] not in first_names():
        # Mom, the Waiter: a noun with a capital, no name.
        title, body = body[0], ()
    if len(body) == 1 and _lacks_apostrophe(body[0], left, right, names):
        return Mention(start, end, (_singular(body[0], names),), title, "'s")
    family = bool(_OF_FAMILY.search(left)) and _is_family(body, names)
    if len(body) == 1 and not family:
        body = (_singular(body[0], names),)
    possessive = None if _CONTRACTION.match(right) else _POSSESSIVE.match(right)
    if possessive is None or _is_quote(left, possessive[0]):
        return Mention(start, end, body, title, "", family, mark.loose)
    return Mention(start, end + possessive.end(), body, title, "'s", family, mark.loose)


def _is_title(word: str) -> bool:
    return word in TITLES or word in PLURAL_TITLES


def _with_title(text: str, mark: Mark) -> tuple[int, int, str | None]:
    """Return a name with the titles before it, or at its start; a bare title takes a name."""
    start, end, _ = mark
    titles = [found[1].lower()] if (found := _TITLE_WITHIN.match(text, start, end)) else []
    if found and found.end() == end and (name := _NAME_AFTER.match(text, end)):
        end = name.end()
    if found and found.end() == mark.end == end and not _is_noun_there(text, start, found[1]):
        titles = []
    while before := _TITLE_BEFORE.search(text[:start]):
        # `the doctor Ann` is no title but a noun: `context` knows what to do.
        if before["the"] and before["title"].islower():
            break
        start = before.start("title")
        titles.append(before["title"].lower())
    titles.sort(key=lambda title: title in TITLES and TITLES[title].role is None)
    return start, end, titles[0] if titles else None


def _is_noun_there(text: str, start: int, title: str) -> bool:
    """Tell `the Dean`, a title without a name, from Dean, who is called so."""
    return title.lower() not in first_names() or bool(_DETERMINER.search(text[:start]))


def _is_family(names: Sequence[str], known: Collection[str]) -> bool:
    """Tell `the Lees`, a surname in the plural."""
    if len(names) != 1 or not names[0].endswith("s") or names[0].endswith("ss"):
        return False
    return names[0] not in known and names[0] not in first_names()


def _lacks_apostrophe(name: str, left: str, right: str, names: Collection[str]) -> bool:
    """Tell `Anns coat` for `Ann's coat`, where Ann is known and Anns is not; `by Ann coat`."""
    before_noun = syntax.is_before_noun(right)
    if before_noun and name != _singular(name, names):
        return True
    if syntax.DITRANSITIVE.search(left) or syntax.case_of(left, right) != "object":
        return syntax.is_before_relative(right)
    return (before_noun and name.endswith("s")) or syntax.is_before_possession(right)


def _singular(name: str, names: Collection[str]) -> str:
    """Return a name without an s that only a lost apostrophe explains."""
    known = name in names or name in first_names() or len(name) <= _SHORT
    too_long = name.endswith("s") and (name[:-1] in names or name[:-1] in first_names())
    return name[:-1] if too_long and not known else name


def _is_quote(left: str, mark: str) -> bool:
    """Tell the closing quote of 'Ann' from the apostrophe of `James' coat`."""
    return not mark.endswith("s") and left[-1:] in ("'", "\u2018")
