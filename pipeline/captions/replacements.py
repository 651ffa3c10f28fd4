"""The words in a caption that replace names in its description (the paper's Table 3)."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from pipeline.language.lexicon import GENDER_OF_NOUN, GENDER_OF_PLURAL, NUMBERS, TITLES, Gender

WORDS: dict[str, Gender] = {
    **dict.fromkeys((t.role for t in TITLES.values() if t.role), "unknown"),
    **GENDER_OF_PLURAL,
    **GENDER_OF_NOUN,
    **dict.fromkeys(("family", "group", "couple", "they", "them", "their"), "unknown"),
    **dict.fromkeys(("he", "him", "his", "himself"), "man"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "woman"),
}
"""The words that may stand for a person, with the gender they imply."""
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*|['\u2019]s\b")


class Replacement(NamedTuple):
    """A word in a caption, without its article, that replaces a name in the description."""

    name: str
    word: str
    gender: Gender


def people_words(phrase: str) -> Iterator[tuple[str, Gender]]:
    """Yield the words for people in a phrase: `a man and two women` has man, two women."""
    number = ""
    for word in _WORD.findall(phrase.lower()):
        if word in WORDS:
            yield f"{number} {word}".strip(), WORDS[word]
        if word != "other":
            number = word if word in NUMBERS and word != "one" else ""


def extract(description: str, caption: str) -> list[Replacement]:
    """Return what replaced names, from the difference between a description and its caption.

    A stretch of the description with a capital, replaced in the caption by one with a word for a
    person, is a replacement. Names that were only removed are not seen. Texts of 200 words or more
    are compared by their rarer words (`difflib`), as it would otherwise take minutes.
    """
    before, after = _WORD.findall(description), _WORD.findall(caption)
    lower = [[word.lower() for word in words] for words in (before, after)]
    matcher = SequenceMatcher(None, lower[0], lower[1])
    return [
        Replacement(" ".join(before[start:end]), word, gender)
        for kind, start, end, first, last in matcher.get_opcodes()
        if kind == "replace" and any(word[0].isupper() for word in before[start:end])
        for word, gender in people_words(" ".join(after[first:last]))
    ]
