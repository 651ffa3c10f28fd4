"""The `rules` backend: rewrites without any model or network, the same way every time.

Names are those a finder marks and those of the corpus's own cast list. A repair looks again,
at the caption itself, and takes every word for a name that could be one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Self

from pipeline.names import Span
from pipeline.rewriters.port import Draft, Item
from pipeline.rewriters.rules import learning
from pipeline.rewriters.rules.gender import Genders, first_names, from_cast
from pipeline.rewriters.rules.lexicon import Gender
from pipeline.rewriters.rules.parts import Part, parts
from pipeline.rewriters.rules.rewriting import rewrite
from pipeline.rewriters.rules.sightings import opening, sighting_of

Finder = Callable[[Sequence[str]], list[list[Span]]]
"""What marks person names in texts: `NameTagger.find`, for one."""

_CAPITALISED = re.compile(r"(?<=[\w,;] )[A-Z][\w'\u2019-]*[a-z][\w-]*")


class RulesRewriter:
    """Rewrites by rules; see `for_corpus`."""

    source = "rules"
    model: str | None = None
    prompt: str | None = None

    def __init__(self, find: Finder, genders: Genders | None = None) -> None:
        self._find = find
        self._genders = genders or Genders()
        self._sight = sighting_of(self._genders.cast.keys())

    @classmethod
    def for_corpus(
        cls, texts: Sequence[str], find: Finder, cast: Mapping[str, Gender] | None = None
    ) -> Self:
        """Return a rewriter that has learned from a corpus whose names are a man's, whose not.

        Args:
            texts: the descriptions of the corpus.
            find: what marks the names.
            cast: the gender of the people by name, as far as the corpus says.
        """
        given = from_cast(cast or {})
        spans = cls(find, Genders(cast=given))._names(texts)
        read = [part for pair in zip(texts, spans, strict=True) for part in parts(*pair)]
        learned = learning.learn([part.text for part in read], [p.spans for p in read], given)
        return cls(find, learned)

    def rewrite(self, items: Sequence[Item], attempt: int) -> Iterator[Draft]:
        """Yield a draft for every item, in order."""
        done = self.rewritten([item.description for item in items], attempt)
        for item, caption in zip(items, done, strict=True):
            yield Draft(item.moment_id, caption)

    def rewritten(self, texts: Sequence[str], attempt: int = 0) -> list[str]:
        """Return each text rewritten."""
        captions = self._pass(texts, self._names(texts), attempt)
        if not attempt:
            return captions
        return self._pass(captions, self._suspects(captions, attempt), attempt)

    def _pass(
        self, texts: Sequence[str], names: Sequence[Sequence[Span]], attempt: int
    ) -> list[str]:
        pairs = zip(texts, names, strict=True)
        return [self._whole(parts(text, spans), attempt) for text, spans in pairs]

    def _whole(self, read: Iterable[Part], attempt: int) -> str:
        return " ".join(filter(None, (rewrite(*part, self._genders, attempt) for part in read)))

    def _names(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return what the finder marks, and what can be seen without it."""
        found = zip(texts, self._find(texts), strict=True)
        return [
            sorted({*spans, *self._sight(text), *opening(text, self._genders.names)})
            for text, spans in found
        ]

    def _suspects(self, captions: Sequence[str], attempt: int) -> list[list[Span]]:
        """Return what may still be a name: on a second repair every capital in mid-sentence."""
        return [
            [*spans, *(s for s in _capitalised(text) if attempt > 1 or self._may_be(s))]
            for text, spans in zip(captions, self._names(captions), strict=True)
        ]

    def _may_be(self, span: Span) -> bool:
        word = span.text.lower()
        return word in first_names() or word in self._genders.names


def _capitalised(text: str) -> list[Span]:
    found = _CAPITALISED.finditer(text)
    return [Span(match.start(), match.end(), match[0], 1.0) for match in found]
