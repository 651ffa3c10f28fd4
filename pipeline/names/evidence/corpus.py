"""What a corpus tells about names: whether it names people, and who acts in it and recurs."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from pipeline.names import truecase
from pipeline.names.base import Span
from pipeline.names.evidence import lists, roles
from pipeline.names.evidence.cast import Cast
from pipeline.names.evidence.judging import is_name
from pipeline.names.evidence.surroundings import Surroundings, surroundings_of

NAMES_PEOPLE = 0.2
"""The share of texts with a name of the lists, from which a corpus names its people."""
MIN_DEEDS = 2
"""Texts in which a word must do what only people do, before it is somebody of the corpus."""


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


def people(
    texts: Iterable[str], spans: Iterable[Sequence[Span]], sure: frozenset[str], names: bool
) -> frozenset[str]:
    """Return the words, of those that a tagger is `sure` of, that act or own in several texts.

    Where the corpus `names` people, a place that is a family name, too, can be one of them.
    """
    deeds: dict[str, set[str]] = defaultdict(set)
    for text, found in zip(texts, spans, strict=True):
        for around in surroundings_of(text, found):
            if not around.headline and roles.acts_or_owns(around):
                for key in sure.intersection(around.keys):
                    deeds[key].add(text)
    also = lists.given_names() | (lists.family_names() if names else frozenset())
    return frozenset(
        key
        for key, where in deeds.items()
        if len(where) >= MIN_DEEDS and (key in also or not lists.is_elsewhere(key))
    )
