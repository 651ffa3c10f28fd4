"""Names of people in the texts of one corpus: what the tagger says, weighed by the corpus.

A tagger looks at one sentence, a corpus tells more. What the two say together:

* a word that the tagger takes for a name wherever it stands, and that the corpus writes as
  one (`pipeline.truecase`), is a name where the tagger missed it, too;
* a word without a capital is a name only if the corpus writes it as one elsewhere;
* a word with the capital of a sentence's start is none if the corpus hardly ever writes it
  with a capital elsewhere.

Rewriting and the check of captions use the same finder: a check that saw less than the
rewriter would pass what is left, one that saw more would fail what nobody can mend.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline import truecase
from pipeline.names import NameTagger, Span

MIN_VOTES = 3
"""Places where the tagger must have found a word to be a name, before it is one elsewhere."""
MIN_VOTE_SHARE = 0.8
"""... and what share of the word's places with a capital these must be."""
MAX_LOWER_SHARE = 0.05
"""Share of a word's uses without a capital up to which one of them is a slip: `ross sits`."""
COMMON_LOWER_SHARE = 0.9
"""Share from which a capital at the start of a sentence is the sentence's: `Water runs`."""


class Word(NamedTuple):
    """A word of a text, and whether it stands without a capital or where any would have one."""

    start: int
    end: int
    key: str
    lower: bool
    first: bool


@dataclass(frozen=True)
class Evidence:
    """What a corpus tells about words, by `truecase.key`."""

    casings: dict[str, truecase.Casing] = field(default_factory=dict)
    votes: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> "Evidence":
        """Return what texts tell, given what a tagger finds in them."""
        places, tagged = Counter[str](), Counter[str]()
        for text, found in zip(texts, spans, strict=True):
            for word in words(text):
                if not word.lower:
                    places[word.key] += 1
                    tagged[word.key] += _at(word, found) is not None
        votes = {key: n / places[key] for key, n in tagged.items() if n >= MIN_VOTES}
        return cls(truecase.casings(texts), votes)

    def lower_share(self, word: Word) -> float | None:
        """Return the share of the word's uses without a capital; None if it was never seen."""
        casing = self.casings.get(word.key)
        return casing.lower_share if casing else None

    def vote(self, word: Word) -> float:
        """Return how sure it is that the word is a name, whatever the tagger says here; or 0."""
        share = self.lower_share(word)
        limit = MAX_LOWER_SHARE if word.lower else truecase.MAX_LOWER_SHARE
        vote = self.votes.get(word.key, 0.0)
        return vote if share is not None and share <= limit and vote >= MIN_VOTE_SHARE else 0.0

    def refutes(self, word: Word) -> bool:
        """Tell whether a word that the tagger takes for a name is none."""
        if word.lower:
            return self.vote(word) == 0
        return word.first and (self.lower_share(word) or 0.0) >= COMMON_LOWER_SHARE


class NameFinder:
    """A `NameTagger` that has read the corpus; it tags each distinct text once."""

    def __init__(self, tagger: NameTagger, corpus: Iterable[str]) -> None:
        self._tagger = tagger
        self._tagged: dict[str, list[Span]] = {}
        texts = list(dict.fromkeys(corpus))
        self._evidence = Evidence.of(texts, self._tag(texts))

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the names of each text, in the order of the text."""
        return [
            refine(text, spans, self._evidence)
            for text, spans in zip(texts, self._tag(texts), strict=True)
        ]

    def _tag(self, texts: Sequence[str]) -> list[list[Span]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._tagged]
        self._tagged |= zip(new, self._tagger.find(new), strict=True)
        return [self._tagged[text] for text in texts]


def refine(text: str, spans: Sequence[Span], evidence: Evidence) -> list[Span]:
    """Return the names of a text: the tagger's spans, mended by what the corpus tells."""
    wordless = set(spans)  # as `13`, of which the corpus's letter case tells nothing
    names: list[Span] = []
    before: Span | None = None
    for word in words(text):
        span = _at(word, spans)
        wordless.discard(span or word)
        score = evidence.vote(word) if span is None else 0 if evidence.refutes(word) else span.score
        if not score:
            continue
        between = text[names[-1].end : word.start] if names else "."
        if between == " " or (span and span is before and not truecase.WORD.search(between)):
            names[-1] = _span(text, names[-1].start, word.end, max(score, names[-1].score))
        else:
            names.append(_span(text, word.start, word.end, score))
        before = span
    return sorted([*names, *wordless])


def words(text: str) -> Iterator[Word]:
    """Yield the words of a text; a possessive ending is no part of one."""
    for match in truecase.WORD.finditer(text):
        name = truecase.POSSESSIVE.sub("", match.group())
        yield Word(
            match.start(),
            match.start() + len(name),
            name.casefold(),
            name[0].islower(),
            truecase.starts_sentence(text, match.start()),
        )


def _span(text: str, start: int, end: int, score: float) -> Span:
    return Span(start, end, text[start:end], score)


def _at(word: Word, spans: Sequence[Span]) -> Span | None:
    return next((s for s in spans if s.start < word.end and s.end > word.start), None)
