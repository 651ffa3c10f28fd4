"""The phrase for each unit of names: one person, several, a family, or nothing."""

from collections.abc import Sequence

from pipeline.captions.rules.apposition import Dropped
from pipeline.captions.rules.context import Context
from pipeline.captions.rules.discourse import Discourse, Known
from pipeline.captions.rules.others import Other
from pipeline.captions.rules.units import Unit
from pipeline.captions.rules.wording import (
    PAIR,
    SEVERAL,
    UNTOLD,
    counted,
    listed,
    possessive,
    vaguely,
    with_article,
)
from pipeline.language.lexicon import NUMBERS, plural

_THEY = {"subject": "they", "object": "them", "'s": "their"}
_MANY = 6
"""From so many people on, they are a group."""


def meet(discourse: Discourse, other: Other) -> bool:
    """Take note of a noun for somebody; tell whether a name became the same word before."""
    if any(known.at == other.start for known in discourse.known):
        return False
    repeats = any(k.noun == other.noun and k.person is not None for k in discourse.known)
    discourse.known.append(Known(other.start, other.noun, other.gender))
    return repeats


def phrase_of(discourse: Discourse, unit: Unit, context: Context, parted: bool) -> str:
    """Return what stands for a unit, possessive included.

    `parted` tells that one of several people is spoken of alone elsewhere in the text.
    """
    if context.gone:
        _introduce_as(discourse, unit, context.gone)
        return context.gone.instead or unit.suffix
    if unit.mentions[0].family:
        return f"a family{unit.suffix}"
    numbers = list(dict.fromkeys(unit.people))
    if len(numbers) == 1:
        return _one(discourse, numbers[0], unit.suffix, context)
    if all(discourse.met(number) for number in numbers):
        return _all_again(discourse, numbers, unit.suffix, context)
    return possessive(_several(discourse, numbers, context, parted), unit.suffix)


def _several(discourse: Discourse, numbers: list[int], context: Context, parted: bool) -> str:
    if any(discourse.met(number) for number in numbers):
        apart = context._replace(case="open")
        return listed([_one(discourse, number, "", apart) for number in numbers])
    return _together(discourse, numbers, context.start, parted)


def _introduce_as(discourse: Discourse, unit: Unit, gone: Dropped) -> None:
    """The noun beside a name that goes is that person, and no further one."""
    if gone.noun:
        discourse.known = [known for known in discourse.known if known.at != gone.at]
        for number in unit.people:
            discourse.introduce(number, gone.at, gone.noun)


def _one(discourse: Discourse, number: int, suffix: str, context: Context) -> str:
    described = context.adjective + discourse.noun(number)
    met = discourse.met(number)
    if context.determiner or context.adjective:
        discourse.introduce(number, context.start)
        if context.determiner:
            return described + suffix
        return (f"the {described}" if met else with_article(described)) + suffix
    if met:
        return discourse.again(number, suffix, context)
    if context.opens and not suffix and (pronoun := discourse.opening(number, context.start)):
        return pronoun
    return discourse.first(number, context.start) + suffix


def _all_again(discourse: Discourse, numbers: list[int], suffix: str, context: Context) -> str:
    form = suffix or context.case
    if {known.person for known in discourse.known} == set(numbers):
        return _THEY.get(form) or ("the two of them" if len(numbers) == PAIR else "all of them")
    groups = {(known.group, known.noun) for known in map(discourse.met, numbers) if known}
    if len(groups) == 1 and (group := groups.pop())[0] is not None:
        return possessive(f"{NUMBERS[len(numbers)]} of the {plural(group[1])}", suffix)
    return possessive(listed([discourse.definite(number) for number in numbers]), suffix)


def _together(discourse: Discourse, numbers: list[int], at: int, parted: bool) -> str:
    nouns = [discourse.noun(number) for number in numbers]
    kinds = dict.fromkeys(nouns)
    if len(kinds) == 1:
        return _counted(discourse, numbers, at, nouns[0])
    options = UNTOLD if "person" in kinds else SEVERAL
    wording = "apart" if parted else discourse.voice.pick(options)
    if wording == "apart" and len(numbers) == PAIR:
        return listed([discourse.first(number, at) for number in numbers])
    if wording == "apart" and len(kinds) == PAIR:
        return _by_kind(discourse, numbers, at, nouns)
    phrase = _counted(discourse, numbers, at, "person")
    return vaguely(len(numbers)) if wording == "vaguely" else phrase


def _counted(discourse: Discourse, numbers: list[int], at: int, noun: str) -> str:
    other = discourse.has(noun)
    for number in numbers:
        discourse.introduce(number, at, noun, group=numbers[0])
    if len(numbers) >= _MANY and noun == "person":
        return "another group of people" if other else "a group of people"
    return counted(len(numbers), noun, other)


def _by_kind(discourse: Discourse, numbers: list[int], at: int, nouns: Sequence[str]) -> str:
    """Return `two men and a woman`."""
    phrases = []
    for kind in dict.fromkeys(nouns):
        alike = [number for number, noun in zip(numbers, nouns, strict=True) if noun == kind]
        one = len(alike) == 1
        phrases.append(
            discourse.first(alike[0], at) if one else _counted(discourse, alike, at, kind)
        )
    return listed(phrases)
