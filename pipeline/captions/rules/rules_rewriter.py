"""The `rules` backend: rewrites deterministically, without a model or network.

Names are those that a finder marks, those in the corpus's own cast list, and obvious ones; a text
without names stays exactly as it is. A repair looks for names again, in the caption itself.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, Self

from pipeline.captions.rewriter import Moment, Rewrite
from pipeline.captions.rules.context import Context, find_context
from pipeline.captions.rules.coreference import (
    Person,
    PersonNoun,
    describe_people,
    find_nouns,
    number_people,
)
from pipeline.captions.rules.discourse import Discourse
from pipeline.captions.rules.gender import Genders, learn, normalize_cast
from pipeline.captions.rules.mentions import cast_finder, find_mentions, find_opening
from pipeline.captions.rules.person_words import Edit, Voice, apply_edits, plural_verb
from pipeline.captions.rules.units import Unit, group_mentions, share_titles
from pipeline.core.engine.text_rows import IN_PROCESS, RowMap
from pipeline.core.progress import progress
from pipeline.language.lexicon import Gender
from pipeline.names.base import Span
from pipeline.names.evidence.cast import Cast, keys_of

Finder = Callable[[Sequence[str]], list[list[Span]]]
"""Marks the names of people in texts, for example `NameTagger.find`."""


class Rules(NamedTuple):
    """What the rules know about a corpus, and how often a text has been rewritten before."""

    genders: Genders
    cast: Cast
    attempt: int = 0


class RulesRewriter:
    """Rewrites by rules; see `for_corpus`."""

    source = "rules"
    model: str | None = None
    prompt: str | None = None

    def __init__(
        self,
        find: Finder,
        genders: Genders | None = None,
        cast: Cast | None = None,
        map_rows: RowMap = IN_PROCESS,
    ) -> None:
        """Set what marks the names, and what does the work that concerns single texts."""
        self._find, self._map = find, map_rows
        self._rules = Rules(genders or Genders(), cast or Cast())
        self._names: dict[str, list[Span]] = {}

    @classmethod
    def for_corpus(
        cls,
        texts: Sequence[str],
        find: Finder,
        genders: Mapping[str, Gender] | None = None,
        cast: Cast | None = None,
        map_rows: RowMap = IN_PROCESS,
    ) -> Self:
        """Return a rewriter that has learned the genders of names from a corpus.

        Args:
            texts: the descriptions of the corpus.
            find: marks the names.
            genders: people's gender by name, as far as the corpus gives it.
            cast: what else the corpus says: words that are not names.
            map_rows: does the work that concerns single texts.
        """
        people = normalize_cast(genders or {})
        spans = cls(find, Genders(cast=people), cast, map_rows).find_names(texts)
        sentences = [s for pair in zip(texts, spans, strict=True) for s in split_text(*pair)]
        learned = learn([s.text for s in sentences], [s.spans for s in sentences], people, map_rows)
        return cls(find, learned, cast, map_rows)

    def rewrite(self, moments: Sequence[Moment], attempt: int) -> Iterator[Rewrite]:
        """Yield a rewrite of every moment, in order."""
        captions = self.rewrite_texts([moment.description for moment in moments], attempt)
        for moment, caption in zip(moments, captions, strict=True):
            yield Rewrite(moment.moment_id, caption)

    def rewrite_texts(self, texts: Sequence[str], attempt: int = 0) -> list[str]:
        """Return each text rewritten."""
        rules = self._rules._replace(attempt=attempt)
        for _ in range(2 if attempt else 1):
            rows = list(zip(texts, self.find_names(texts), strict=True))
            texts = self._map(rewrite_rows, rules, rows)
        return list(texts)

    def find_names(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the names in each text: those that the finder marks, and obvious ones."""
        new = [text for text in dict.fromkeys(texts) if text not in self._names]
        rows = list(zip(new, self._find(new), strict=True))
        names = self._map(find_rows, self._rules, rows)
        self._names |= zip(new, names, strict=True)
        return [self._names[text] for text in texts]


Row = tuple[str, Sequence[Span]]
"""A text and its names."""


def find_rows(rules: Rules, rows: Sequence[Row]) -> list[list[Span]]:
    """Return the names in each text: those given with it, the cast's, and obvious ones."""
    find_without_tagger = cast_finder(rules.genders.cast.keys())
    names = []
    for text, spans in rows:
        opening = find_opening(text, rules.genders.names)
        every = sorted({*spans, *find_without_tagger(text), *opening})
        names.append([span for span in every if not rules.cast.is_no_name(keys_of(span.text))])
    return names


