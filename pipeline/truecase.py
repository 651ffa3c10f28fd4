"""The truecase rule: which words a corpus writes as names, from its own letter case alone.

A word that a corpus writes with a capital in mid-sentence, and almost never without, is a
name there; one that it writes without is none, whatever it looks like at the start of a
sentence. The idea is Lita et al., tRuEcasIng (ACL 2003). The rule knows nothing of persons
(Paris and Christmas are name-like too) nor of words that stand at sentence starts only.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
POSSESSIVE = re.compile(r"['\u2019]s?$", re.IGNORECASE)
ABBREVIATIONS = frozenset(
    ["dr", "mr", "mrs", "ms", "prof", "st", "lt", "sgt", "capt", "det", "jr", "sr"]
)
OPENERS = '.!?:;"\u201c\u201d(['

MIN_CAPITALS = 1
"""Capitals in mid-sentence below which the corpus has not shown that a word is a name."""
MAX_LOWER_SHARE = 0.2
"""Share of a word's uses without a capital above which it is a word, not a name."""


class Casing(NamedTuple):
    """How often a corpus writes a word with a capital in mid-sentence, and how often without.

    A capital at the start of a sentence says nothing, and is not counted.
    """

    capitals: int
    lower: int

    @property
    def lower_share(self) -> float:
        """Return the share of uses without a capital, 0 to 1; 0 for a word never seen."""
        return self.lower / max(self.capitals + self.lower, 1)


def casings(texts: Iterable[str]) -> dict[str, Casing]:
    """Count the letter case of every word, by its `key`."""
    capitals: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for text in texts:
        for match in WORD.finditer(text):
            word = match.group()
            if word[0].islower():
                lower[key(word)] += 1
            elif not starts_sentence(text, match.start()):
                capitals[key(word)] += 1
    return {word: Casing(capitals[word], lower[word]) for word in capitals | lower}


def name_like(
    counts: Mapping[str, Casing],
    min_capitals: int = MIN_CAPITALS,
    max_lower_share: float = MAX_LOWER_SHARE,
) -> frozenset[str]:
    """Return the keys of the words that the corpus writes as names; titles (Dr.) are none."""
    return frozenset(
        word
        for word, casing in counts.items()
        if casing.capitals >= min_capitals and casing.lower_share <= max_lower_share
    ).difference(ABBREVIATIONS)


def key(word: str) -> str:
    """Return a word as it is counted: no possessive ending, lower case."""
    return POSSESSIVE.sub("", word).casefold()


def starts_sentence(text: str, start: int) -> bool:
    """Tell whether the word at `start` is the first of a sentence, a quote or a bracket."""
    before = text[:start].rstrip()
    if not before or before[-1] not in OPENERS:
        return not before
    last = WORD.findall(before[:-1])[-1:]
    return not (before[-1] == "." and last and last[0].casefold() in ABBREVIATIONS)
