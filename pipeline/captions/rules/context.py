"""The context of a unit of names: determiner, adjective, case, and whether the name can go.

A name can go (be dropped) next to a noun that says enough, or in an address: `his friend Ann`,
`the boys, Emil and Franz,`, `a man named Emil`, `a Batman costume`, `"Ann, come here"`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.captions.rules.units import Unit
from pipeline.language import syntax
from pipeline.language.lexicon import (
    BARE_ADJECTIVES,
    GENDER_OF_PLURAL,
    ROLE_NOUNS,
    TITLES,
    words,
)
from pipeline.names.evidence.surroundings import opens_quote


class Removal(NamedTuple):
    """A name that need not be replaced: the characters [start, end) are dropped, or `instead`.

    `noun` is the noun next to the name, if any (his *friend* Ann), and `at` its place.
    """

    start: int
    end: int
    noun: str = ""
    at: int = -1
    instead: str = ""


class Context(NamedTuple):
    """What the phrase for a unit must fit; it replaces the characters [start, end).

    A `determiner` before the unit (`a sleeping Ann`) stays there. `clause` is where the unit's
    clause begins; a unit that `opens` is the subject that the text begins with.
    """

    start: int
    end: int
    case: syntax.Case
    removal: Removal | None = None
    determiner: str = ""
    adjective: str = ""
    clause: int = 0
    opens: bool = False


def find_context(text: str, unit: Unit, units: Sequence[Unit]) -> Context:
    """Return the context of a unit among the units of its text."""
    left, right = text[: unit.start], text[unit.end :]
    case = syntax.case_of(left, right)
    if len(unit.people) > 1 and syntax.last_word(left) in syntax.CLAUSE_OPENERS:
        case = "subject"
    clause = syntax.clause_start(left, [(other.start, other.end) for other in units])
    opens = case == "subject" and not left.strip()
    plain = Context(unit.start, unit.end, case, clause=clause, opens=opens)
    if removal := _find_removal(left, right, unit):
        return plain._replace(start=removal.start, end=removal.end, removal=removal)
    return _with_determiner(plain, left, right, unit) or _with_adjective(plain, left, unit) or plain


# Determiners and adjectives

_DETERMINERS = (
    "an?|the|his|her|their|my|our|your|its|this|that|these|those|some|another|one of \\w+"
)
_ADJECTIVES = words("adjectives", "some")
_NOT_ADJECTIVES = words("adjectives", "none")
_ENDINGS = tuple(sorted(words("adjectives", "endings")))
_BARE = "|".join(sorted(BARE_ADJECTIVES))
_BARE_DETERMINERS = ("a", "an", "the", "his", "her", "their", "its")
"""Those that may come right before a name; `that Ann` is more likely a clause."""
_DETERMINED = re.compile(
    rf"\b({_DETERMINERS})\s+((?:(?!(?:{_DETERMINERS})\b)[a-z-]+,?\s+){{0,3}})$", re.IGNORECASE
)
_BARE_ADJECTIVE = re.compile(rf"(?:^|[\s,(])({_BARE})\s+$", re.IGNORECASE)


def _with_determiner(plain: Context, left: str, right: str, unit: Unit) -> Context | None:
    match = _DETERMINED.search(left)
    if not match:
        return None
    determiner, between = match[1].lower(), match[2]
    family = unit.mentions[0].family
    if between.strip() or unit.mentions[0].title:
        adjectives = [word.strip(",") for word in between.lower().split()]
        is_plain = len(unit.people) == 1 and not family
        if not is_plain or not all(_is_adjective(word, determiner) for word in adjectives):
            return None
        start = plain.start - len(between)
        return plain._replace(start=start, determiner=determiner, adjective=between)
    if determiner not in _BARE_DETERMINERS:
        return None
    # `a Batman costume` is not about a person.
    if not unit.suffix and not family and syntax.is_before_noun(right):
        removal = Removal(match.start() + len(determiner), plain.end)
        return plain._replace(start=removal.start, removal=removal)
    # `the Lees`, and `goes to the Ann`, a slip: the phrase has its own article.
    # But `hands her Ann's cup` is about two.
    return None if determiner == "her" else plain._replace(start=match.start())


def _is_adjective(word: str, determiner: str) -> bool:
    if word in _ADJECTIVES:
        return True
    # `behind her causing Ann to turn` has no causing Ann of hers.
    by_ending = word.endswith(_ENDINGS) and word not in _NOT_ADJECTIVES
    return by_ending and determiner not in ("her", "his", "their", "its", "that")


def _with_adjective(plain: Context, left: str, unit: Unit) -> Context | None:
    """Find `young Ann`, where an article must come before the adjective."""
    match = _BARE_ADJECTIVE.search(left)
    if not match or len(unit.people) > 1:
        return None
    return plain._replace(start=match.start(1), adjective=f"{match[1].lower()} ")


# Names that can be dropped

# `The man called Ann` may have phoned her.
_NAMED = re.compile(
    r"\b(?:(?:(?:an?|another)\s+(?:[\w-]+\s+){0,2}?|(?=some))(?P<noun>[\w-]+)"
    r"(?P<by>,?\s+(?:who\s+is\s+|who's\s+)?(?:named|called))"
    r"|(?:the|his|her|their)\s+(?:[\w-]+\s+){0,2}?(?P<noun2>[\w-]+)(?P<by2>,?\s+named))\s+$",
    re.IGNORECASE,
)
_NOUN_PHRASE = re.compile(
    rf"(?P<by>\b(?:{_DETERMINERS})|['\u2019]s|\b(?:two|three|four|both))\s+"
    r"(?:[\w-]+\s+){0,2}?(?P<noun>[\w-]+)(?P<comma>\s*,)?\s+$",
    re.IGNORECASE,
)
_ROLE = "|".join(sorted(ROLE_NOUNS, key=len, reverse=True))
_NOUN_AFTER = re.compile(rf"\s+(?P<phrase>(?:the|an?)\s+(?:[a-z]+\s+)?(?P<noun>{_ROLE})\b)")
_POSSESSOR = re.compile(r"[\w-]+['\u2019]s$")
_ENDS = re.compile(r"\s*(?:,|[.!?]?\s*$)")
_PLACES = ("at", "from", "in", "inside", "into", "near", "outside")
_QUOTE_BEFORE = re.compile(r"[\"\u201c]\s*$")
_QUOTE_AFTER = re.compile(r"\s*[.!?,]*[\"\u201d]")
_OPEN_QUOTE = re.compile(r"[\"\u201c](?:[^\"\u201d]*,)?\s*$")
_ADDRESS_ENDS = re.compile(r"\s*,\s*|(?=\s*[.!?]*[\"\u201d])")


def _find_removal(left: str, right: str, unit: Unit) -> Removal | None:
    """Return what is dropped with the name between `left` and `right`, if it is dropped."""
    return (
        _after_named(left, unit)
        or _after_noun(left, right, unit)
        or _before_noun(left, right, unit)
        or _as_place(left, unit)
        or _as_quotation(left, right, unit)
        or _as_address(left, right, unit)
    )


def _after_named(left: str, unit: Unit) -> Removal | None:
    match = _NAMED.search(left)
    if not match:
        return None
    noun, by = ("noun", "by") if match["noun"] else ("noun2", "by2")
    return Removal(match.start(by), unit.end, match[noun].lower(), match.start(noun))


def _after_noun(left: str, right: str, unit: Unit) -> Removal | None:
    match = _NOUN_PHRASE.search(left)
    if not match or not _says_enough(match["noun"].lower(), unit, comma=bool(match["comma"])):
        return None
    if match["comma"]:
        return _between_commas(left, right, unit, match)
    before = left[: match.start()]
    if match["by"].startswith(("'", "\u2019")):
        before = _POSSESSOR.sub("", before + match["by"])
    if _is_relative_clause(before, right):
        return None
    return Removal(len(left.rstrip()), unit.end, match["noun"].lower(), match.start("noun"))


def _says_enough(noun: str, unit: Unit, *, comma: bool) -> bool:
    if len(unit.people) > 1:
        return noun in GENDER_OF_PLURAL
    title = TITLES.get(unit.mentions[0].title or "")
    # `tells the doctor Mrs. Lee is ill` is about two people.
    return noun in ROLE_NOUNS and (comma or title is None or title.role is not None)


def _between_commas(left: str, right: str, unit: Unit, match: re.Match[str]) -> Removal | None:
    closing = _ENDS.match(right)
    if not closing or unit.suffix:
        return None
    # The comma stays where it ends a first clause: `When he meets his friend, Ann, he smiles`.
    ends_clause = syntax.next_word(left) in syntax.OPENERS
    end = unit.end + (closing[0].endswith(",") and not ends_clause)
    return Removal(match.start("comma"), end, match["noun"].lower(), match.start("noun"))


def _is_relative_clause(before: str, right: str) -> bool:
    """Distinguish `next to the patient Ann is treating` from `The patient Ann is asleep`."""
    opens = syntax.last_word(before)
    starts_clause = not opens or opens in syntax.LINKS
    return not starts_clause and syntax.is_verb(syntax.next_verb_place(right))


def _before_noun(left: str, right: str, unit: Unit) -> Removal | None:
    """Find `Carl the bartender` and `Chuck a patient`."""
    match = _NOUN_AFTER.match(right)
    if not match or len(unit.people) > 1 or syntax.DITRANSITIVE.search(left):
        return None
    after = syntax.next_word(right[match.end() :])
    if after and not syntax.ends_noun_phrase(after):
        return None
    end, at = unit.end + match.start("phrase"), unit.end + match.start("noun")
    return Removal(unit.start, end, match["noun"], at)


def _as_place(left: str, unit: Unit) -> Removal | None:
    """Find what is more likely a place: `at Blue Lagoon`, where only `Lagoon` was marked."""
    is_place = syntax.last_word(left) in _PLACES and unit.mentions[-1].loose
    if not is_place or len(unit.people) > 1 or unit.mentions[0].title or unit.suffix:
        return None
    return Removal(unit.start, unit.end, instead="a place")


def _as_quotation(left: str, right: str, unit: Unit) -> Removal | None:
    """Find a quotation that is only a name: someone shouts it, or it is on a sign."""
    opening, closing = _QUOTE_BEFORE.search(left), _QUOTE_AFTER.match(right)
    if not opening or not closing or unit.suffix:
        return None
    return Removal(opening.start(), unit.end + closing.end(), instead="a name")


def _as_address(left: str, right: str, unit: Unit) -> Removal | None:
    """Find the person addressed in a quotation, if more is said to them."""
    opening, closing = _OPEN_QUOTE.search(left), _ADDRESS_ENDS.match(right)
    if not opening or not closing or unit.suffix:
        return None
    if not opens_quote(left) or ("," not in opening[0] and "," not in closing[0]):
        return None
    start = len(left.rstrip().rstrip(",")) if not closing[0] else unit.start
    return Removal(start, unit.end + closing.end())
