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


def _phrases(section: str, name: str) -> list[str]:
    return [phrase.replace("_", " ") for phrase in _WORDS[section][name].split()]


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
        **{role: Title(role) for role in _phrases("titles", "compounds")},
        **_by_role(section["short"], "unknown"),
        **_by_role(section["roles_of_men"], "man"),
        **_by_role(section["roles_of_women"], "woman"),
    }


def title_key(title: str) -> str:
    """Return a title as `TITLES` has it: Lt. Col. is the title lieutenant colonel."""
    written = title.lower().replace(".", " ").split()
    whole = " ".join(ROLE_OF_SHORT.get(word, word) for word in written)
    return whole if len(written) > 1 and whole in TITLES else " ".join(written)


def title_pattern() -> str:
    """Return a pattern of all titles, the longest first, with the short forms of their words."""
    forms = {role: f"(?:{'|'.join([role, *some.split()])})" for role, some in _SHORT.items()}
    by_length = sorted((*TITLES, *PLURAL_TITLES), key=len, reverse=True)
    return "|".join(
        r"(?:\.\s*|\s+)".join(forms.get(word, word) if " " in title else word for word in words)
        for title in by_length
        for words in [title.split()]
    )


def _by_role(titles: dict[str, str], gender: Gender) -> dict[str, Title]:
    return {short: Title(role, gender) for role, forms in titles.items() for short in forms.split()}


_SHORT: dict[str, str] = _WORDS["titles"]["short"]
ROLE_OF_SHORT = {short: role for role, forms in _SHORT.items() for short in forms.split()}
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
