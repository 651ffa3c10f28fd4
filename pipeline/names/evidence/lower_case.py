"""Whether a name of the corpus or its cast, written without a capital, is one there.

`omar waves` can mean nobody else; `castle` may be a castle. A common word is a name where a
person acts, owns or is spoken to and no article or adjective makes it a thing; it may be one where
it stands alone, and is none in `the castle`, `castle walls`, `they chase the bus`.
"""

from typing import Literal

from pipeline.language import syntax
from pipeline.language.lexicon import (
    GENDER_OF_NOUN,
    GENDER_OF_PLURAL,
    PLURAL_TITLES,
    TITLES,
    words,
)
from pipeline.names.evidence import lists, roles
from pipeline.names.evidence.place_context import is_attribute
from pipeline.names.evidence.surroundings import Surroundings
from pipeline.names.truecase import ABBREVIATIONS

Kind = Literal["name", "weak", "none"]
_NOUNS = GENDER_OF_NOUN.keys() | GENDER_OF_PLURAL.keys() | TITLES.keys() | PLURAL_TITLES.keys()
_SUBJECTS = frozenset(("he", "i", "it", "she", "they", "we", "who", "you"))


def may_be_lower(word: str) -> bool:
    """Tell whether a name in lower case may be looked for: it is no noun for people, and no Jr."""
    return len(word) > 1 and word not in _NOUNS and word not in ABBREVIATIONS


def weigh_lower(around: Surroundings) -> Kind:
    """Return what a known name in lower case is."""
    common = len(around.keys) == 1 and (
        lists.is_word(around.keys[0]) or around.keys[0] in syntax.PHRASE_STARTS
    )
    before = [*around.before(), ""][0]
    if before in words("titles", "announcing"):
        return "name"
    if not common:
        return "weak" if _is_determined(around) else "name"
    if not _stands_alone(before) or _is_verb(around, before):
        return "none"
    if around.keys[0] in syntax.PHRASE_STARTS:
        return "name" if roles.acts(around, wide=True) else "none"
    if roles.acts_or_owns(around, wide=True) or roles.is_given(around):
        return "name"
    after = [*around.after(), ""][0]
    adjective = lists.may_be_adjective(around.keys[0])
    before_noun = lists.may_be_noun(after) if adjective else lists.is_noun(after)
    is_before_noun = before_noun and after not in syntax.PHRASE_STARTS
    return "none" if is_attribute(around) or is_before_noun else "weak"


def _is_determined(around: Surroundings) -> bool:
    """Tell whether an article is before it, with an adjective or without: a purple nora."""
    nearest, further = [*around.before(2), "", ""][:2]
    determiners = lists.listed("around", "determiners")
    return nearest in determiners or (further in determiners and lists.may_be_adjective(nearest))


def _stands_alone(before: str) -> bool:
    """Tell whether no article, adjective or noun is before it."""
    determined = before in lists.listed("around", "determiners") - {"that"}
    opens = not before or before in syntax.PHRASE_STARTS or syntax.takes_object(before)
    return opens and not determined


def _is_verb(around: Surroundings, before: str) -> bool:
    """Tell whether it is a verb: they chase the bus, a car comes and parks."""
    after, verbs = [*around.after(), ""][0], lists.lemmas(around.keys[0])
    if not verbs or roles.acts(around, wide=True) or roles.is_given(around):
        return False
    return before in _SUBJECTS or after in syntax.DETERMINERS or around.keys[0] not in verbs
