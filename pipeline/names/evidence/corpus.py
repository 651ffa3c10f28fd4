"""What a corpus shows about names: whether it names people, and who acts in it and recurs."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, zip_longest

from pipeline.language.lexicon import NUMBERS
from pipeline.language.syntax import PHRASE_STARTS, is_singular_verb
from pipeline.names import truecase
from pipeline.names.base import Span
from pipeline.names.evidence import lists
from pipeline.names.evidence.cast import Cast
from pipeline.names.evidence.judging import is_name
from pipeline.names.evidence.lower_case import may_be_lower
from pipeline.names.evidence.surroundings import Surroundings, surroundings_of
from pipeline.names.evidence.weighing import weigh_place

MIN_DEEDS = 2
"""Texts in which a word must do what only people do, to count as a person of the corpus."""
MIN_POINTS = 4
"""The points that these and its other places must add up to (`weighing`)."""
LEAST = -2
"""Points below those of any place."""
_NO_NAMES = PHRASE_STARTS.union(lists.listed("around", "pronouns"), truecase.ABBREVIATIONS, NUMBERS)


def names_share(texts: Sequence[str]) -> float:
    """Return the share of texts that name a person by the lists alone, 0 to 1; no tagger."""
    return sum(names_somebody(text, Cast()) for text in texts) / max(len(texts), 1)


def names_somebody(text: str, cast: Cast) -> bool:
    """Tell whether a text names a person by the cast or the lists."""
    return any(is_name(run, cast) for run in runs(text))


def runs(text: str) -> list[Surroundings]:
    """Return the words with a capital that may name a person, each with what is around it."""
    return surroundings_of(
        text,
        [
            Span(word.start, word.end, text[word.start : word.end], 1.0)
            for word in truecase.words(text)
            if not word.is_lower and (not word.is_first or lists.is_given_name(word.key))
        ],
    )


def full_names(text: str) -> list[Span]:
    """Return first and family names of the lists side by side, whatever a tagger says."""
    words = [word for word in truecase.words(text) if not word.is_lower]
    return [
        Span(first.start, second.end, text[first.start : second.end], 1.0)
        for first, second in pairwise(words)
        if text[first.end : second.start] == " "
        and first.key in lists.given_names()
        and second.key in lists.family_names()
    ]


def possible_names(text: str) -> list[Span]:
    """Return the first names of the lists, those that are also a word among them: Grant, May."""
    return [
        Span(word.start, word.end, text[word.start : word.end], 1.0)
        for word in truecase.words(text)
        if not word.is_lower
        and word.key in lists.given_names()
        and not text[word.start : word.end].isupper()
        and not lists.is_elsewhere(word.key)
        and word.key not in PHRASE_STARTS | lists.listed("lists", "kinds")
    ]


def guesses(text: str) -> list[Span]:
    """Return what may be a name by its form alone, with the score 0.

    That is a capital that no English word needs, of a place or a people if it acts, and a bare noun
    that begins a text and acts: Stone chops wood.
    """
    words = list(truecase.words(text))
    return [
        Span(word.start, word.end, text[word.start : word.end], 0.0)
        for word, following in zip_longest(words, words[1:])
        if not word.is_lower
        and _may_need_capital(text[word.start : word.end])
        and (not lists.is_word(word.key) or (word.start == 0 and _acts(word, following)))
        and (not lists.is_elsewhere(word.key) or (following and is_singular_verb(following.key)))
    ]


def _may_need_capital(word: str) -> bool:
    """Tell whether a word may be more than a pronoun or an abbreviation: I'm."""
    stem = re.split("['\u2019]", word.lower())[0]
    return not word.isupper() and stem not in _NO_NAMES


def _acts(word: truecase.Word, following: truecase.Word | None) -> bool:
    """Tell whether a bare noun is followed by a verb in its third person."""
    if following is None or not following.is_lower or not may_be_lower(word.key):
        return False
    return lists.may_be_noun(word.key) and is_singular_verb(following.key)


def weigh_words(text: str, spans: Sequence[Span], sure: frozenset[str]) -> dict[str, int]:
    """Return the points of those words of a text that a tagger is `sure` of.

    What a word does is weighed against the contexts where it appears as a place or a thing would.
    """
    points: dict[str, int] = {}
    for around in surroundings_of(text, spans):
        if not around.headline:
            for key in sure.intersection(around.keys):
                points[key] = max(points.get(key, LEAST), weigh_place(around))
    return points


def people(weighed: Iterable[Mapping[str, int]], names: bool) -> frozenset[str]:
    """Return the words that are people in several texts, by their points in each.

    If the corpus `names` people, a place that is also a family name can be one of them.
    """
    points: dict[str, list[int]] = defaultdict(list)
    for of_text in weighed:
        for key, n in of_text.items():
            points[key].append(n)
    also = lists.given_names() | (lists.family_names() if names else frozenset())
    return frozenset(
        key
        for key, by_text in points.items()
        if sum(n > 0 for n in by_text) >= MIN_DEEDS
        and sum(by_text) >= MIN_POINTS
        and (key in also or not lists.is_elsewhere(key))
    )
