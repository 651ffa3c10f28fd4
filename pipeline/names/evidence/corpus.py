"""What a corpus tells about names: whether it names people, and who acts in it and recurs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from pipeline.names import truecase
from pipeline.names.base import Span
from pipeline.names.evidence import lists
from pipeline.names.evidence.cast import Cast
from pipeline.names.evidence.judging import is_name
from pipeline.names.evidence.surroundings import Surroundings, surroundings_of
from pipeline.names.evidence.weighing import weigh_place

MIN_DEEDS = 2
"""Texts in which a word must do what only people do, before it is somebody of the corpus."""
MIN_POINTS = 4
"""What these and its other places must come to (`weighing`)."""
LEAST = -2
"""Points below those of any place."""


def names_share(texts: Sequence[str], cast: Cast | None = None) -> float:
    """Return the share of texts that name somebody by the lists alone, 0 to 1; no tagger."""
    given = cast or Cast()
    named = sum(any(is_name(one, given) for one in runs(text)) for text in texts)
    return named / max(len(texts), 1)


def runs(text: str) -> list[Surroundings]:
    """Return the first names of a text by the lists, each with what is around it."""
    return surroundings_of(
        text,
        [
            Span(word.start, word.end, text[word.start : word.end], 1.0)
            for word in truecase.words(text)
            if not word.is_lower and lists.is_given_name(word.key)
        ],
    )


def full_names(text: str) -> list[Span]:
    """Return first and family names of the lists side by side, whatever a tagger says."""
    words = [word for word in truecase.words(text) if not word.is_lower]
    return [
        Span(one.start, other.end, text[one.start : other.end], 1.0)
        for one, other in pairwise(words)
        if text[one.end : other.start] == " "
        and one.key in lists.given_names()
        and other.key in lists.family_names()
    ]


def people(
    texts: Iterable[str], spans: Iterable[Sequence[Span]], sure: frozenset[str], names: bool
) -> frozenset[str]:
    """Return the words, of those that a tagger is `sure` of, that are people in several texts.

    What a word does in each text is weighed against where it stands as a place or a thing would.
    Where the corpus `names` people, a place that is a family name, too, can be one of them.
    """
    points: dict[str, dict[str, int]] = defaultdict(dict)
    for text, found in zip(texts, spans, strict=True):
        for around in surroundings_of(text, found):
            if not around.headline:
                for key in sure.intersection(around.keys):
                    points[key][text] = max(points[key].get(text, LEAST), weigh_place(around))
    also = lists.given_names() | (lists.family_names() if names else frozenset())
    return frozenset(
        key
        for key, by_text in points.items()
        if sum(n > 0 for n in by_text.values()) >= MIN_DEEDS
        and sum(by_text.values()) >= MIN_POINTS
        and (key in also or not lists.is_elsewhere(key))
    )
