"""The `rules` backend: rewrites without any model or network, the same way every time.

Names are those that a finder marks, those of the corpus's own cast list, and those that are plain
to see; a text without any stays as it is, letter by letter. A repair looks again, at the caption
itself.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Self

from pipeline.captions.rewriter import Moment, Rewrite
from pipeline.captions.rules import learning
from pipeline.captions.rules.gender import Genders, from_cast
from pipeline.captions.rules.parts import Part, parts
from pipeline.captions.rules.rewriting import rewrite
from pipeline.captions.rules.sightings import opening, sighting_of
from pipeline.core.progress import progress
from pipeline.language.lexicon import Gender
from pipeline.names.base import Span
from pipeline.names.evidence.cast import Cast, keys_of

Finder = Callable[[Sequence[str]], list[list[Span]]]
"""What marks person names in texts: `NameTagger.find`, for one."""


class RulesRewriter:
    """Rewrites by rules; see `for_corpus`."""

    source = "rules"
    model: str | None = None
    prompt: str | None = None

    def __init__(
        self, find: Finder, genders: Genders | None = None, cast: Cast | None = None
    ) -> None:
        self._find, self._cast = find, cast or Cast()
        self._genders = genders or Genders()
        self._sight = sighting_of(self._genders.cast.keys())

    @classmethod
    def for_corpus(
        cls,
        texts: Sequence[str],
        find: Finder,
        genders: Mapping[str, Gender] | None = None,
        cast: Cast | None = None,
    ) -> Self:
        """Return a rewriter that has learned from a corpus whose names are a man's, whose not.

        Args:
            texts: the descriptions of the corpus.
            find: what marks the names.
            genders: the gender of the people by name, as far as the corpus says.
            cast: what else it says: words that are no names.
        """
        given = from_cast(genders or {})
        spans = cls(find, Genders(cast=given), cast).names(texts)
        read = [part for pair in zip(texts, spans, strict=True) for part in parts(*pair)]
        learned = learning.learn([part.text for part in read], [p.spans for p in read], given)
        return cls(find, learned, cast)

    def rewrite(self, items: Sequence[Moment], attempt: int) -> Iterator[Rewrite]:
        """Yield a draft for every item, in order."""
        done = self.rewritten([item.description for item in items], attempt)
        for item, caption in zip(items, done, strict=True):
            yield Rewrite(item.moment_id, caption)

    def rewritten(self, texts: Sequence[str], attempt: int = 0) -> list[str]:
        """Return each text rewritten."""
        captions = self._pass(texts, self.names(texts), attempt)
        if not attempt:
            return captions
        return self._pass(captions, self.names(captions), attempt)

    def _pass(
        self, texts: Sequence[str], names: Sequence[Sequence[Span]], attempt: int
    ) -> list[str]:
        bar = progress("rules", texts, unit="texts")
        pairs = zip(bar, names, strict=True)
        return [self._whole(parts(text, spans), attempt) for text, spans in pairs]

    def _whole(self, read: Iterable[Part], attempt: int) -> str:
        return "".join(_rewritten(part, self._genders, attempt) for part in read)

    def names(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the names of each text: what the finder marks, and what is plain to see."""
        found = zip(texts, self._find(texts), strict=True)
        return [
            sorted(
                span
                for span in {*spans, *self._sight(text), *opening(text, self._genders.names)}
                if not self._cast.is_no_name(keys_of(span.text))
            )
            for text, spans in found
        ]


def _rewritten(part: Part, genders: Genders, attempt: int) -> str:
    """Return a part rewritten, with the space that parts it from the next one."""
    text = part.text.rstrip()
    return rewrite(text, part.spans, genders, attempt) + part.text[len(text) :]
