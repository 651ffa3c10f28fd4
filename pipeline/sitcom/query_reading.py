"""Read what a query asks for by the screenplay's words, where no moment says what it was made from.

No sentence is parsed: the action is the one with the longest list of words that are in the query in
this order; its people, object and place are the words for them. A thing or a place that no moment
shows is one as well.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain

from momentrank.errors import MomentRankError
from pipeline.core import text
from pipeline.language import lexicon, syntax
from pipeline.names.evidence import lists
from pipeline.sitcom.screenplay import PLACEHOLDER, SCREENPLAY, Gender, Screenplay
from pipeline.sitcom.staging.world import Scene

GAP = 10
"""Words, at most, from one word of an action to the next."""
OTHER = "{other}"
_PRONOUNS: dict[str, Gender] = {"she": "woman", "he": "man"}
_WHERE = frozenset(("in", "at", "inside"))
_BESIDE = frozenset(("to", "at", "by", "near", "through", "from", "behind"))
_SEVERAL: dict[str, Gender] = {**lexicon.GENDER_OF_PLURAL, "couple": "unknown"}
_NUMBERS = {name: number for number, name in enumerate(lexicon.NUMBERS) if number}


class QueryError(MomentRankError):
    """A query of which no word is the screenplay's."""


def read_query(query: str, script: Screenplay) -> Scene:
    """Return what a query asks for; its action is '' if the screenplay has no such one.

    Raises:
        QueryError: it tells of no person, action, thing or place of the screenplay.
    """
    words = text.words(query)
    action, is_other_first = _find_action(words, script)
    people = list(_list_people(words))
    thing = _find_object(words, action, script)
    place = next(_find_places(query.lower(), words, script), None)
    if not (action or people or thing or place):
        raise QueryError(
            f"{query!r} can't be judged: no word of it is in {SCREENPLAY}: reword it, or add its"
            " words there"
        )
    for word, preposition in _list_strange(words, script) if action else ():
        is_done_to = bool(script.action(action).objects) and not thing
        if preposition in _WHERE or (preposition == "on" and not is_done_to):
            place = place or word
        else:
            thing = thing or word
    people = people[: max(script.action(action).people)] if action else people
    by_gender = {person.gender: name for name, person in reversed(script.cast.items())}
    who = tuple(by_gender[gender] for gender in people[:: -1 if is_other_first else 1])
    told = {"people": who, "action": action, "object": thing, "place": place}
    mentions = frozenset(facet for facet, found in told.items() if found)
    return Scene(who, action, thing, place or "", mentions)


def _find_places(query: str, words: Sequence[str], script: Screenplay) -> Iterator[str]:
    """Yield the places that a query names: the roof terrace, the terrace."""
    yield from (name for name in script.places if name in query)
    parts = {part: name for name in script.places for part in name.split()}
    yield from (parts[word] for word in words if word in parts and word not in script.general)


def _find_action(words: Sequence[str], script: Screenplay) -> tuple[str, bool]:
    """Return the action that most words tell, and whether the other is named first."""
    forms = [_base_forms(word) for word in words]
    found = [
        (len(re.split("[ _]", pattern)), name, pattern.startswith(OTHER))
        for name, action in script.actions.items()
        for pattern in action.words
        if _are_in_order(pattern.removeprefix(OTHER).split(), forms)
    ]
    _, name, is_other_first = max(found, key=lambda match: match[0], default=(0, "", False))
    return name, is_other_first


def _are_in_order(pattern: Sequence[str], forms: Sequence[frozenset[str]]) -> bool:
    """Tell whether words are among others in this order; those joined by _ follow each other."""
    ends = set(range(-1, len(forms)))
    for joined in pattern:
        gap = len(forms) if joined == pattern[0] else GAP
        for wanted in joined.split("_"):
            ends = {
                at
                for at, word in enumerate(forms)
                if wanted in word and any(end < at <= end + gap for end in ends)
            }
            gap = 1
    return bool(ends)


@cache
def _base_forms(word: str) -> frozenset[str]:
    bare = word.removesuffix("'s").removesuffix("\u2019s")
    return lists.lemmas(bare) | {bare, bare.removesuffix("s"), "foot" if bare == "feet" else bare}


def _list_people(words: Sequence[str]) -> Iterator[Gender]:
    """Yield the gender of everyone who is named; a pronoun counts if nobody is named before it."""
    is_named = False
    for before, word in zip(["", *words], words, strict=False):
        bare = word.removesuffix("'s").removesuffix("\u2019s")
        one, several = lexicon.GENDER_OF_NOUN.get(bare), _SEVERAL.get(bare)
        number = _NUMBERS.get(before, 2) if several and not one else 1
        gender = one or several or (None if is_named else _PRONOUNS.get(bare))
        if gender:
            is_named = True
            yield from [gender] * number


def _find_object(words: Sequence[str], action: str, script: Screenplay) -> str | None:
    """Return the thing that an action is done to; without one, no thing matters."""
    own = script.action(action).objects if action else tuple(script.objects)
    names = {form: str(name) for name, thing in script.objects.items() for form in thing.words}
    names |= {str(name): str(name) for name in script.objects}
    found = [
        (name not in own, name)
        for at, word in enumerate(words)
        for form in sorted(_base_forms(word))
        if (name := names.get(form))
        and (name in own or not _BESIDE.intersection(words[max(0, at - 3) : at]))
    ]
    return min(found, key=lambda thing: thing[0], default=(True, None))[1] if own else None


def _list_strange(words: Sequence[str], script: Screenplay) -> Iterator[tuple[str, str]]:
    """Yield nouns that are not the screenplay's, each with the preposition before it, or ''."""
    known = _known_words(script)
    around = zip(["", *words], words, [*words[1:], ""], strict=False)
    for at, (before, word, after) in enumerate(around):
        if _is_noun(before, word, after) and not known & _base_forms(word):
            left = [near for near in words[max(0, at - 3) : at] if near in syntax.PREPOSITIONS]
            yield word, left[-1] if left else ""


def _is_noun(before: str, word: str, after: str) -> bool:
    """Tell whether a word is a noun, by its classes and the words next to it."""
    ends = not after or after in syntax.PHRASE_STARTS or not lists.may_be_adjective(word)
    is_after = before in syntax.DETERMINERS | {"of"} and ends
    return lists.is_noun(word) or (is_after and lists.may_be_noun(word))


def _known_words(script: Screenplay) -> frozenset[str]:
    told = [*script.places, *script.general]
    for action in script.actions.values():
        told += [*action.words, *(PLACEHOLDER.sub(" ", phrasing) for phrasing in action.phrasings)]
    for name, thing in script.objects.items():
        told += [name, thing.a, *thing.words, thing.pot or ""]
    people = {*lexicon.GENDER_OF_NOUN, *_SEVERAL, *syntax.PHRASE_STARTS}
    people |= {"herself", "itself", "each", "other"}
    words = chain.from_iterable(map(text.words, told))
    return frozenset(people.union(*map(_base_forms, words)))
