"""What stands around a unit of names: determiner, adjective, case, and whether it can go."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.captions.rules.apposition import DETERMINERS, Dropped, dropped
from pipeline.captions.rules.units import Unit
from pipeline.language import syntax
from pipeline.language.lexicon import BARE_ADJECTIVES, words


class Context(NamedTuple):
    """What the phrase for a unit has to fit; it replaces the characters [start, end).

    `gone` is set where the name need not be replaced. A `determiner` before the unit (`a
    sleeping Ann`) stays there. `clause` is where the unit's clause begins; a unit that `opens`
    is the subject that the text begins with.
    """

    start: int
    end: int
    case: syntax.Case
    gone: Dropped | None = None
    determiner: str = ""
    adjective: str = ""
    clause: int = 0
    opens: bool = False


_ADJECTIVES = words("adjectives", "some")
_NOT_ADJECTIVES = words("adjectives", "none")
_ENDINGS = tuple(sorted(words("adjectives", "endings")))
_BARE = "|".join(sorted(BARE_ADJECTIVES))
_BARE_DETERMINERS = ("a", "an", "the", "his", "her", "their", "its")
"""Those that may stand right before a name; `that Ann` is rather a clause."""
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
        return plain._replace(start=gone.start, end=gone.end, gone=gone)
    return _determined(plain, left, right, unit) or _bare_adjective(plain, left, unit) or plain


def _case(left: str, right: str, unit: Unit) -> syntax.Case:
    if len(unit.people) > 1 and syntax.last_word(left) in syntax.CLAUSE_OPENERS:
        return "subject"
    return syntax.case_of(left, right)


def _determined(plain: Context, left: str, right: str, unit: Unit) -> Context | None:
    found = _DETERMINED.search(left)
    if not found:
        return None
    determiner, between = found[1].lower(), found[2]
    if not between.strip() and not unit.mentions[0].title:
        return _bare_determiner(plain, found.start(), determiner, right, unit)
    adjectives = [word.strip(",") for word in between.lower().split()]
    if (
        len(unit.people) > 1
        or unit.mentions[0].family
        or not all(_is_adjective(word, determiner) for word in adjectives)
    ):
        return None
    start = plain.start - len(between)
    return plain._replace(start=start, determiner=determiner, adjective=between)


def _bare_determiner(
    plain: Context, start: int, determiner: str, right: str, unit: Unit
) -> Context | None:
    if determiner not in _BARE_DETERMINERS:
        return None
    # `a Batman costume` is no person's.
    if not unit.suffix and not unit.mentions[0].family and syntax.is_before_noun(right):
        gone = Dropped(start + len(determiner), plain.end)
        return plain._replace(start=gone.start, gone=gone)
    # `the Lees`, and `goes to the Ann`, a slip: the phrase brings its own article.
    # But `hands her Ann's cup` is about two.
    return None if determiner == "her" else plain._replace(start=start)


def _is_adjective(word: str, determiner: str) -> bool:
    if word in _ADJECTIVES:
        return True
    # `behind her causing Ann to turn` has no causing Ann of hers.
    by_ending = word.endswith(_ENDINGS) and word not in _NOT_ADJECTIVES
    return by_ending and determiner not in ("her", "his", "their", "its", "that")


def _bare_adjective(plain: Context, left: str, unit: Unit) -> Context | None:
    """Find `young Ann`, where an article has to come before the adjective."""
    found = _BARE_ADJECTIVE.search(left)
    if not found or len(unit.people) > 1:
        return None
    return plain._replace(start=found.start(1), adjective=f"{found[1].lower()} ")
