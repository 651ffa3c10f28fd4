"""Conjoined names: `Ann, Bea and Carl` is one unit of three mentions."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pipeline.captions.rules.coreference import Person
from pipeline.captions.rules.mentions import Mention
from pipeline.captions.rules.person_words import PAIR
from pipeline.language import syntax
from pipeline.language.lexicon import PLURAL_TITLES


class Unit(NamedTuple):
    """Mentions that one phrase replaces: the numbers of their people, and their places."""

    people: tuple[int, ...]
    mentions: tuple[Mention, ...]

    @property
    def start(self) -> int:
        """Return where the first mention begins."""
        return self.mentions[0].start

    @property
    def end(self) -> int:
        """Return where the last mention ends."""
        return self.mentions[-1].end

    @property
    def suffix(self) -> str:
        """Return the "'s" of a possessive, or an empty text."""
        return self.mentions[-1].suffix


_COMMA = re.compile(r"\s*,\s*")
_AND = re.compile(r"\s*[.,]?\s*(?:and(?:\s+then)?|&)\s*(?:both\s+)?")
_AND_MORE = re.compile(
    r"\s*,?\s*(?:and|&)\s+(?:an?|the|his|her|their|another|some|two|three)\s", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.!?]\s+")


def group_mentions(text: str, mentions: Sequence[Mention], numbers: Sequence[int]) -> list[Unit]:
    """Return the mentions as units, in order; `numbers` are those of their people."""
    return [
        Unit(tuple(numbers[i] for i in unit), tuple(mentions[i] for i in unit))
        for run in _runs(text, mentions, numbers)
        for unit in _split(text, mentions, run)
    ]


def _runs(text: str, mentions: Sequence[Mention], numbers: Sequence[int]) -> list[list[int]]:
    """Return runs of mentions with nothing but commas and `and` between them.

    A person named twice in a row begins another run: to Ann and Ann follows.
    """
    runs: list[list[int]] = [[0]] if mentions else []
    for index, (before, after) in enumerate(pairwise(mentions), 1):
        between = text[before.end : after.start]
        is_linked = (
            _COMMA.fullmatch(between) or _AND.fullmatch(between) or _is_slip(text, mentions, index)
        )
        is_same = numbers[index - 1] == numbers[index]
        if is_linked and not (is_same or before.suffix or before.family or after.family):
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def _is_slip(text: str, mentions: Sequence[Mention], index: int) -> bool:
    """Recognize a full stop meant as a comma: no verb follows `Ann. Bea and Carl`."""
    between = text[mentions[index - 1].end : mentions[index].start]
    last = index
    while last + 1 < len(mentions) and _AND.fullmatch(
        text[mentions[last].end : mentions[last + 1].start]
    ):
        last += 1
    verb = syntax.next_verb_place(text[mentions[last].end :])
    starts = text[: mentions[0].start].strip()
    return between == "." or (between == ". " and (not starts or not syntax.is_verb(verb)))


def _split(text: str, mentions: Sequence[Mention], run: list[int]) -> Iterator[list[int]]:
    """Yield the parts of a run that belong together."""
    cuts = sorted(set(range(1, len(run))) - _joints(text, mentions, run))
    for start, end in pairwise([0, *cuts, len(run)]):
        yield run[start:end]


def _joints(text: str, mentions: Sequence[Mention], run: list[int]) -> set[int]:
    """Return the places in a run at which a mention joins the previous one."""
    links = [text[mentions[a].end : mentions[b].start] for a, b in pairwise(run)]
    left, right = text[: mentions[run[0]].start], text[mentions[run[-1]].end :]
    ands = [index for index, link in enumerate(links, 1) if _AND.fullmatch(link)]
    if not ands:
        is_list = _AND_MORE.match(right) and not _is_clause_start(left)
        return set(range(1, len(run))) if is_list else set()
    joints = set(range(1, ands[-1] + 1))
    after = syntax.next_verb_place(right)
    is_object = syntax.case_of(left, links[0]) == "object"
    if is_object and ands[-1] == len(run) - 1 and not mentions[run[-1]].suffix:
        if syntax.is_singular_verb(after):
            return joints - {ands[-1]}
        if len(run) > PAIR and (after in syntax.PLURAL_FORMS or after in syntax.PLAIN_VERBS):
            return joints - {1}
    if len(run) > PAIR and after and _is_clause_start(left):
        return joints - {1}
    return joints


def _is_clause_start(left: str) -> bool:
    """Return whether the sentence begins `When ...`, so that its first comma ends that clause."""
    sentence = _SENTENCE.split(left)[-1]
    return syntax.next_word(sentence) in syntax.OPENERS and "," not in sentence


def share_titles(people: Sequence[Person], units: Sequence[Unit]) -> list[Person]:
    """Return the people; a plural title applies to all of them: `Detectives Lee and Ray`."""
    roles = {
        number: PLURAL_TITLES[unit.mentions[0].title]
        for unit in units
        if unit.mentions[0].title in PLURAL_TITLES
        for number in unit.people
    }
    return [
        person._replace(role=roles.get(number, person.role)) for number, person in enumerate(people)
    ]
