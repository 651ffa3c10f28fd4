"""Corrupted captions, which the checks should reject.

Each differs from a correct caption by one change, drawn from the same corpus with a seed.
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
    """A wrong caption, its kind, and the number of the correct one."""

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
    parsed = [_read(text) for text in captions]
    verbs = [caption.verb.key for caption in parsed if caption.verb]
    nouns = [caption.noun.key for caption in parsed if caption.noun]
    for number, caption in enumerate(parsed):
        another = parsed[rng.randrange(len(parsed))].text
        options = {
            "another description's": another,
            "object swapped": _swap(caption.text, caption.noun, rng.choice(nouns)),
            "verb swapped": _swap(caption.text, caption.verb, rng.choice(verbs)),
            "clause lost": _shorten(caption.text),
            "a thing made someone": _swap(caption.text, caption.noun, "someone"),
            "a thing made vague": _swap(caption.text, caption.noun, "something"),
            "negated": _negate(caption),
            "all vague": VAGUE,
        }
        for kind, text in options.items():
            if text and text != caption.text:
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


def _swap(text: str, word: truecase.Word | None, new: str) -> str:
    if word is None or details.details(new) == details.details(word.key):
        return ""
    return text[: word.start] + new + text[word.end :]


def _negate(one: _Caption) -> str:
    return f"{one.text[: one.verb.start]}never {one.text[one.verb.start :]}" if one.verb else ""


def _shorten(text: str) -> str:
    """Return the first of several clauses, if both have details."""
    for word in truecase.words(text):
        left, right = text[: word.start].rstrip(" ,"), text[word.end :]
        if word.key in JOINTS and details.details(left) and details.details(right):
            return f"{left}."
    return ""
