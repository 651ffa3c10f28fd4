"""Who is who in a text: which mentions are one person, and of what gender."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.captions.rules.gender import Genders
from pipeline.captions.rules.mentions import Mention
from pipeline.language.lexicon import GENDER_OF_NOUN, PLURAL_TITLES, TITLES, Gender, Title


class Person(NamedTuple):
    """A person of a text; `role` is the noun that the title leaves: doctor."""

    names: tuple[str, ...]
    gender: Gender
    role: str | None = None


_PRONOUNS: dict[Gender, re.Pattern[str]] = {
    "man": re.compile(r"\b(?:he|his|himself)\b", re.IGNORECASE),
    "woman": re.compile(r"\b(?:she|herself|her(?=\s+[a-z]))\b", re.IGNORECASE),
}
# As an object, a pronoun is not the only person of a sentence, but may be the second one.
_PRONOUNS_OF_TWO: dict[Gender, re.Pattern[str]] = {
    "man": re.compile(r"\b(?:he|his|him|himself)\b", re.IGNORECASE),
    "woman": re.compile(r"\b(?:she|herself|her)\b", re.IGNORECASE),
}


def identify(mentions: Sequence[Mention]) -> list[int]:
    """Return the number of the person of each mention, in order of appearance.

    Two mentions are one person where the names of one are among the other's: `Ann Lee` and
    `Lee`. Titles of different gender part them: `Mr. Lee` and `Mrs. Lee`.
    """
    numbers: list[int] = []
    for place, mention in enumerate(mentions):
        same = (numbers[i] for i in range(place) if _are_one(mentions[i], mention))
        numbers.append(next(same, max(numbers, default=-1) + 1))
    return numbers


def _are_one(one: Mention, other: Mention) -> bool:
    names, more = sorted((set(one.names), set(other.names)), key=len)
    if not names:
        return not more and one.title == other.title
    genders = {_title(one).gender, _title(other).gender}
    return names <= more and one.family == other.family and genders != {"man", "woman"}


def _title(mention: Mention) -> Title:
    title = mention.title or ""
    if title in TITLES:
        return TITLES[title]
    return Title(PLURAL_TITLES.get(title) or title or None, GENDER_OF_NOUN.get(title, "unknown"))


def persons_of(
    text: str, mentions: Sequence[Mention], numbers: Sequence[int], genders: Genders
) -> list[Person]:
    """Return the people of a text by number."""
    people = [
        _person([m for m, n in zip(mentions, numbers, strict=True) if n == number], genders)
        for number in range(max(numbers, default=-1) + 1)
    ]
    return _by_pronouns(people, _rest(text, mentions))


def _person(mentions: Sequence[Mention], genders: Genders) -> Person:
    names = max((mention.names for mention in mentions), key=len)
    titles = [_title(mention) for mention in mentions]
    told: Gender = next((t.gender for t in titles if t.gender != "unknown"), "unknown")
    role = next((title.role for title in titles if title.role), None)
    return Person(names, told if told != "unknown" else genders.of(names), role)


def _rest(text: str, mentions: Sequence[Mention]) -> str:
    return text[mentions[0].end :] if mentions else text


def _by_pronouns(people: Sequence[Person], text: str) -> list[Person]:
    """Give the one person of unknown gender that of the pronouns that fit nobody else."""
    unknown = [number for number, person in enumerate(people) if person.gender == "unknown"]
    known = {person.gender for person in people}
    words = _PRONOUNS if len(people) == 1 else _PRONOUNS_OF_TWO
    fits = [gender for gender in words if gender not in known and words[gender].search(text)]
    if len(unknown) != 1 or len(fits) != 1:
        return list(people)
    return [
        person._replace(gender=fits[0]) if number == unknown[0] else person
        for number, person in enumerate(people)
    ]
