"""Taggers without a model: of these names, or of every word with a capital."""

import re

from pipeline.names import truecase
from pipeline.names.base import Span

NO_NAMES = ("a", "an", "he", "it", "she", "the", "they")


def make_finder(*names):
    """Return what finds these names, as a tagger's `find` does."""
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)")

    def find(texts):
        return [[Span(*m.span(), m[0], 1.0) for m in pattern.finditer(text)] for text in texts]

    return find


class Eager:
    """A tagger that takes every word with a capital for a name, as a bad day of any may."""

    def __init__(self, score=lambda _: 1.0):
        self.score = score

    def find(self, texts):
        return [
            [
                Span(word.start, word.end, text[word.start : word.end], self.score(text))
                for word in truecase.words(text)
                if not word.is_lower and word.key not in NO_NAMES
            ]
            for text in texts
        ]
