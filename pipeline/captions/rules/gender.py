"""The gender a name suggests, by the corpus's cast, then its pronouns, then a census of names.

A surname implies no gender, and a name such as Robin may be anyone's. But a description that names
one person and continues with `his` or `she` gives a hint; over a corpus that adds up.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple

import pandas as pd

from pipeline.captions.rules.mentions import Mention, find_mentions
from pipeline.core.engine.text_rows import IN_PROCESS, RowMap
from pipeline.core.text import strip_unreadable
from pipeline.language.lexicon import GENDER_OF_NOUN, TITLES, Gender
from pipeline.names.base import Span
from pipeline.names.evidence.cast import is_no_name
from pipeline.names.evidence.lists import first_names

CLEAR = 0.9
"""The share of bearers from which a first name counts as a man's or a woman's."""
CLEAR_PRONOUNS = 0.75
"""The share of a name's pronouns that must agree."""
MIN_PRONOUNS = 3
"""Pronouns needed to overrule the census for a name; fewer decide if the census is silent."""
ALIKE = 0.84
"""How similar (`difflib`) a rare, misspelt name must be to the intended one."""
SHORT = 3
"""Letters up to which every name is too close to another one."""
_OF_MEN = re.compile(r"\b(?:he|his|himself)\b", re.IGNORECASE)
# `her` counts only before a noun: as an object it is someone else.
_OF_WOMEN = re.compile(
    r"\b(?:she|herself|her(?=\s+(?!(?:as|and|while|to|in|on|at|with|from|by|for|that|when|then|up|"
    r"down|out|off|away|back|about|into|over|if|a|an|the|he|she|who|is|was)\b)[a-z]))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Genders:
    """What is known of the people of a corpus, by name in lower case, without titles.

    Attributes:
        cast: what the corpus itself says; this is final.
        learned: what the pronouns near a name say.
        names: every single name in the corpus.
    """

    cast: Mapping[str, Gender] = field(default_factory=dict)
    learned: Mapping[str, Gender] = field(default_factory=dict)
    names: frozenset[str] = frozenset()

    def look_up(self, names: tuple[str, ...]) -> Gender:
        """Return the gender of a person by first and last name, or by one of them."""
        for genders in (self.cast, self.learned):
            for name in (" ".join(names), *names):
                if name in genders:
                    return genders[name]
        return census(names[0]) if names else "unknown"


def census(name: str) -> Gender:
    """Return the gender of a first name, `unknown` if both or neither have it."""
    return _majority(*first_names().get(name.lower(), (0.0, 0.0)), CLEAR)


def _majority(women: float, men: float, share: float) -> Gender:
    """Return the gender that has at least this share of the weight."""
    total = women + men
    if not total:
        return "unknown"
    return "woman" if women / total >= share else "man" if men / total >= share else "unknown"


def read_cast(table: pd.DataFrame) -> dict[str, Gender]:
    """Return the genders of the people in the table `CAST`, by name as it is seen there."""
    genders: dict[str, Gender] = {"female": "woman", "male": "man"}
    people = table[~is_no_name(table)]
    pairs = zip(people["name"], people["gender"], strict=True)
    return {strip_unreadable(name): genders.get(gender, "unknown") for name, gender in pairs}


def normalize_cast(cast: Mapping[str, Gender]) -> dict[str, Gender]:
    """Return a cast list by name in lower case, without titles.

    Without titles, Mr. Lee and Mrs. Lee are one name, a man's and a woman's: `unknown`.
    """
    genders: dict[str, Gender] = {}
    for name, gender in cast.items():
        words = (word.lower().strip(".,'\u2019") for word in name.split())
        if key := " ".join(word for word in words if word and word not in TITLES):
            genders[key] = gender if genders.get(key, gender) == gender else "unknown"
    return genders


def learn(
    texts: Sequence[str],
    spans: Sequence[Sequence[Span]],
    cast: Mapping[str, Gender],
    map_rows: RowMap = IN_PROCESS,
) -> Genders:
    """Return what the corpus says about its people; `spans` are the names in each text."""
    names = _single_names(spans)
    rows = list(zip(texts, spans, strict=True))
    hints = map_rows(read_hints, Genders(names=names), rows)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for _, gendered, of_pronouns in hints:
        for name in gendered:
            counts[name][of_pronouns] += 1
    learned = {name: gender for name, by in counts.items() if (gender := _decide(name, by))}
    rare = {name for mentioned, _, _ in hints for name in mentioned}
    learned |= _match_misspelt(rare - set(learned) - set(cast), {**learned, **cast})
    return Genders(cast, learned, names | frozenset(cast))


class Hint(NamedTuple):
    """The names in a text, and those whose gender its pronouns show."""

    mentioned: Sequence[str]
    gendered: Sequence[str]
    gender: Gender


def read_hints(genders: Genders, rows: Sequence[tuple[str, Sequence[Span]]]) -> list[Hint]:
    """Return the hints of each text, given with its names."""
    return [_read_hint(text, find_mentions(text, spans, genders.names)) for text, spans in rows]


def _read_hint(text: str, mentions: Sequence[Mention]) -> Hint:
    mentioned = sorted({name for mention in mentions for name in mention.names})
    people = {mention.names for mention in mentions}
    names = mentions[0].names if len(people) == 1 else ()
    gender = _gender_of_pronouns(text[mentions[0].end :], mentions[0]) if names else None
    if gender is None:
        return Hint(mentioned, [], "unknown")
    return Hint(mentioned, [*names, " ".join(names)], gender)


def _single_names(spans: Iterable[Sequence[Span]]) -> frozenset[str]:
    """Return the single names that occur more often than without their final s."""
    count = Counter(word.lower() for some in spans for span in some for word in span.text.split())
    return frozenset(
        name
        for name, times in count.items()
        if not (name.endswith("s") and count[name[:-1]] > times)
    )


def _gender_of_pronouns(right: str, mention: Mention) -> Gender | None:
    title = TITLES.get(mention.title or "")
    if title and title.gender != "unknown":
        return title.gender
    men, women = bool(_OF_MEN.search(right)), bool(_OF_WOMEN.search(right))
    gender: Gender = "man" if men else "woman"
    others = {GENDER_OF_NOUN.get(word) for word in re.findall(r"\w+", right.lower())}
    return None if men == women or others & {gender, "unknown"} else gender


def _decide(name: str, by: Counter[str]) -> Gender | None:
    gender = _majority(by["woman"], by["man"], CLEAR_PRONOUNS)
    needed = 1 if census(name) == "unknown" else MIN_PRONOUNS
    return gender if gender != "unknown" and by.total() >= needed else None


def _match_misspelt(rare: Iterable[str], genders: Mapping[str, Gender]) -> dict[str, Gender]:
    """Return genders for names without evidence, from names that are almost the same."""
    unclear = (name for name in sorted(rare) if census(name) == "unknown" and len(name) > SHORT)
    alike = {name: get_close_matches(name, genders, n=1, cutoff=ALIKE) for name in unclear}
    return {name: genders[names[0]] for name, names in alike.items() if names}
