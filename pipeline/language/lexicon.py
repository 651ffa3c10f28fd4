"""The words that the rules know, read from words.toml: nouns for people, titles, word classes."""

import tomllib
from pathlib import Path
from typing import Literal, NamedTuple

Gender = Literal["man", "woman", "unknown"]


class Title(NamedTuple):
    """What a title implies: the noun that may replace it, and the gender."""

    role: str | None
    gender: Gender = "unknown"


_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))


def words(section: str, name: str) -> frozenset[str]:
    """Return a word class."""
    return frozenset(_WORDS[section][name].split())


def plural(noun: str) -> str:
    """Return the plural of a noun for people."""
    return str(_WORDS["plurals"].get(noun, f"{noun}s"))


def _genders() -> dict[str, Gender]:
    men = words("people", "men") | words("people", "roles_of_men")
    women = words("people", "women") | words("people", "roles_of_women")
    others = words("people", "neutral") | words("people", "roles")
    return {
        **dict.fromkeys(sorted(men), "man"),
        **dict.fromkeys(sorted(women), "woman"),
        **dict.fromkeys(sorted(others), "unknown"),
    }


def _titles() -> dict[str, Title]:
    section = _WORDS["titles"]
    return {
        **dict.fromkeys(section["men"].split(), Title(None, "man")),
        **dict.fromkeys(section["women"].split(), Title(None, "woman")),
        **{role: Title(role) for role in section["roles"].split()},
        **_by_role(section["short"], "unknown"),
        **_by_role(section["roles_of_men"], "man"),
        **_by_role(section["roles_of_women"], "woman"),
    }


def _by_role(titles: dict[str, str], gender: Gender) -> dict[str, Title]:
    return {short: Title(role, gender) for role, forms in titles.items() for short in forms.split()}


GENDER_OF_NOUN = _genders()
GENDER_OF_PLURAL = {plural(noun): gender for noun, gender in GENDER_OF_NOUN.items()}
ROLE_NOUNS = frozenset().union(
    *(words("people", name) for name in ("roles_of_men", "roles_of_women", "roles"))
)
"""Nouns that say enough about a person for the name next to them to go: his friend Ann."""
TITLES = _titles()
PLURAL_TITLES = {"drs": "doctor"} | {word: word[:-1] for word in words("titles", "plurals")}
"""Titles of several people, with the noun for one: Detectives Lee and Ray."""
BARE_ADJECTIVES = words("adjectives", "bare")
"""Adjectives that precede a name without an article: young Ann."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
