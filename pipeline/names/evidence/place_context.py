"""Where a place, a thing or a figure fits, but no person: flies to, Crosby Street, a sign."""

import re

from pipeline.language.lexicon import GENDER_OF_NOUN, TITLES
from pipeline.language.syntax import DETERMINERS, DITRANSITIVE, PHRASE_STARTS, PREPOSITIONS
from pipeline.names.evidence import roles
from pipeline.names.evidence.lists import (
    is_elsewhere,
    is_given_name,
    is_noun,
    is_word,
    lemmas,
    listed,
    may_be_adjective,
    may_be_noun,
)
from pipeline.names.evidence.surroundings import Surroundings

_HAVE_SUBJECT = frozenset(("is", "are", "was", "were", "has", "have"))
"""Verbs whose subject comes right before them."""
_READ = re.compile(r"\bread(?:s|ing)?\s+(?:[A-Z][\w-]*\s+(?:(?:for|of|to|and|with)\s+)?)+$")
BESIDE = 20
"""Characters beside a name that may make it one of a pair: Romeo and Juliet."""
_OF_WORK = re.compile(
    r"\b(?:aria|arias|chapter|copy|excerpt|line|lines|passage|performance|poster|production|quote"
    r"|recording|rehearsal|scene|scenes|score|screening)\s+(?:from|for|of)\s+$"
)
_OF_CAPITAL = re.compile(r"[a-z,]\s+(?:the\s+)?([A-Z][a-z]+)\s+of\s+(?:the\s+)?$")
_OWN_THING = re.compile(r"['\u2019]s\s+([A-Z][\w-]*)")


def is_thing(around: Surroundings) -> bool:
    """Tell whether it is in the name of a place, a make or a thing: Crosby Street, Ann's Diner."""
    if _is_in_phrase(around):
        return True
    if len(around.run) > 1 and around.run[-1] in listed("around", "things_after"):
        return True
    inside = around.run.index(around.keys[-1]) if around.keys[-1] in around.run else 0
    if any(word in listed("around", "things_before") for word in around.run[:inside]):
        return True
    whole = f" {' '.join(around.run)} "
    if any(f" {phrase} " in whole for phrase in listed("lists", "figures")):
        return True
    if any(f" {breed} " in whole for breed in listed("lists", "breeds")):
        return roles.has_determiner(around) or is_attribute(around)
    owned = _OWN_THING.match(around.right)
    return owned is not None and is_word(owned[1].lower()) and not is_elsewhere(owned[1].lower())


def _is_in_phrase(around: Surroundings) -> bool:
    """Tell whether it is in the name of a thing or a work: the Cup of Ann, a line from Hamlet."""
    of = _OF_CAPITAL.search(around.left)
    beside = f"{around.left[-BESIDE:]}{' '.join(around.run)}{around.right[:BESIDE]}".lower()
    return (
        (of is not None and of[1].lower() not in GENDER_OF_NOUN)
        or _OF_WORK.search(around.left) is not None
        or any(pair in beside for pair in listed("lists", "pairs"))
    )


def is_to_be_read(around: Surroundings) -> bool:
    """Tell whether it ends a text that people read: signs that read Women for Quill."""
    return bool(_READ.search(around.left))


def is_somewhere(around: Surroundings) -> bool:
    """Tell whether a place would fit there: in, near, flies to, the city of, at Quill's."""
    before = [*around.before(2), "", ""]
    if around.is_possessive and around.owned():
        return False
    if before[0] == "at" and roles.is_given(around):
        return False  # looks at, yells back at
    if before[0] in listed("around", "place_prepositions"):
        return True
    if before[0] == "to":
        return bool((lemmas(before[1]) | {before[1]}) & listed("around", "motion"))
    return before[0] == "of" and before[1].removesuffix("s") in listed("around", "places_of")


def is_attribute(around: Surroundings) -> bool:
    """Tell whether it is a kind of thing, or is written there: a Quill, Quill shoes, "Quill"."""
    before, after = [*around.before(), ""], [*around.after(), ""]
    whole = around.keys[0] == around.run[0] or around.keys[-1] == around.run[-1]
    if (
        around.quoted
        or before[0] == "like"
        or (before[0] == "as" and not roles.acts(around, wide=True))
    ):
        return True
    if (lemmas(before[0]) | {before[0]}) & listed("around", "written"):
        return True
    if around.is_possessive and before[0] in PREPOSITIONS:
        return not around.owned() or around.owned()[0] in PHRASE_STARTS
    is_object = around.is_possessive or bool(DITRANSITIVE.search(around.left))
    if not is_object and _is_subject(after[0], around.after(2)[1:]):
        return True
    if roles.has_determiner(around) and whole and not around.is_possessive:
        first, name = around.run[0], around.keys[0]
        return first == name or not (is_given_name(name) and _describes(first))
    return False


def _describes(word: str) -> bool:
    """Tell whether a word before a name may say who it is: the Late Nora, not the Rolls Royce."""
    person = word in GENDER_OF_NOUN or word in TITLES or word in DETERMINERS
    return person or may_be_adjective(word)


def _is_subject(word: str, after: list[str]) -> bool:
    """Tell whether a word is a noun, by itself or by the verb that follows: eggs are served."""
    if word in PHRASE_STARTS:
        return False
    return is_noun(word) or (may_be_noun(word) and bool(_HAVE_SUBJECT.intersection(after)))
