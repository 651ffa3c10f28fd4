"""Names of people in the texts of one corpus: what the tagger marks and evidence supports.

A tagger looks at one sentence, a corpus tells more. Together they do four things:

* a text is tagged in the letter case that the corpus gives to its words
  (`pipeline.names.truecase.restore`), so that `Water runs` is no person's name and `ross runs` is;
* what the tagger takes for a name is not one if even then it has no capital in mid-sentence;
* a word with a capital that the corpus writes as a name, and that the tagger takes for a
  person's almost everywhere, is a name where the tagger missed it, too;
* of all that, a name is what evidence of a person supports (`pipeline.names.evidence.judging`). The
  rest is a doubt: it stays in the text, and people look at it.

Rewriting and the check of captions use the same finder: a check that saw less than the
rewriter would pass what is left, one that saw more would fail what nobody repairs.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pipeline.names import truecase
from pipeline.names.base import NameTagger, Span
from pipeline.names.evidence import corpus as corpora
from pipeline.names.evidence.cast import Cast
from pipeline.names.evidence.judging import Known, Reason, Verdict, judge
from pipeline.names.evidence.surroundings import surroundings_of

MIN_VOTES = 3
"""Places where the tagger must have taken a word for a name, before it is one everywhere."""
MIN_VOTE_SHARE = 0.8
"""... and what share of the word's places with a capital these must be."""
WITHIN_NAME = re.compile(r"\s+|-|(?<=\b\w)\.\s*")
"""What stands between the words of one name; a full stop after an initial only."""

GENERATION = re.compile(r",?\s+(?:Jr|Sr)\b(?:\.(?=,|\s+[a-z]))?")
"""What may follow a name; its full stop, where that does not end the sentence."""


class Evidence(NamedTuple):
    """What a corpus tells about words, by their key: letter case, and how often they are names."""

    casings: truecase.Casings
    votes: dict[str, float]

    def vote(self, word: truecase.Word) -> float:
        """Return how sure it is that a word is a name, whatever the tagger says here; or 0."""
        vote, casing = self.votes.get(word.key, 0.0), self.casings.get(word.key)
        return vote if vote >= MIN_VOTE_SHARE and casing and casing.is_name_like else 0.0


class Doubt(NamedTuple):
    """What the tagger takes for a name, and nothing else does; `reason` says what is lacking."""

    span: Span
    reason: Reason


class NameFinder:
    """A `NameTagger` that has read the corpus; it tags each distinct text once."""

    def __init__(
        self,
        tagger: NameTagger,
        corpus: Iterable[str],
        cast: Cast | None = None,
        *,
        of_captions: bool = False,
    ) -> None:
        """Read the corpus; `of_captions` it is, so that how few names it has tells nothing."""
        self._tagger = tagger
        self._cast = cast or Cast()
        self._tagged: dict[str, list[Span]] = {}
        texts = list(dict.fromkeys(corpus))
        self._casings = truecase.casings(texts)
        self._evidence = Evidence(self._casings, votes(texts, self._tag(texts)))
        self._known = self._learn(texts, of_captions)
        self._verdicts: dict[str, list[tuple[Span, Verdict]]] = {}

    def find(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the names of each text, in the order of the text."""
        return [
            [span for span, verdict in spans if verdict.kind == "name"]
            for spans in self._judge(texts)
        ]

    def doubts(self, texts: Sequence[str]) -> list[list[Doubt]]:
        """Return what may be a name in each text, but is not known to be one."""
        return [
            [Doubt(span, verdict.reason) for span, verdict in spans if verdict.kind == "weak"]
            for spans in self._judge(texts)
        ]

    def _learn(self, texts: Sequence[str], of_captions: bool) -> Known:
        """Return what the corpus tells about its people."""
        of_word = {
            key: self._casings.get(key, truecase.Casing())
            for key, vote in self._evidence.votes.items()
            if vote >= MIN_VOTE_SHARE
        }
        words = frozenset(key for key, casing in of_word.items() if not casing.is_name_like)
        rare = {key for key in words if of_word[key].capitals < MIN_VOTES}
        share = 1.0 if of_captions else corpora.names_share(texts, self._cast)
        facts = Known(self._cast, words=words, share=share)
        sure = frozenset(of_word.keys() - rare)
        people = corpora.people(texts, self._refine(texts), sure, facts.names_people)
        return facts._replace(people=people)

    def _judge(self, texts: Sequence[str]) -> list[list[tuple[Span, Verdict]]]:
        """Return the candidates of each text with what becomes of them; each is judged once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._verdicts]
        for text, spans in zip(new, self._refine(new), strict=True):
            verdicts = (judge(around, self._known) for around in surroundings_of(text, spans))
            self._verdicts[text] = list(zip(spans, verdicts, strict=True))
        return [self._verdicts[text] for text in texts]

    def _refine(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the candidates of each text: what the tagger marks, and the corpus adds."""
        return [
            refine(
                text, [*spans, *self._cast.spans(text), *corpora.full_names(text)], self._evidence
            )
            for text, spans in zip(texts, self._tag(texts), strict=True)
        ]

    def _tag(self, texts: Sequence[str]) -> list[list[Span]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._tagged]
        restored = [truecase.restore(text, self._casings) for text in new]
        self._tagged |= zip(
            new, map(_without_titles, restored, self._tagger.find(restored)), strict=True
        )
        return [self._tagged[text] for text in texts]


def votes(texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> dict[str, float]:
    """Return, for words often found to be names, in what share of places with a capital."""
    places, tagged = Counter[str](), Counter[str]()
    for text, named in zip(texts, spans, strict=True):
        for word in truecase.words(text):
            if not word.is_lower:
                places[word.key] += 1
                tagged[word.key] += _at(word, named) is not None
    return {key: n / places[key] for key, n in tagged.items() if n >= MIN_VOTES}


def refine(text: str, spans: Sequence[Span], evidence: Evidence) -> list[Span]:
    """Return the names of a text: the tagger's, and those that the corpus adds to them."""
    names = [_span(text, span.start, span.end, span.score) for span in spans]
    for word in truecase.words(text):
        score = 0.0 if word.is_lower else evidence.vote(word)
        if score:
            names.append(_span(text, word.start, word.end, score))
    return [_with_generation(text, name) for name in _merge(text, names)]


def _without_titles(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return spans without titles, and words that have no capital, if not at the very start."""
    named = [span for span in spans if not truecase.LETTERS.search(span.text)]  # as `13`
    for word in truecase.words(text):
        span = _at(word, spans)
        is_word = word.is_lower and not word.is_first
        if span and not is_word and word.key not in truecase.TITLES:
            named.append(_span(text, word.start, word.end, span.score))
    return _merge(text, named)


def _merge(text: str, spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, as one where they overlap or only a space parts them."""
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
    after = GENERATION.match(text, name.end)
    return _span(text, name.start, after.end(), name.score) if after else name


def _span(text: str, start: int, end: int, score: float) -> Span:
    return Span(start, end, text[start:end], score)


def _at(word: truecase.Word, spans: Sequence[Span]) -> Span | None:
    return next((s for s in spans if s.start < word.end and s.end > word.start), None)
