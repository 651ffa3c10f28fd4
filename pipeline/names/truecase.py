"""The truecase rule: which words a corpus writes as names, from its own letter case alone.

A word that a corpus writes with a capital in mid-sentence, and almost never without, is a
name there; one that it writes without is not, however it looks at the start of a sentence.
The idea is Lita et al., tRuEcasIng (ACL 2003). The rule knows nothing of persons (Paris and
Christmas are name-like too) nor of words that occur at sentence starts only.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pipeline.language.lexicon import words as words_of

LETTERS = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
POSSESSIVE = re.compile(r"['\u2019]s?$", re.IGNORECASE)
TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof"})
ABBREVIATIONS = words_of("titles", "abbreviated")
NEAR = 20
"""Characters before a full stop that may be an abbreviation."""
OPENERS = '.!?:;"\u201c\u201d(['

MAX_LOWER_SHARE = 0.2
"""Share of a word's uses without a capital above which it is not a name, or not always."""
SLIP = 0.05
"""Share up to which a use without a capital is a slip: `ross sits down`."""
COMMON = 0.9
"""Share from which a capital at the start of a sentence is the sentence's: `Water runs`."""
ALWAYS_COMMON = 0.95
"""Share from which a capital anywhere is a slip: `talks to Him`."""
MIN_USES = 5
"""Uses needed before anything is taken for a slip."""


class Word(NamedTuple):
    """A word of a text, [start, end), without a possessive ending; `key` is how it is counted."""

    start: int
    end: int
    key: str
    is_lower: bool
    is_first: bool
    """It starts a sentence, a quote or a bracket: any word would have a capital there."""


class Casing(NamedTuple):
    """How often a corpus writes a word with a capital in mid-sentence, and how often without.

    A capital at the start of a sentence means nothing, and is not counted.
    """

    capitals: int = 0
    lower: int = 0

    @property
    def uses(self) -> int:
        """Return how many uses count as evidence."""
        return self.capitals + self.lower

    @property
    def lower_share(self) -> float:
        """Return the share of uses without a capital, 0 to 1; 0 for a word never seen."""
        return self.lower / max(self.uses, 1)

    @property
    def is_name_like(self) -> bool:
        """Tell whether the corpus writes the word as a name."""
        return self.capitals > 0 and self.lower_share <= MAX_LOWER_SHARE

    @property
    def is_slip(self) -> bool:
        """Tell whether a use without a capital is a slip."""
        return self.uses >= MIN_USES and self.lower_share <= SLIP

    def is_common(self, *, at_start: bool) -> bool:
        """Tell whether a capital is a slip, or is due to the start of the sentence."""
        share = COMMON if at_start else ALWAYS_COMMON
        return self.lower >= MIN_USES and self.lower_share >= share


Casings = Mapping[str, Casing]


def words(text: str) -> Iterator[Word]:
    """Yield the words of a text."""
    for match in LETTERS.finditer(text):
        word = POSSESSIVE.sub("", match[0])
        start, end = match.start(), match.start() + len(word)
        yield Word(start, end, word.casefold(), word[0].islower(), _starts_sentence(text, start))


def casings(texts: Iterable[str]) -> dict[str, Casing]:
    """Count the letter case of every word, by its `key`."""
    capitals, lower = Counter[str](), Counter[str]()
    for text in texts:
        for word in words(text):
            if word.is_lower:
                lower[word.key] += 1
            elif not word.is_first:
                capitals[word.key] += 1
    return {key: Casing(capitals[key], lower[key]) for key in capitals | lower}


def restore(text: str, counts: Casings) -> str:
    """Return the text, with the same length, in the case that the corpus gives to its words.

    A slip gets its capital; a common word loses the capital of a slip or of a sentence's start.
    What follows a capital (`Dr. Young`), or is written in capitals throughout, is unchanged.
    """
    letters = list(text)
    after_capital = False
    for word in words(text):
        casing = counts.get(word.key, Casing())
        written = text[word.start : word.end]
        fixed = word.is_lower or written[1:].isupper() or (after_capital and not word.is_first)
        if word.is_lower and casing.is_slip:
            letters[word.start] = _as_long(written[0], written[0].upper())
        elif not fixed and casing.is_common(at_start=word.is_first):
            letters[word.start] = _as_long(written[0], written[0].lower())
        after_capital = not word.is_lower
    return "".join(letters)


def _as_long(letter: str, other: str) -> str:
    """Return the other case of a letter, if that is also a single letter."""
    return other if len(other) == 1 else letter


def _starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip()
    if not before or before[-1] not in OPENERS:
        return not before
    return not ends_abbreviated(before)


def ends_abbreviated(text: str) -> bool:
    """Tell whether a text ends in an abbreviation, whose full stop ends no sentence."""
    before = text[-NEAR:].rstrip()
    last = LETTERS.findall(before[:-1])[-1:] if before.endswith(".") else []
    return bool(last) and before[:-1].endswith(last[0]) and last[0].casefold() in ABBREVIATIONS
