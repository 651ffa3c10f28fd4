"""Which word stands for a person: varied as the paper's Table 3, the same for the same text."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from pipeline.rewriters.rules.lexicon import NUMBERS, Gender, plural
from pipeline.rewriters.rules.people import Person

PAIR = 2
Options = Sequence[tuple[str, int]]
"""Wordings with their weights; one of weight 0 is for repairs alone."""

_NOUNS: dict[Gender, Options] = {
    "man": (("man", 7), ("guy", 1)),
    "woman": (("woman", 7), ("lady", 1)),
    "unknown": (("person", 1),),
}
_VOWELS = ("a", "e", "i", "o", "u")
_SPOKEN_AS_CONSONANT = ("uni", "use", "one", "eu")


class Voice(NamedTuple):
    """What a choice of words depends on: the text, and how often it was rewritten before."""

    text: str
    attempt: int = 0

    def pick(self, options: Options) -> str:
        """Return one of the options by weight; each further attempt takes the next one."""
        digest = blake2b(self.text.encode("utf-8", "replace"), digest_size=8).digest()
        ticket = int.from_bytes(digest) % sum(weight for _, weight in options)
        first = next(i for i in range(len(options)) if ticket < sum(w for _, w in options[: i + 1]))
        return options[(first + self.attempt) % len(options)][0]

    def noun(self, person: Person) -> str:
        """Return the noun for a person: doctor, man, lady, person."""
        noun = self.pick(_NOUNS[person.gender])
        return self.pick(((person.role, 1), (noun, 0))) if person.role else noun


def article(word: str) -> str:
    """Return `a` or `an`, as the sound of the next word wants."""
    word = word.lower()
    vowel = word.startswith(_VOWELS) and not word.startswith(_SPOKEN_AS_CONSONANT)
    return "an" if vowel else "a"


def with_article(phrase: str) -> str:
    """Return `an old man` for `old man`."""
    return f"{article(phrase)} {phrase}"


def counted(number: int, noun: str, other: bool = False) -> str:
    """Return `two men`, `two other men`, `12 people`."""
    word = NUMBERS[number] if number < len(NUMBERS) else str(number)
    return f"{word} {'other ' if other else ''}{plural(noun)}"


def listed(phrases: Sequence[str]) -> str:
    """Return `a man`, `a man and a woman`, `a man, a boy and a woman`."""
    return " and ".join((", ".join(phrases[:-1]), phrases[-1])) if len(phrases) > 1 else phrases[0]
