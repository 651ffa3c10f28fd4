"""How strongly a word's context suggests a person: points for it minus points against it."""

from pipeline.language.lexicon import TITLES
from pipeline.names.evidence import lists, roles
from pipeline.names.evidence.place_context import is_attribute, is_somewhere
from pipeline.names.evidence.surroundings import Surroundings

DOES = 2
"""Points of what only people do, have or are given."""
MAY_DO = 1
"""Points of what both people and things do: Quill falls."""
SURE, LISTED = 2, 1
"""Points of a first name that is nothing else, and of any first or family name of the lists."""
SOMEWHERE, PERHAPS = 3, 1
"""Points against a person where a place fits: in Quill; and where it may: walks to Quill."""
THING = 2
"""Points against one where a kind of thing or a text would fit, or in the name of a thing."""
ELSEWHERE = 2
"""Points against a word that is a place or a make."""
_EITHER = frozenset(("across", "at", "from", "into", "to", "toward", "towards"))
"""Prepositions that bring people nearly as often as places."""


def weigh(around: Surroundings) -> int:
    """Return the points of a word in its place, by its sentence and by the lists."""
    place_weight = weigh_place(around)
    against = THING * _is_in_name(around) + ELSEWHERE * any(map(lists.is_elsewhere, around.keys))
    return (
        (min(place_weight, MAY_DO) if _is_kind(around) else place_weight)
        + _weigh_word(around, place_weight)
        - against
    )


def weigh_place(around: Surroundings) -> int:
    """Return the points of the place alone, whatever word is there."""
    if is_attribute(around):
        return -THING
    if is_somewhere(around):
        return -PERHAPS if _EITHER.intersection(around.before()) else -SOMEWHERE
    if roles.is_somebody(around) or roles.uses_own_body(around):
        return DOES
    return MAY_DO * (roles.acts_or_owns(around, wide=True) or roles.may_be_given(around))


def _weigh_word(around: Surroundings, place_weight: int) -> int:
    """Return the points of the lists of names minus those of English words.

    At the start of a sentence a single word has its capital from that.
    """
    keys, alone = around.keys, _is_alone(around)
    needs = 1 + (place_weight <= 0) if alone else 0
    first_name = LISTED * any(key in lists.given_names() for key in keys)
    first_name = SURE if any(map(lists.is_given_name, keys)) else first_name
    family = not _is_kind(around) and any(key in lists.family_names() for key in keys)
    if all(map(lists.is_word, keys)):
        # In mid-sentence the capital of a first name is its own, even if it is a word too.
        return (
            first_name + LISTED * family - (1 + needs if alone else not first_name and 2 - family)
        )
    return first_name + LISTED * family


def _is_alone(around: Surroundings) -> bool:
    return around.at_start and len(around.run) == 1


def _is_kind(around: Surroundings) -> bool:
    """Tell whether it is a kind of person that a sentence begins with: Hunter walks."""
    return _is_alone(around) and not lists.listed("lists", "kinds").isdisjoint(around.keys)


def _is_in_name(around: Surroundings) -> bool:
    """Tell whether it is next to a capitalised word that is not a name: Quill Pro Max."""
    beside = set(around.run[around.at_start :]).difference(around.keys, TITLES)
    return not all(word in lists.given_names() or word in lists.family_names() for word in beside)
