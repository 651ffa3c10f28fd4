"""Flair's `Sentence` of a text, with the places of its words as they are in that text."""

from flair.data import Sentence

# `Sentence` takes these out before it counts: zero-width characters, line and paragraph
# separators, and what the code page Windows-1252 leaves open. Its tokenizer takes out line ends
# after a hyphen, and what else is a control character says no more than a space.
_TAKEN_OUT = str.maketrans(
    dict.fromkeys("\u200b\u200c\ufe0f\ufeff\u2028\u2029\x81\x8d\x8f\x90", " ")
    | dict.fromkeys(map(chr, [*range(0x20), 0x7F, 0x85]), " ")
)


def sentence(text: str) -> Sentence:
    """Return the tokens of a text; each starts in it where its `start_position` says."""
    return Sentence(text.translate(_TAKEN_OUT))
