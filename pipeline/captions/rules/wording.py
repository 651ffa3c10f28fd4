"""Which word stands for a person: varied as the paper's Table 3, the same for the same text."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from pipeline.captions.rules.people import Person
from pipeline.language.lexicon import NUMBERS, Gender, plural

PAIR = 2
Options = Sequence[tuple[str, int]]
"""Wordings with their weights; one of weight 0 is for repairs alone."""

_NOUNS: dict[Gender, Options] = {
    "man": (("man", 3), ("guy", 1), ("person", 0)),
    "woman": (("woman", 3), ("lady", 1), ("person", 0)),
    "unknown": (("person", 1),),
}
SOMEONE: Options = (("someone", 1), ("a person", 1), ("somebody", 0))
SEVERAL: Options = (("together", 2), ("apart", 1), ("vaguely", 0))
"""Of several people: two people, a man and a woman, or a couple of people."""
UNTOLD: Options = (("together", 1), ("vaguely", 0))
"""Of several people where not all are known for men or women."""
OPENING: Options = (("noun", 4), ("pronoun", 1))
"""Of the only man or woman of a text, at its start."""
_FEW = 5
_VOWELS = ("a", "e", "i", "o", "u")
_SPOKEN_AS_CONSONANT = ("uni", "use", "one", "eu")


class Voice(NamedTuple):
    """What a choice of words depends on: the text, and how often it was rewritten before."""

    text: str
    attempt: int = 0

    def pick(self, options: Options) -> str:
        """Return one of the options by weight; each further attempt takes the next one."""
        slot = f"{options[0][0]}\n{self.text}"
        digest = blake2b(slot.encode("utf-8", "replace"), digest_size=8).digest()
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


def possessive(phrase: str, suffix: str) -> str:
    """Return a phrase with its possessive ending: a man's, two guys'."""
    return phrase + (suffix[:1] if phrase.endswith("s") else suffix)


def counted(number: int, noun: str, other: bool = False) -> str:
    """Return `two men`, `two other men`, `12 people`."""
    word = NUMBERS[number] if number < len(NUMBERS) else str(number)
    return f"{word} {'other ' if other else ''}{plural(noun)}"


def vaguely(number: int) -> str:
    """Return how many people there are, about."""
    return f"{'a couple of' if number == PAIR else 'a few' if number <= _FEW else 'several'} people"


def listed(phrases: Sequence[str]) -> str:
    """Return `a man`, `a man and a woman`, `a man, a boy and a woman`."""
    return " and ".join((", ".join(phrases[:-1]), phrases[-1])) if len(phrases) > 1 else phrases[0]
