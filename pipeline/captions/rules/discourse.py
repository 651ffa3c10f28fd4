"""Who has been mentioned so far in a text, and what they may be called next.

The first mention of a person is indefinite (a man, another man). A later one is a pronoun if it
can mean nobody else, or else a definite noun (the man, the other man). Several people are counted
(two men), a family counts as one, and a name that can be dropped is not replaced.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.captions.rules.context import Context, Removal
from pipeline.captions.rules.coreference import Person, PersonNoun
from pipeline.captions.rules.person_words import (
    OF_UNKNOWN,
    OPENING,
    PAIR,
    SEVERAL,
    SOMEONE,
    Voice,
    count_phrase,
    join_phrases,
    number_word,
    possessive,
    vague_phrase,
    with_article,
)
from pipeline.captions.rules.units import Unit
from pipeline.language.lexicon import GENDER_OF_NOUN, Gender, plural

_PRONOUNS: dict[Gender, dict[str, str]] = {
    "man": {"subject": "he", "object": "him", "'s": "his"},
    "woman": {"subject": "she", "object": "her", "'s": "her"},
    "unknown": {"'s": "their"},
}
_THEY = {"subject": "they", "object": "them", "'s": "their"}
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_MANY = 6
"""From this many people on, they are a group."""


class Referent(NamedTuple):
    """Someone mentioned at a place in the text, by a noun.

    `person` is the number of a person whose name was replaced, `group` the first of the people who
    share one phrase (two men).
    """

    at: int
    noun: str
    gender: Gender
    person: int | None = None
    group: int | None = None


@dataclass
class Discourse:
    """A text as far as it has been read.

    People in `alone` are the only man or the only woman in it; a pronoun can introduce them.
    """

    people: Sequence[Person]
    voice: Voice
    alone: frozenset[int] = frozenset()
    _referents: list[Referent] = field(default_factory=list)
    _singled_out: list[int] = field(default_factory=list)

    def add_noun(self, noun: PersonNoun) -> bool:
        """Note a noun for a person; return whether a name became the same word before."""
        if any(known.at == noun.start for known in self._referents):
            return False
        repeats = any(r.noun == noun.noun and r.person is not None for r in self._referents)
        self._referents.append(Referent(noun.start, noun.noun, noun.gender))
        return repeats

    def phrase(self, unit: Unit, context: Context, *, apart: bool) -> str:
        """Return what replaces a unit, possessive included, and note its people.

        `apart`: one of several people is mentioned alone elsewhere in the text.
        """
        if context.removal:
            self._add_removed(unit, context.removal)
            return context.removal.instead or unit.suffix
        if unit.mentions[0].family:
            return f"a family{unit.suffix}"
        numbers = list(dict.fromkeys(unit.people))
        if len(numbers) == 1:
            return self._single(numbers[0], unit.suffix, context)
        met = [self._referent(number) is not None for number in numbers]
        if all(met):
            return self._all_again(numbers, unit.suffix, context)
        if any(met):
            unlike = context._replace(case="open")
            phrase = join_phrases([self._single(number, "", unlike) for number in numbers])
        else:
            phrase = self._several(numbers, context.start, apart=apart)
        return possessive(phrase, unit.suffix)

    def _referent(self, number: int) -> Referent | None:
        """Return what a person was called before, if they were."""
        return next((known for known in self._referents if known.person == number), None)

    def _noun(self, number: int) -> str:
        return self.voice.noun(self.people[number])

    def _has(self, noun: str) -> bool:
        return any(known.noun == noun for known in self._referents)

    def _add(self, number: int, at: int, noun: str, group: int | None = None) -> None:
        """Note a person, under the noun they were called, unless noted before."""
        if not self._referent(number):
            gender = self.people[number].gender
            if gender == "unknown":
                gender = GENDER_OF_NOUN.get(noun, "unknown")
            self._referents.append(Referent(at, noun, gender, number, group))

    def _add_removed(self, unit: Unit, removal: Removal) -> None:
        """Note that the noun next to a dropped name is that person, not another one."""
        if removal.noun:
            self._referents = [known for known in self._referents if known.at != removal.at]
            for number in unit.people:
                self._add(number, removal.at, removal.noun)

    # One person

    def _single(self, number: int, suffix: str, context: Context) -> str:
        noun, referent = self._noun(number), self._referent(number)
        if context.determiner or context.adjective:
            described = context.adjective + noun
            self._add(number, context.start, noun)
            if not context.determiner:
                described = f"the {described}" if referent else with_article(described)
            return described + suffix
        if referent:
            return self._again(number, suffix, context)
        may_be_pronoun = context.opens and not suffix and number in self.alone
        if may_be_pronoun and self.voice.pick(OPENING) == "pronoun":
            self._add(number, context.start, noun)
            return _PRONOUNS[self.people[number].gender]["subject"]
        return self._first(number, context.start) + suffix

    def _first(self, number: int, at: int) -> str:
        """Return the phrase for a person not mentioned yet."""
        noun = self._noun(number)
        is_repeated = self._has(noun)
        self._add(number, at, noun)
        if is_repeated:
            return f"another {noun}"
        return self.voice.pick(SOMEONE) if noun == "person" else with_article(noun)

    def _again(self, number: int, suffix: str, context: Context) -> str:
        """Return the phrase for a person mentioned before, possessive included."""
        pronoun = _PRONOUNS[self.people[number].gender].get(suffix or context.case)
        if pronoun and not self._is_ambiguous(number, context):
            return pronoun
        return possessive(self._definite(number), suffix)

    def _is_ambiguous(self, number: int, context: Context) -> bool:
        """Return whether a pronoun for a person could mean someone else.

        As an object, it can't mean those of its own clause: `as Ann and Bea follow him`.
        """
        gender = self.people[number].gender
        end = context.clause if context.case == "object" else context.start
        rivals = (known for known in self._referents if known.person != number and known.at < end)
        return any(
            "unknown" in (gender, rival.gender) or gender == rival.gender for rival in rivals
        )

    def _definite(self, number: int) -> str:
        """Return the noun with what identifies it: the man, the first man, one of the men."""
        referent = self._referent(number)
        noun = referent.noun if referent else self._noun(number)
        alike = [known for known in self._referents if known.noun == noun]
        if len(alike) <= 1:
            return f"the {noun}"
        if referent and all(known.group == referent.group is not None for known in alike):
            return self._one_of(number, noun, len(alike))
        position = next((i for i, known in enumerate(alike) if known.person == number), 0)
        ordinal = _ORDINALS[min(position, len(_ORDINALS) - 1)]
        return f"the {'other' if len(alike) == PAIR and position else ordinal} {noun}"

    def _one_of(self, number: int, noun: str, group: int) -> str:
        if number not in self._singled_out:
            self._singled_out.append(number)
        if self._singled_out[0] == number:
            return f"one of the {plural(noun)}"
        return f"the other {noun}" if group == PAIR else f"another of the {plural(noun)}"

    # Several people

    def _all_again(self, numbers: list[int], suffix: str, context: Context) -> str:
        form = suffix or context.case
        if {known.person for known in self._referents} == set(numbers):
            return _THEY.get(form) or ("the two of them" if len(numbers) == PAIR else "all of them")
        groups = {(known.group, known.noun) for known in self._referents if known.person in numbers}
        if len(groups) == 1 and (group := groups.pop())[0] is not None:
            return possessive(f"{number_word(len(numbers))} of the {plural(group[1])}", suffix)
        return possessive(join_phrases([self._definite(number) for number in numbers]), suffix)

    def _several(self, numbers: list[int], at: int, *, apart: bool) -> str:
        nouns = [self._noun(number) for number in numbers]
        kinds = dict.fromkeys(nouns)
        if len(kinds) == 1:
            return self._counted(numbers, at, nouns[0])
        options = OF_UNKNOWN if "person" in kinds else SEVERAL
        wording = "apart" if apart else self.voice.pick(options)
        if wording == "apart" and len(numbers) == PAIR:
            return join_phrases([self._first(number, at) for number in numbers])
        if wording == "apart" and len(kinds) == PAIR:
            return self._by_kind(numbers, at, nouns)
        phrase = self._counted(numbers, at, "person")
        return vague_phrase(len(numbers)) if wording == "vaguely" else phrase

    def _counted(self, numbers: list[int], at: int, noun: str) -> str:
        is_repeated = self._has(noun)
        for number in numbers:
            self._add(number, at, noun, group=numbers[0])
        if len(numbers) >= _MANY and noun == "person":
            return "another group of people" if is_repeated else "a group of people"
        return count_phrase(len(numbers), noun, other=is_repeated)

    def _by_kind(self, numbers: list[int], at: int, nouns: Sequence[str]) -> str:
        """Return `two men and a woman`."""
        phrases = []
        for kind in dict.fromkeys(nouns):
            alike = [number for number, noun in zip(numbers, nouns, strict=True) if noun == kind]
            is_several = len(alike) > 1
            phrase = self._counted(alike, at, kind) if is_several else self._first(alike[0], at)
            phrases.append(phrase)
        return join_phrases(phrases)
