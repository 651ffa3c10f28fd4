"""Captions that are wrong in known ways, made of right ones: what the checks should fail.

Each is one change, drawn from the captions of the same corpus, the same for the same seed.
"""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.captions import details
from pipeline.language import syntax
from pipeline.names import truecase

VAGUE = "Someone does something."
JOINTS = frozenset({"and", "while", "then", "before", "after", "as", "when"})
"""Words at which a second clause may begin."""


class Corruption(NamedTuple):
    """A wrong caption: of which kind, and in place of which caption, by its number."""

    kind: str
    number: int
    caption: str


class _Caption(NamedTuple):
    text: str
    verb: truecase.Word | None
    noun: truecase.Word | None
    """The last word that is neither a verb nor a function word."""


def corrupt(captions: Sequence[str], seed: int) -> Iterator[Corruption]:
    """Yield every corruption that a caption allows, caption by caption."""
    rng = random.Random(seed)
    read = [_read(text) for text in captions]
    verbs = [one.verb.key for one in read if one.verb]
    nouns = [one.noun.key for one in read if one.noun]
    for number, one in enumerate(read):
        other = read[rng.randrange(len(read))].text
        options = {
            "another description's": other,
            "object swapped": _swapped(one.text, one.noun, rng.choice(nouns)),
            "verb swapped": _swapped(one.text, one.verb, rng.choice(verbs)),
            "clause lost": _shortened(one.text),
            "a thing made someone": _swapped(one.text, one.noun, "someone"),
            "a thing made vague": _swapped(one.text, one.noun, "something"),
            "negated": _negated(one),
            "all vague": VAGUE,
        }
        for kind, text in options.items():
            if text and text != one.text:
                yield Corruption(kind, number, text)


def _read(text: str) -> _Caption:
    words = [
        word
        for word in truecase.words(text)
        if word.is_lower and word.key not in details.NO_DETAILS
    ]
    verbs = [word for word in words if syntax.is_singular_verb(word.key) and word.key[-1] == "s"]
    nouns = [word for word in words if word not in verbs and not word.key.endswith(("ing", "ly"))]
    return _Caption(text, verbs[0] if verbs else None, nouns[-1] if nouns else None)


def _swapped(text: str, word: truecase.Word | None, new: str) -> str:
    if word is None or details.details(new) == details.details(word.key):
        return ""
    return text[: word.start] + new + text[word.end :]


def _negated(one: _Caption) -> str:
    return f"{one.text[: one.verb.start]}never {one.text[one.verb.start :]}" if one.verb else ""


def _shortened(text: str) -> str:
    """Return the first clause of several, where both tell something."""
    for word in truecase.words(text):
        left, right = text[: word.start].rstrip(" ,"), text[word.end :]
        if word.key in JOINTS and details.details(left) and details.details(right):
            return f"{left}."
    return ""