def rewrite_rows(rules: Rules, rows: Sequence[Row]) -> list[str]:
    """Return each text without the names given with it."""
    bar = progress("rules", rows, unit="texts")
    return [_rewrite(rules, text, spans) for text, spans in bar]


def _rewrite(rules: Rules, text: str, spans: Sequence[Span]) -> str:
    written = []
    for sentence in split_text(text, spans):
        body = sentence.text.rstrip()
        caption = rewrite_text(body, sentence.spans, rules.genders, rules.attempt)
        written.append(caption + sentence.text[len(body) :])
    return "".join(written)


def rewrite_text(text: str, spans: Sequence[Span], genders: Genders, attempt: int = 0) -> str:
    """Return the text without the names at `spans`; without names it is unchanged."""
    mentions = find_mentions(text, spans, genders.names)
    numbers = number_people(mentions)
    units = group_mentions(text, mentions, numbers)
    people = share_titles(describe_people(text, mentions, numbers, genders), units)
    nouns = [
        noun for noun in find_nouns(text) if not any(u.start <= noun.start < u.end for u in units)
    ]
    discourse = Discourse(people, Voice(text, attempt), _find_alone(people, nouns))
    edits: list[Edit] = []
    in_order: list[Unit | PersonNoun] = sorted([*units, *nouns], key=attrgetter("start"))
    for mention in in_order:
        if isinstance(mention, PersonNoun):
            if discourse.add_noun(mention) and mention.article:
                edits.append(Edit(*mention.article, mention.apart))
            continue
        context = find_context(text, mention, units)
        phrase = discourse.phrase(mention, context, apart=_is_apart(mention, units))
        edits += [Edit(context.start, context.end, phrase), *_agreement(text, mention, context)]
    return (apply_edits(text, edits).strip() or "Someone") if edits else text


def _find_alone(people: Sequence[Person], nouns: Sequence[PersonNoun]) -> frozenset[int]:
    """Return the untitled people who are the only ones of their gender in a text."""
    genders = Counter([*(p.gender for p in people), *(noun.gender for noun in nouns)])
    if any(person.gender == "unknown" for person in people):
        return frozenset()
    return frozenset(
        number
        for number, person in enumerate(people)
        if person.role is None and genders[person.gender] == 1
    )


def _is_apart(unit: Unit, units: Sequence[Unit]) -> bool:
    """Return whether one of several people is mentioned alone elsewhere."""
    people = set(unit.people)
    return any(people & set(other.people) and people - set(other.people) for other in units)


def _agreement(text: str, unit: Unit, context: Context) -> Iterator[Edit]:
    several = len(set(unit.people)) > 1 and context.case == "subject" and not unit.suffix
    if several and (verb := plural_verb(text[unit.end :])):
        start, end, plural = verb
        yield Edit(unit.end + start, unit.end + end, plural)


# Long texts: looking back from every name takes quadratic time, so each part is read by itself.

LONG = 1000
"""Characters up to which a text is one part. TVR's longest visual description has 458."""
# Four lower-case letters before it: not the full stop of a title or an initial.
_ENDS = (re.compile(r"(?<=[a-z]{4}[.!?])\s+"), re.compile(r"\s+"))


class Sentence(NamedTuple):
    """A sentence of a text, with the names in it; their spans are relative to the sentence."""

    text: str
    spans: list[Span]


def split_text(text: str, spans: Sequence[Span]) -> Iterator[Sentence]:
    """Yield a text as it is, or, if it is long, in groups of sentences of at most `LONG`."""
    start = 0
    while len(text) - start > LONG:
        end = _find_end(text, start)
        yield _cut(text, spans, start, end)
        start = end
    yield _cut(text, spans, start, len(text)) if start else Sentence(text, list(spans))


def _find_end(text: str, start: int) -> int:
    for pattern in _ENDS:
        if ends := [match.end() for match in pattern.finditer(text, start, start + LONG)]:
            return ends[-1]
    space = _ENDS[-1].search(text, start)
    return space.end() if space else len(text)


def _cut(text: str, spans: Sequence[Span], start: int, end: int) -> Sentence:
    inside = (
        (max(span.start, start), min(span.end, end), span.score)
        for span in spans
        if span.start < end and span.end > start
    )
    return Sentence(
        text[start:end], [Span(a - start, b - start, text[a:b], score) for a, b, score in inside]
    )
