"""Who is who in a text: which mentions are one person, their gender, and who else is there."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.captions.rules.gender import Genders
from pipeline.captions.rules.mentions import Mention
from pipeline.language.lexicon import (
    GENDER_OF_NOUN,
    GENDER_OF_PLURAL,
    PLURAL_TITLES,
    TITLES,
    Gender,
    Title,
)


class Person(NamedTuple):
    """A person whom a text names; `role` is the noun that a title implies: doctor."""

    names: tuple[str, ...]
    gender: Gender
    role: str | None = None


_PRONOUNS: dict[Gender, re.Pattern[str]] = {
    "man": re.compile(r"\b(?:he|his|himself)\b", re.IGNORECASE),
    "woman": re.compile(r"\b(?:she|herself|her(?=\s+[a-z]))\b", re.IGNORECASE),
}
# As an object, a pronoun can't be the only person in a sentence, but may be the second one.
_PRONOUNS_OF_TWO: dict[Gender, re.Pattern[str]] = {
    "man": re.compile(r"\b(?:he|his|him|himself)\b", re.IGNORECASE),
    "woman": re.compile(r"\b(?:she|herself|her)\b", re.IGNORECASE),
}


def number_people(mentions: Sequence[Mention]) -> list[int]:
    """Return the number of the person of each mention, in order of appearance.

    Two mentions are one person if the names of one are among the other's: `Ann Lee` and `Lee`.
    Titles of different gender separate them: `Mr. Lee` and `Mrs. Lee`.
    """
    numbers: list[int] = []
    for index, mention in enumerate(mentions):
        same = (numbers[i] for i in range(index) if _are_one(mentions[i], mention))
        numbers.append(next(same, max(numbers, default=-1) + 1))
    return numbers


def _are_one(first: Mention, second: Mention) -> bool:
    names, more = sorted((set(first.names), set(second.names)), key=len)
    if not names:
        return not more and first.title == second.title
    genders = {_title(first).gender, _title(second).gender}
    return names <= more and first.family == second.family and genders != {"man", "woman"}


def _title(mention: Mention) -> Title:
    title = mention.title or ""
    if title in TITLES:
        return TITLES[title]
    return Title(PLURAL_TITLES.get(title) or title or None, GENDER_OF_NOUN.get(title, "unknown"))


def describe_people(
    text: str, mentions: Sequence[Mention], numbers: Sequence[int], genders: Genders
) -> list[Person]:
    """Return the people in a text by number."""
    people = [
        _describe([m for m, n in zip(mentions, numbers, strict=True) if n == number], genders)
        for number in range(max(numbers, default=-1) + 1)
    ]
    return _infer_by_pronouns(people, text[mentions[0].end :] if mentions else text)


def _describe(mentions: Sequence[Mention], genders: Genders) -> Person:
    names = max((mention.names for mention in mentions), key=len)
    titles = [_title(mention) for mention in mentions]
    by_title = [title.gender for title in titles if title.gender != "unknown"]
    role = next((title.role for title in titles if title.role), None)
    return Person(names, by_title[0] if by_title else genders.look_up(names), role)


def _infer_by_pronouns(people: list[Person], text: str) -> list[Person]:
    """Infer the gender of a single unknown person from pronouns that fit nobody else."""
    unknown = [number for number, person in enumerate(people) if person.gender == "unknown"]
    taken = {person.gender for person in people}
    words = _PRONOUNS if len(people) == 1 else _PRONOUNS_OF_TWO
    fits = [gender for gender in words if gender not in taken and words[gender].search(text)]
    if len(unknown) == len(fits) == 1:
        people[unknown[0]] = people[unknown[0]]._replace(gender=fits[0])
    return people


# People whom a text already calls by a noun

_GENDER_OF_WORD: dict[str, Gender] = {"him": "man", **GENDER_OF_PLURAL, **GENDER_OF_NOUN}
_WORDS = "|".join(sorted(_GENDER_OF_WORD, key=len, reverse=True))
_NOUN = re.compile(rf"(?<![\w'\u2019-])(?:{_WORDS})(?![\w-])", re.IGNORECASE)
_BARE_ARTICLE = re.compile(r"\b(an?|the)\s+$", re.IGNORECASE)
_DESCRIPTION = re.compile(r"\s+(?:who|with|in|wearing|dressed|from|holding|[a-z]+ing)\b")
_SECOND_NOUN = re.compile(rf"\s+and\s+(?:{_WORDS})(?![\w-])")


class PersonNoun(NamedTuple):
    """A noun for a person, at `start`: `a man`, `the nurse`, `two women`.

    `article` is where its bare article is, if any; `apart` is the article that would distinguish it
    from another person with the same noun.
    """

    start: int
    noun: str
    gender: Gender
    article: tuple[int, int] | None
    apart: str


def find_nouns(text: str) -> list[PersonNoun]:
    """Return the nouns for people in a text."""
    return [_person_noun(text, match) for match in _NOUN.finditer(text)]


def _person_noun(text: str, match: re.Match[str]) -> PersonNoun:
    noun, (start, end) = match[0].lower(), match.span()
    # `the man and woman` share their article.
    article = None if _SECOND_NOUN.match(text, end) else _BARE_ARTICLE.search(text[:start])
    is_definite = article is not None and article[1].lower() == "the"
    apart = "the other" if is_definite and not _DESCRIPTION.match(text, end) else "another"
    return PersonNoun(
        start, noun, _GENDER_OF_WORD[noun], article.span(1) if article else None, apart
    )
