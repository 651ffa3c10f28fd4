"""Whether a candidate is a person's name: the evidence for it and against it.

Evidence is a line of the cast, a title, `named`, a name of the lists, a name of the corpus that
acts and recurs, or a place in the sentence where only a person fits. A capital at the start of a
sentence is not evidence.
"""

import re
from collections.abc import Container
from typing import Literal, NamedTuple

from pipeline.language.lexicon import GENDER_OF_NOUN, GENDER_OF_PLURAL, TITLES, words
from pipeline.names.evidence import lists, roles
from pipeline.names.evidence.cast import Cast
from pipeline.names.evidence.lower_case import Kind, weigh_lower
from pipeline.names.evidence.place_context import (
    is_attribute,
    is_somewhere,
    is_thing,
    is_to_be_read,
)
from pipeline.names.evidence.surroundings import Surroundings
from pipeline.names.evidence.weighing import weigh, weigh_place

Reason = Literal[
    "cast", "title", "named", "listed", "full-name", "corpus", "role", "tagger",
    "lower", "not-a-name", "thing", "elsewhere", "place", "attribute", "headline", "start", "word",
    "unknown",
]  # fmt: skip

NAMES_PEOPLE = 0.2
"""From this share of texts with a name of the lists, a corpus names its people ..."""
MOST_NAME = 0.6
"""... and from this one, the tagger is believed unless something speaks against it."""
FULL = 2
"""Words of a first and a family name."""
COMPANY, JOINED = 1, 2
"""Points (`weighing`) of a person named near it: Nora sees Quill; and of Quill and Nora."""
_SHORT_TITLES = words("titles", "announcing")
_OF_KIN = frozenset(("aunt", "auntie", "grandma", "grandpa", "uncle"))
_AND = re.compile(r"(?:,? and|,| &) ([A-Z][\w-]*)")
_BEFORE_AND = re.compile(r"([A-Z][\w-]*)(?:,? and|,| &) $")
_NAMED = re.compile(r"\b([\w-]+)\s*,?\s+(?:who\s+is\s+|who's\s+)?(?:named|called)\s+$")


class Verdict(NamedTuple):
    """The decision: it is a person's name, it may be one, or neither; and why."""

    kind: Kind
    reason: Reason


class Known(NamedTuple):
    """What a corpus shows.

    Attributes:
        cast: its cast list.
        people: the words that are people there.
        named: the words that are names there, or in its cast, and may be so in lower case.
        words: those of them that it writes without a capital as often: House.
        suspects: places, makes and peoples that do there what people do: Dutch picks a lock.
        share: the share of texts that name a person by the lists; sets how little evidence is
            enough.
    """

    cast: Cast
    people: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    suspects: frozenset[str] = frozenset()
    share: float = 0.0

    @property
    def names_people(self) -> bool:
        """Tell whether the corpus names its people."""
        return self.share >= NAMES_PEOPLE

    @property
    def needed(self) -> int:
        """Return the points (`weighing`) that a name needs if only the tagger sees it."""
        return 0 if self.share >= MOST_NAME else 1 if self.names_people else 3


def judge(around: Surroundings, known: Known) -> Verdict:
    """Return the verdict on a candidate."""
    if not around.keys:  # a number, as used for names in series
        return Verdict("name", "tagger") if known.names_people else Verdict("weak", "unknown")
    if known.cast.is_no_name(around.keys):
        return Verdict("none", "not-a-name")
    if around.is_lower and not known.named.isdisjoint(around.keys):
        return Verdict(weigh_lower(around), "lower")
    is_cast = known.cast.is_name(around.keys)
    if reason := None if is_cast else _against(around, known):
        return Verdict("none", reason)
    reason = "cast" if is_cast else _for(around, known)
    return Verdict("name", reason) if reason else _neither(around, known)


def is_name(around: Surroundings, cast: Cast | None = None) -> bool:
    """Tell whether the cast or the lists alone make it a name, whatever a tagger says."""
    verdict = judge(around, Known(cast or Cast()))
    return verdict.reason in ("cast", "title", "listed", "full-name")


def _against(around: Surroundings, known: Known) -> Reason | None:
    if is_to_be_read(around):
        return "thing"
    if _is_of_corpus(around, known) and not around.headline:
        return None
    titled = _SHORT_TITLES.intersection(around.run[:-1])  # Dr. House is no house
    if is_thing(around) and not titled:
        return "thing"
    if not all(map(lists.is_elsewhere, around.keys)):
        return None
    names = lists.given_names() | (lists.family_names() if known.names_people else frozenset())
    acts = known.names_people and weigh_place(around) > 0
    may_be = names.intersection(around.keys) or acts or known.suspects.intersection(around.keys)
    return None if may_be and not is_somewhere(around) else "elsewhere"


def _for(around: Surroundings, known: Known) -> Reason | None:
    if _has_title(around):
        return "title"
    if _is_named(around):
        return "named"
    if is_attribute(around) and not (known.names_people and _is_of_corpus(around, known)):
        return None
    if is_full_name(around):
        return "full-name"
    if around.headline:
        return None
    return _for_by_place(around, known) or ("corpus" if _is_of_texts(around, known) else None)


