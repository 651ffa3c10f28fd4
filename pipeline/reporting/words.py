"""Words of texts: how many, how many different ones, and which of them are verbs.

Verbs are found by a lexicon that the installed package Faker carries (its English `lorem`
provider sorts words by part of speech): a word counts where it is a regular form of one of its
verbs, or one of the few irregular ones below, and does not follow an article, a possessive or
an adjective of the lexicon, as in `a hand`. Verbs that the lexicon lacks are not seen: the
number is a lower bound, and the report says so.
"""

import re
from collections.abc import Iterable
from functools import cache

from faker.providers.lorem.en_US import Provider

LEXICON = "Faker"
WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
IRREGULAR = {
    "be": ("am", "is", "are", "was", "were", "been", "being"),
    "have": ("has", "had", "having"),
    "do": ("does", "did", "done"),
    "go": ("goes", "went", "gone"),
}
_DETERMINERS = (
    "a an the this that these those his her its their my your our some another no one two"
)
BEFORE_NOUNS = frozenset(_DETERMINERS.split())
VOWELS = "aeiou"


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; a possessive or a hyphen joins, not parts."""
    return WORD.findall(text.lower())


def vocabulary(texts: Iterable[str]) -> set[str]:
    """Return the different words of texts."""
    return {word for text in texts for word in words(text)}


def verbs(texts: Iterable[str]) -> set[str]:
    """Return the different verbs of texts, by the form that the lexicon has."""
    return {verb for text in texts for verb in _verbs(words(text))}


@cache
def lexicon() -> dict[str, str]:
    """Return the forms of every verb of the lexicon, with the form that stands there."""
    found = set(Provider.parts_of_speech["verb"])
    regular = {form: verb for verb in sorted(found) for form in forms(verb)}
    irregular = {form: verb for verb, own in IRREGULAR.items() for form in (verb, *own)}
    return regular | irregular


def lexicon_size() -> int:
    """Return how many verbs the lexicon has."""
    return len(set(lexicon().values()))


def forms(verb: str) -> set[str]:
    """Return the regular forms of a verb, also some that nobody writes: `open, openning`."""
    found = {verb, f"{verb}s", f"{verb}ed", f"{verb}ing"}
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        found.add(f"{verb}es")
    if verb.endswith("e"):
        found |= {f"{verb}d", f"{verb[:-1]}ing"}
    if re.search(f"[^{VOWELS}]y$", verb):
        found |= {f"{verb[:-1]}ies", f"{verb[:-1]}ied"}
    if re.search(f"[^{VOWELS}][{VOWELS}][^{VOWELS}wxy]$", verb):
        found |= {f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed"}
    return found


def _verbs(text: list[str]) -> set[str]:
    known = lexicon()
    no_verb_after = BEFORE_NOUNS | _adjectives()
    pairs = zip(["", *text], text, strict=False)
    return {known[word] for before, word in pairs if word in known and before not in no_verb_after}


@cache
def _adjectives() -> frozenset[str]:
    return frozenset(Provider.parts_of_speech["adjective"])
