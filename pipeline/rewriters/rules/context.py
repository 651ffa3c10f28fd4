"""What stands around a unit of names: determiner, adjective, case, and whether it can go."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.rewriters.rules import syntax
from pipeline.rewriters.rules.apposition import DETERMINERS, dropped
from pipeline.rewriters.rules.lexicon import BARE_ADJECTIVES, words
from pipeline.rewriters.rules.units import Unit


class Context(NamedTuple):
    """What the phrase for a unit has to fit; it replaces the characters [start, end).

    `drop` is set where the name can simply go, or where something else can stand `instead`;
    `noun` is what it stood beside (his *friend* Joey), if anything. A `determiner` before the
    unit (`a sleeping Raj`) stays there. `clause` is where the unit's clause begins; a unit that
    `opens` is the subject that the text begins with.
    """

    start: int
    end: int
    case: syntax.Case
    drop: bool = False
    noun: str | None = None
    instead: str = ""
    determiner: str = ""
    adjective: str = ""
    clause: int = 0
    opens: bool = False


_ADJECTIVES = words("adjectives", "some")
_NOT_ADJECTIVES = words("adjectives", "none")
_ENDINGS = tuple(sorted(words("adjectives", "endings")))
_BARE = "|".join(sorted(BARE_ADJECTIVES))
_SLIPS = ("a", "an", "the", "his", "their", "its")
_DETERMINED = re.compile(
    rf"\b({DETERMINERS})\s+((?:(?!(?:{DETERMINERS})\b)[a-z-]+,?\s+){{0,3}})$", re.IGNORECASE
)
_BARE_ADJECTIVE = re.compile(rf"(?:^|[\s,(])({_BARE})\s+$", re.IGNORECASE)


def context_of(text: str, unit: Unit, units: Sequence[Unit]) -> Context:
    """Return the context of a unit among the units of its text."""
    left, right = text[: unit.start], text[unit.end :]
    inside = [(other.start, other.end) for other in units]
    case = _case(left, right, unit)
    clause = syntax.clause_start(left, inside)
    opens = case == "subject" and not left.strip()
    plain = Context(unit.start, unit.end, case, clause=clause, opens=opens)
    if gone := dropped(text, unit):
        return plain._replace(
            start=gone.start, end=gone.end, drop=True, noun=gone.noun, instead=gone.instead
        )
    return _determined(plain, left, right, unit) or _bare_adjective(plain, left, unit) or plain


def _case(left: str, right: str, unit: Unit) -> syntax.Case:
    if len(unit.people) > 1 and syntax.last_word(left) in syntax.CLAUSE_OPENERS:
        return "subject"
    return syntax.case_of(left, right)


def _determined(plain: Context, left: str, right: str, unit: Unit) -> Context | None:
    found = _DETERMINED.search(left)
    if not found:
        return None
    adjectives = [word.strip(",") for word in found[2].lower().split()]
    first = unit.mentions[0]
    if first.family and not adjectives:
        return plain._replace(start=found.start())
    if adjectives or first.title:
        if len(unit.people) > 1 or not all(map(_is_adjective, adjectives)):
            return None
        start = found.start(2) if adjectives else plain.start
        return plain._replace(start=start, determiner=found[1].lower(), adjective=found[2])
    # `a Batman costume` is no person's.
    if not unit.suffix and syntax.is_before_noun(right):
        return plain._replace(start=len(left.rstrip()), drop=True)
    # `goes to the Ann` is a slip: the phrase brings its own article.
    return plain._replace(start=found.start()) if found[1].lower() in _SLIPS else None


def _is_adjective(word: str) -> bool:
    return word in _ADJECTIVES or (word.endswith(_ENDINGS) and word not in _NOT_ADJECTIVES)


def _bare_adjective(plain: Context, left: str, unit: Unit) -> Context | None:
    """Find `young Ann`, where an article has to come before the adjective."""
    found = _BARE_ADJECTIVE.search(left)
    if not found or len(unit.people) > 1:
        return None
    return plain._replace(start=found.start(1), adjective=f"{found[1].lower()} ")
