"""Names that can simply go: beside a noun that says enough, or in an address.

`his friend Ann`, `the boys, Emil and Franz,`, `a man named Emil`, `a Batman costume`,
`"Ann, come here"`.
"""

import re
from typing import NamedTuple

from pipeline.captions.rules.units import Unit
from pipeline.language import syntax
from pipeline.language.lexicon import GENDER_OF_PLURAL, ROLE_NOUNS, TITLES


class Dropped(NamedTuple):
    """The characters [start, end) go, or are `instead`.

    `noun` is what the name stood beside, if anything (his *friend* Ann), and `at` its place.
    """

    start: int
    end: int
    noun: str = ""
    at: int = -1
    instead: str = ""


DETERMINERS = "an?|the|his|her|their|my|our|your|its|this|that|these|those|some|another|one of \\w+"
# `The man called Ann` may have phoned her.
_NAMED = re.compile(
    r"\b(?:(?:(?:an?|another)\s+(?:[\w-]+\s+){0,2}?|(?=some))(?P<noun>[\w-]+)"
    r"(?P<gone>,?\s+(?:who\s+is\s+|who's\s+)?(?:named|called))"
    r"|(?:the|his|her|their)\s+(?:[\w-]+\s+){0,2}?(?P<noun2>[\w-]+)(?P<gone2>,?\s+named))\s+$",
    re.IGNORECASE,
)
_NOUN_PHRASE = re.compile(
    rf"(?P<by>\b(?:{DETERMINERS})|['\u2019]s|\b(?:two|three|four|both))\s+"
    r"(?:[\w-]+\s+){0,2}?(?P<noun>[\w-]+)(?P<comma>\s*,)?\s+$",
    re.IGNORECASE,
)
_ROLE = "|".join(sorted(ROLE_NOUNS, key=len, reverse=True))
_NOUN_AFTER = re.compile(rf"\s+(?P<phrase>(?:the|an?)\s+(?:[a-z]+\s+)?(?P<noun>{_ROLE})\b)")
_POSSESSOR = re.compile(r"[\w-]+['\u2019]s$")
_ENDS = re.compile(r"\s*(?:,|[.!?]?\s*$)")
_PLACES = ("at", "from", "in", "inside", "into", "near", "outside")
_QUOTED_BEFORE = re.compile(r"[\"\u201c]\s*$")
_QUOTED_AFTER = re.compile(r"\s*[.!?,]*[\"\u201d]")
_OPEN_QUOTE = re.compile(r"[\"\u201c](?:[^\"\u201d]*,)?\s*$")
_ADDRESS_ENDS = re.compile(r"\s*,\s*|(?=\s*[.!?]*[\"\u201d])")


def dropped(text: str, unit: Unit) -> Dropped | None:
    """Return what goes with the name, if it goes."""
    left, right = text[: unit.start], text[unit.end :]
    return (
        _named(left, unit)
        or _beside_noun(left, right, unit)
        or _before_noun(left, right, unit)
        or _somewhere(left, unit)
        or _quoted(left, right, unit)
        or _addressed(left, right, unit)
    )


def _named(left: str, unit: Unit) -> Dropped | None:
    found = _NAMED.search(left)
    if not found:
        return None
    noun, gone = ("noun", "gone") if found["noun"] else ("noun2", "gone2")
    return Dropped(found.start(gone), unit.end, found[noun].lower(), found.start(noun))


def _beside_noun(left: str, right: str, unit: Unit) -> Dropped | None:
    found = _NOUN_PHRASE.search(left)
    if not found or not _says_enough(found["noun"].lower(), unit, bool(found["comma"])):
        return None
    if found["comma"]:
        return _between_commas(left, right, unit, found)
    before = left[: found.start()]
    if found["by"].startswith(("'", "\u2019")):
        before = _POSSESSOR.sub("", before + found["by"])
    if _is_relative_clause(before, right):
        return None
    return Dropped(len(left.rstrip()), unit.end, found["noun"].lower(), found.start("noun"))


def _says_enough(noun: str, unit: Unit, comma: bool) -> bool:
    if len(unit.people) > 1:
        return noun in GENDER_OF_PLURAL
    title = TITLES.get(unit.mentions[0].title or "")
    # `tells the doctor Mrs. Lee is ill` is about two people.
    return noun in ROLE_NOUNS and (comma or title is None or title.role is not None)


def _between_commas(left: str, right: str, unit: Unit, found: re.Match[str]) -> Dropped | None:
    closing = _ENDS.match(right)
    if not closing or unit.suffix:
        return None
    # The comma stays where it ends a first clause: `When he meets his friend, Ann, he smiles`.
    ends_clause = syntax.next_word(left) in syntax.OPENERS
    end = unit.end + (closing[0].endswith(",") and not ends_clause)
    return Dropped(found.start("comma"), end, found["noun"].lower(), found.start("noun"))


def _is_relative_clause(before: str, right: str) -> bool:
    """Tell `next to the patient Ann is treating` from `The patient Ann is asleep`."""
    opens = syntax.last_word(before)
    starts_clause = not opens or opens in syntax.LINKS
    return not starts_clause and syntax.is_verb(syntax.next_verb_place(right))


def _before_noun(left: str, right: str, unit: Unit) -> Dropped | None:
    """Find `Carl the bartender` and `Chuck a patient`."""
    found = _NOUN_AFTER.match(right)
    if not found or len(unit.people) > 1 or syntax.DITRANSITIVE.search(left):
        return None
    after = syntax.next_word(right[found.end() :])
    if after and not syntax.ends_noun_phrase(after):
        return None
    end, at = unit.end + found.start("phrase"), unit.end + found.start("noun")
    return Dropped(unit.start, end, found["noun"], at)


def _somewhere(left: str, unit: Unit) -> Dropped | None:
    """Find what is rather a place: `at Blue Lagoon`, where only `Lagoon` was marked."""
    is_place = syntax.last_word(left) in _PLACES and unit.mentions[-1].loose
    if not is_place or len(unit.people) > 1 or unit.mentions[0].title or unit.suffix:
        return None
    return Dropped(unit.start, unit.end, instead="a place")


def _quoted(left: str, right: str, unit: Unit) -> Dropped | None:
    """Find a quotation that is a name and nothing else: somebody shouts it, a sign bears it."""
    opening, closing = _QUOTED_BEFORE.search(left), _QUOTED_AFTER.match(right)
    if not opening or not closing or unit.suffix:
        return None
    return Dropped(opening.start(), unit.end + closing.end(), instead="a name")


def _addressed(left: str, right: str, unit: Unit) -> Dropped | None:
    """Find who is spoken to in a quotation, where more is said to them."""
    opening, closing = _OPEN_QUOTE.search(left), _ADDRESS_ENDS.match(right)
    if not opening or not closing or unit.suffix:
        return None
    is_within = left.count('"') % 2 == 1 or left.count("\u201c") > left.count("\u201d")
    if not is_within or ("," not in opening[0] and "," not in closing[0]):
        return None
    start = len(left.rstrip().rstrip(",")) if not closing[0] else unit.start
    return Dropped(start, unit.end + closing.end())
