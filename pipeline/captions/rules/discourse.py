"""Who has been spoken of so far in a text, and what may be said of them next.

The first mention of a person is indefinite (a man, another man), a later one a pronoun where
nobody else can be meant by it, else a definite noun (the man, the other man).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.captions.rules.context import Context
from pipeline.captions.rules.people import Person
from pipeline.captions.rules.wording import OPENING, PAIR, SOMEONE, Voice, possessive, with_article
from pipeline.language.lexicon import GENDER_OF_NOUN, Gender, plural

PRONOUNS: dict[Gender, dict[str, str]] = {
    "man": {"subject": "he", "object": "him", "'s": "his"},
    "woman": {"subject": "she", "object": "her", "'s": "her"},
    "unknown": {"'s": "their"},
}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


class Known(NamedTuple):
    """Somebody spoken of at a place in the text, by a noun.

    `person` is the number of a person whose name was replaced, `group` the first person of
    those who share one phrase (two men).
    """

    at: int
    noun: str
    gender: Gender
    person: int | None = None
    group: int | None = None


@dataclass
class Discourse:
    """A text as far as it has been read.

    Those `alone` are the only man or the only woman in it, whom a pronoun can introduce.
    """

    people: Sequence[Person]
    voice: Voice
    alone: frozenset[int] = frozenset()
    known: list[Known] = field(default_factory=list)
    _singled_out: list[int] = field(default_factory=list)

    def noun(self, number: int) -> str:
        """Return the noun for a person."""
        return self.voice.noun(self.people[number])

    def met(self, number: int) -> Known | None:
        """Return what a person was called before, if they were."""
        return next((known for known in self.known if known.person == number), None)

    def has(self, noun: str) -> bool:
        """Tell whether somebody was called by a noun before."""
        return any(known.noun == noun for known in self.known)

    def introduce(
        self, number: int, at: int, noun: str | None = None, group: int | None = None
    ) -> None:
        """Take note of a person, under the noun they were called."""
        if not self.met(number):
            noun = noun or self.noun(number)
            told = GENDER_OF_NOUN.get(noun, "unknown")
            gender = self.people[number].gender
            self.known.append(
                Known(at, noun, told if gender == "unknown" else gender, number, group)
            )

    def first(self, number: int, at: int) -> str:
        """Return the phrase for a person not yet spoken of, and take note of them."""
        noun = self.noun(number)
        again = self.has(noun)
        self.introduce(number, at)
        if again:
            return f"another {noun}"
        if noun == "person":
            return self.voice.pick(SOMEONE)
        return with_article(noun)

    def opening(self, number: int, at: int) -> str | None:
        """Return the pronoun that a text begins with, for whom and where it may."""
        if number not in self.alone or self.voice.pick(OPENING) == "noun":
            return None
        self.introduce(number, at)
        return PRONOUNS[self.people[number].gender]["subject"]

    def again(self, number: int, suffix: str, context: Context) -> str:
        """Return the phrase for a person spoken of before, possessive included."""
        pronoun = PRONOUNS[self.people[number].gender].get(suffix or context.case)
        if pronoun and not self._rivals(number, context):
            return pronoun
        return possessive(self.definite(number), suffix)

    def definite(self, number: int) -> str:
        """Return the noun with what sets it apart: the man, the first man, one of the men."""
        met = self.met(number)
        noun = met.noun if met else self.noun(number)
        alike = [known for known in self.known if known.noun == noun]
        together = [
            known for known in alike if met and met.group is not None and known.group == met.group
        ]
        if len(alike) <= 1:
            return f"the {noun}"
        if len(together) == len(alike):
            return self._one_of(number, noun, len(together))
        place = next((i for i, known in enumerate(alike) if known.person == number), 0)
        ordinal = (
            "other" if len(alike) == PAIR and place else _ORDINALS[min(place, len(_ORDINALS) - 1)]
        )
        return f"the {ordinal} {noun}"

    def _one_of(self, number: int, noun: str, group: int) -> str:
        if number not in self._singled_out:
            self._singled_out.append(number)
        if self._singled_out[0] == number:
            return f"one of the {plural(noun)}"
        return f"the other {noun}" if group == PAIR else f"another of the {plural(noun)}"

    def _rivals(self, number: int, context: Context) -> bool:
        """Tell whether a pronoun for a person could mean somebody else.

        As an object, it can't mean those of its own clause: `as Ann and Bea follow him`.
        """
        gender = self.people[number].gender
        end = context.clause if context.case == "object" else context.start
        rivals = (k for k in self.known if k.person != number and k.at < end)
        return any(
            "unknown" in (gender, rival.gender) or gender == rival.gender for rival in rivals
        )