def _is_of_texts(around: Surroundings, known: Known) -> bool:
    """Tell whether another text has it as a name, and nothing here speaks for a common word."""
    if is_attribute(around) or known.named.isdisjoint(around.keys):
        return False
    common = any(map(lists.is_word, around.keys))
    return not common or not around.at_start or roles.acts_or_owns(around, wide=True)


def _is_named(around: Surroundings) -> bool:
    """Tell whether the text calls it a person's name: a woman called Quill."""
    named = None if around.headline else _NAMED.search(around.left)
    return bool(named and (named[1] in GENDER_OF_NOUN or named[1] in GENDER_OF_PLURAL))


def _for_by_place(around: Surroundings, known: Known) -> Reason | None:
    if is_listed(around):
        return "listed"
    company = _company(around, known)
    if _is_of_corpus(around, known):
        as_word = around.at_start and not known.words.isdisjoint(around.keys)
        enough = weigh_place(around) + company > 0 or _joins(around, around.company)
        if enough or (known.names_people and not as_word):
            return "corpus"
    if weigh(around) + company >= known.needed:
        return "tagger"
    has_role = roles.is_somebody(around) or _joins_name(around, known)
    return "role" if has_role and _may_be_named(around) else None


def _is_of_corpus(around: Surroundings, known: Known) -> bool:
    """Tell whether the corpus has a person of that name; a final s may lack its apostrophe."""
    return any(key in known.people or key.removesuffix("s") in known.people for key in around.keys)


def _company(around: Surroundings, known: Known) -> int:
    """Return the points of the people who are named near it."""
    named = any(key in known.people or lists.is_given_name(key) for key in around.company)
    return COMPANY * named + JOINED * _joins_name(around, known)


def _joins_name(around: Surroundings, known: Known) -> bool:
    """Tell whether a name of the corpus or of the lists is joined to it: Quill and Nora."""
    named = {key for key in around.company if key in known.people or lists.is_given_name(key)}
    return _joins(around, named)


def _joins(around: Surroundings, others: Container[str]) -> bool:
    """Tell whether one of the other names is joined to it by `and` or a comma."""
    matches = (_AND.match(around.right), _BEFORE_AND.search(around.left))
    return any(match[1].lower() in others for match in matches if match)


def _neither(around: Surroundings, known: Known) -> Verdict:
    if around.headline:
        return Verdict("weak", "headline")
    if is_somewhere(around):
        return Verdict("weak", "place")
    if is_attribute(around):
        kind_of_thing = around.at_start and all(map(lists.is_word, around.keys))
        return Verdict("none" if kind_of_thing else "weak", "attribute")
    if around.at_start:
        ordinary = all(map(lists.is_word, around.keys)) and not known.names_people
        acts = lists.given_names().intersection(around.keys) and roles.acts(around, wide=True)
        return Verdict("none" if ordinary and not acts else "weak", "start")
    return Verdict("weak", "word" if all(map(lists.is_word, around.keys)) else "unknown")


def is_listed(around: Surroundings) -> bool:
    """Tell whether it is a first name, where no place would stand."""
    if not lists.is_given_name(around.keys[0]) or is_somewhere(around):
        return False
    ordinary = around.at_start and len(around.run) == 1 and lists.is_word(around.keys[0])
    return not ordinary or roles.acts_or_owns(around)


def is_full_name(around: Surroundings) -> bool:
    """Tell whether it is a first and a family name of the lists."""
    run = around.run
    if len(run) < FULL or not set(run) & set(around.keys) or is_thing(around):
        return False
    first, last = run[-FULL], run[-1]
    if first not in lists.given_names() or last in lists.places():
        return False
    sure = lists.is_given_name(first)
    is_family = last in lists.family_names() and not lists.is_elsewhere(last)
    if around.headline and lists.is_word(last):
        return False
    return is_family and (sure or not is_somewhere(around)) and (sure or not lists.is_word(last))


def _has_title(around: Surroundings) -> bool:
    """Tell whether a title precedes the name, in its run or in lower case."""
    names = [key for key in around.keys if key not in TITLES]
    if not names:
        return False
    before = {*around.run[: around.run.index(names[0])], *around.before()}
    if before & _SHORT_TITLES:
        return True
    if not before & TITLES.keys() or around.headline or any(map(lists.is_elsewhere, names)):
        return False
    if not all(map(lists.is_word, names)) or before & _OF_KIN:
        return True
    known = lists.given_names() | lists.family_names()
    return known.issuperset(names) and roles.acts_or_owns(around, wide=True)


def _may_be_named(around: Surroundings) -> bool:
    """Tell whether people may have that name.

    It must not be an English word or a place, unless it is a first name too and not a kind of
    person. At the start of a sentence a single word must be a first name.
    """
    alone = around.at_start and len(around.run) == 1
    return all(
        (key in lists.given_names() and key not in lists.listed("lists", "kinds"))
        or not (alone or lists.is_word(key) or lists.is_elsewhere(key))
        for key in around.keys
    )
