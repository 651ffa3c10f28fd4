"""What English words may be called in general, and what may stand in their place.

Read from general_words.toml: a small hypernymy of what captions tell of, for rules.
"""

import tomllib
from collections.abc import Iterable
from functools import cache
from itertools import chain
from pathlib import Path

from pipeline.captions.details import NO_DETAILS
from pipeline.language import lexicon
from pipeline.names.evidence import lists

_WORDS = tomllib.loads(Path(__file__).with_name("general_words.toml").read_text("utf-8"))


def _split(listed: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in listed.split())


def _lines(section: str) -> dict[str, tuple[str, ...]]:
    return {name.replace("_", " "): _split(line) for name, line in _WORDS[section].items()}


ALIKE_THINGS, ALIKE_PLACES = map(_lines, ("alike_things", "alike_places"))
"""Words of which each may be changed into another, by their kind."""
DONE_TO_THINGS, DONE_TO_PEOPLE, DONE = map(_lines, ("done_to_things", "done_to_people", "done"))
"""What an action may be changed into, by what it is done to."""
OBJECTS = _lines("objects")
"""The kinds of `ALIKE_THINGS` that a verb may have as its object."""
_THINGS, _PLACES, _ELSEWHERE, _ACTIONS = map(_lines, ("things", "places", "elsewhere", "actions"))


def listed(name: str) -> frozenset[str]:
    """Return a list of words for taking sentences apart."""
    return frozenset(_split(_WORDS["sentence"][name]))


PEOPLE = lexicon.GENDER_OF_NOUN.keys() | lexicon.GENDER_OF_PLURAL.keys() | {"people", "him"}
"""Words for people, in lower case."""
_ADULTS = {"man": "man", "men": "man", "woman": "woman", "women": "woman"}
_GENERAL_NAME = {word: name for name, words in {**_THINGS, **_PLACES}.items() for word in words}
_WHERE = frozenset(chain(*_PLACES.values(), *_ELSEWHERE.values()))
_GENERAL_VERB = {verb: name for name, verbs in _ACTIONS.items() for verb in verbs}
_NEGATIONS, _DENIALS = lexicon.words("form", "negations"), listed("denials")
GENERAL = listed("general") | (NO_DETAILS - PEOPLE)
"""Words, in lower case, that add nothing to a caption, whatever it says."""


def name_in_general(noun: str) -> str | None:
    """Return what a thing or place may be called in general, with its article."""
    return _GENERAL_NAME.get(noun)


def is_place(noun: str) -> bool:
    """Tell whether a noun is a place."""
    return noun in _WHERE


def verb_in_general(verb: str) -> str | None:
    """Return what an action may be called in general, both in the base form."""
    return _GENERAL_VERB.get(verb)


def is_person(word: str, told: Iterable[str]) -> bool:
    """Tell whether a word is a man or a woman where a caption's words tell of one."""
    gender = _ADULTS.get(word)
    return gender is not None and gender in map(_find_gender, told)


def _find_gender(word: str) -> str | None:
    return lexicon.GENDER_OF_NOUN.get(word) or lexicon.GENDER_OF_PLURAL.get(word)


def list_denials(words: Iterable[str]) -> list[str]:
    """Return the words that deny what is told, or leave it open: not, stops."""
    return [
        word
        for word in words
        if word in _NEGATIONS or word.endswith("n't") or _DENIALS & base_forms(word)
    ]


@cache
def base_forms(word: str) -> frozenset[str]:
    """Return what a word, in lower case, may be a form of, itself included."""
    return lists.lemmas(word) | {word, word.removesuffix("s"), word.removesuffix("es")}


def inflect(base: str, like: str) -> str | None:
    """Return a verb in the form that another has; a phrasal verb keeps its particle."""
    from lemminflect import getInflection  # noqa: PLC0415  (its tables take a moment)

    verb, *particle = base.split()
    if like in lists.lemmas(like):
        form = verb
    else:
        tag = "VBG" if like.endswith("ing") else "VBZ" if like.endswith("s") else "VBD"
        form = next(iter(getInflection(verb, tag)), "")
    return " ".join([form, *particle]) if form else None
