"""What only people do, have and are given: `..., and Quill laughs`, `Quill's sleeve`."""

import re

from pipeline.language.lexicon import GENDER_OF_NOUN
from pipeline.language.syntax import DETERMINERS, DITRANSITIVE, PHRASE_STARTS
from pipeline.names.evidence.lists import lemmas, listed
from pipeline.names.evidence.surroundings import Surroundings

_ADVERBS = frozenset(
    ["also", "back", "both", "just", "now", "still", "then", "slowly", "quickly", "suddenly"]
)
_BE = frozenset(("is", "was", "are", "were"))
_UNINFLECTED = frozenset(("cut", "hit", "put", "set", "shut", "split", "spread"))
_REFLEXIVE = frozenset(("herself", "himself"))
_PRONOUNS = frozenset(("he", "she", "him", "her", "they", "them"))
_AND_SOMEBODY = re.compile(r"\s*,?\s+(?:and|&)\s+(?:(?:an?|the|another|his|her)\s+)?([a-z]+)\b")
_POSSESSED = re.compile(r"\b(?:his|her)\s+(?:[a-z]+\s+)??([a-z]+)\b")
_SOMEBODY_AND = re.compile(r"\b([a-z]+)\s*,?\s+(?:and|&)\s+$")


def is_somebody(around: Surroundings) -> bool:
    """Tell whether a person would fit there."""
    if has_determiner(around):
        return False
    return acts(around) or _owns(around) or is_given(around) or _is_beside_somebody(around)


def acts(around: Surroundings, *, wide: bool = False) -> bool:
    """Tell whether a verb follows that only people do, or with `wide`, that people also do."""
    after = [word for word in around.after(3) if word not in _ADVERBS and word[-2:] != "ly"]
    if not after or around.is_possessive or _is_object(around):
        return False
    if not _REFLEXIVE.isdisjoint(after[1:]) and lemmas(after[0]):
        return True
    if after[0] in _BE:
        doing = after[1:2] != [] and after[1].endswith("ing")
        return _is_deed(after[1], wide) if doing else wide and not _is_done(after[1:2])
    inflected = not after[0].endswith("ing") and after[0] not in lemmas(after[0])
    has_object = wide and bool(lemmas(after[0])) and after[1:2] != [] and after[1] in DETERMINERS
    return inflected and (has_object or _is_deed(after[0], wide))


def acts_or_owns(around: Surroundings, *, wide: bool = False) -> bool:
    """Tell whether it does or has what only people do or have."""
    return acts(around, wide=wide) or _owns(around) or (wide and _has(around))


def _is_done(after: list[str]) -> bool:
    """Tell whether something is done to it, and nothing that is done to people: is poured."""
    if not after or after[0] in listed("people", "states"):
        return False
    plain = lemmas(after[0])
    return after[0] in _UNINFLECTED or (bool(plain) and after[0] not in plain)


def _is_deed(verb: str, wide: bool) -> bool:
    verbs = listed("people", "verbs") | (listed("people", "more_verbs") if wide else frozenset())
    return bool(lemmas(verb) & verbs)


def has_determiner(around: Surroundings) -> bool:
    """Tell whether an article or the like precedes it: a Quill, This Quill."""
    determiners = listed("around", "determiners") - {"that"}
    return not determiners.isdisjoint((*around.before(), around.run[0]))


def _owns(around: Surroundings) -> bool:
    belongings = listed("people", "belongings")
    return around.is_possessive and not belongings.isdisjoint(around.owned(2))


def _has(around: Surroundings) -> bool:
    """Tell whether something belongs to it: Quill's cup, but not `at Quill's in town`."""
    return around.is_possessive and not PHRASE_STARTS.issuperset(around.owned()[:1])


def _is_object(around: Surroundings) -> bool:
    before = [*around.before(), ""]
    return before[0] in listed("around", "place_prepositions") | {"to", "of", "on", "for", "by"}


def is_given(around: Surroundings) -> bool:
    """Tell whether it is done to people: hugs Quill, talks to Quill."""
    before = [word for word in around.before(4) if word not in _ADVERBS and word[-2:] != "ly"]
    before += ["", ""]
    if lemmas(before[0]) & listed("people", "verbs_to") and not around.after():
        return True
    if before[0] == "to" and "dance" in lemmas(before[1]):
        return False  # to a song
    if before[0] in ("to", "with", "at"):
        return bool((lemmas(before[1]) | {before[1]}) & listed("people", "verbs_with"))
    return before[0] == "beside"


def uses_own_body(around: Surroundings) -> bool:
    """Tell whether it does something with a hand or a coat of its own: Quill folds her arms."""
    possessed = (match[1] for match in _POSSESSED.finditer(around.right))
    return acts(around, wide=True) and not listed("people", "belongings").isdisjoint(possessed)


def may_be_given(around: Surroundings) -> bool:
    """Tell whether it is done to people, among other things: sees Quill, gives Quill a cup."""
    before = [*around.before(), ""]
    some = lemmas(before[0]) & listed("people", "verbs_of")
    return bool(some or DITRANSITIVE.search(around.left)) and not has_determiner(around)


def _is_beside_somebody(around: Surroundings) -> bool:
    """Tell whether a noun for a person is joined to it: Quill and a man."""
    after, before = _AND_SOMEBODY.match(around.right), _SOMEBODY_AND.search(around.left)
    people = GENDER_OF_NOUN.keys() | _PRONOUNS
    return any(match and match[1] in people for match in (after, before))
