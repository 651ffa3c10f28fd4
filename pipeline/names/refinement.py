"""Which words of a text are candidates for names: the tagger's, and those that the corpus adds."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from pipeline.names import truecase
from pipeline.names.base import Span

MIN_VOTES = 3
"""Places where the tagger must have taken a word for a name, before it is one everywhere."""
MIN_VOTE_SHARE = 0.8
"""... and what share of the word's places with a capital these must be."""
WITHIN_NAME = re.compile(r"\s+|-|(?<=\b\w)\.\s*")
"""What separates the words of one name; a full stop only after an initial."""

_FEAST = re.compile(r"\b(?:Year|Hallow|Saint|Soul|Christmas|Easter|Midsummer)['\u2019s]*\s+$")
_STORM = re.compile(r"\b(?:cyclone|hurricane|storm|typhoon)\s+$", re.IGNORECASE)
GENERATION = re.compile(r",?\s+(?:Jr|Sr)\b(?:\.(?=,|['\u2019]s|\s+[a-z]))?")
"""What may follow a name; with its full stop, if that does not end the sentence."""


class Evidence(NamedTuple):
    """What a corpus shows about words, by their key: letter case, and how often they are names."""

    casings: truecase.Casings
    votes: dict[str, float]

    def vote(self, word: truecase.Word) -> float:
        """Return how sure it is that a word is a name, whatever the tagger finds here; or 0."""
        vote, casing = self.votes.get(word.key, 0.0), self.casings.get(word.key)
        return vote if vote >= MIN_VOTE_SHARE and casing and casing.is_name_like else 0.0


def votes(texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> dict[str, float]:
    """Return, for words often tagged as names, the share of their capitalised places that are."""
    seen, tagged = Counter[str](), Counter[str]()
    for text, named in zip(texts, spans, strict=True):
        for word in truecase.words(text):
            if not word.is_lower:
                seen[word.key] += 1
                tagged[word.key] += _at(word, named) is not None
    return {key: n / seen[key] for key, n in tagged.items() if n >= MIN_VOTES}


def refine(
    text: str, spans: Sequence[Span], evidence: Evidence, named: Container[str] = ()
) -> list[Span]:
    """Return the names of a text: the tagger's, and those that the corpus adds to them.

    `named` has the words that are names in lower case too.
    """
    words = list(truecase.words(text))
    names = [piece for span in spans for piece in _cut_events(text, span, words)]
    for word in words:
        if not word.is_lower and not is_of_event(text[: word.start], word.key):
            score = evidence.vote(word) or float(word.key in named)
            names += [_span(text, word.start, word.end, score)] * (score > 0)
    merged = [_with_generation(text, name) for name in _merge(text, names)]
    lower = [word for word in words if word.is_lower and word.key in named]
    apart = (word for word in lower if _at(word, merged) is None)
    return sorted([*merged, *(_span(text, word.start, word.end, 1.0) for word in apart)])


def drop_titles(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return spans without titles, and words that have no capital, if not at the very start."""
    named = [span for span in spans if not truecase.LETTERS.search(span.text)]  # as `13`
    for word in truecase.words(text):
        span = _at(word, spans)
        is_word = word.is_lower and not word.is_first
        if span and not is_word and not _is_title(text, word):
            named.append(_span(text, word.start, word.end, span.score))
    return _merge(text, named)


def _is_title(text: str, word: truecase.Word) -> bool:
    is_short = word.key in truecase.ABBREVIATIONS and text.startswith(".", word.end)
    return is_short or word.key in truecase.TITLES


def _cut_events(text: str, span: Span, words: Sequence[truecase.Word]) -> list[Span]:
    """Return a span without the words that name a feast or a storm, whatever name follows."""
    inside = [word for word in words if word.start < span.end and word.end > span.start]
    if not any(is_of_event(text[: word.start], word.key) for word in inside):
        return [_span(text, span.start, span.end, span.score)]
    return [
        _span(text, word.start, word.end, span.score)
        for word in inside
        if not is_of_event(text[: word.start], word.key)
    ]


def is_of_event(left: str, key: str) -> bool:
    """Tell whether a word after `left` names a feast or a storm: Christmas Eve, hurricane Quill."""
    return bool((key == "eve" and _FEAST.search(left)) or _STORM.search(left))


def _merge(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, merged if they overlap or only a space separates them."""
    joined: list[Span] = []
    for span in sorted(spans):
        last = joined[-1] if joined else None
        if last and (span.start < last.end or WITHIN_NAME.fullmatch(text, last.end, span.start)):
            end, score = max(last.end, span.end), max(last.score, span.score)
            joined[-1] = _span(text, last.start, end, score)
        else:
            joined.append(span)
    return joined


def _with_generation(text: str, name: Span) -> Span:
    found = GENERATION.search(text, name.start)
    if found is None or not found.start() <= name.end <= found.end():
        return name
    return _span(text, name.start, found.end(), name.score)


def _span(text: str, start: int, end: int, score: float) -> Span:
    return Span(start, end, text[start:end], score)


def _at(word: truecase.Word, spans: Sequence[Span]) -> Span | None:
    return next((s for s in spans if s.start < word.end and s.end > word.start), None)
