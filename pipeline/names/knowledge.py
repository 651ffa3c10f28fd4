"""What a corpus tells about names, and what that makes of single texts, in any process."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from pipeline.names import truecase
from pipeline.names.base import Span
from pipeline.names.evidence import corpus
from pipeline.names.evidence.cast import Cast
from pipeline.names.evidence.judging import Known, Verdict, judge
from pipeline.names.evidence.surroundings import surroundings_of
from pipeline.names.refinement import Evidence, refine

Tagged = tuple[str, Sequence[Span]]
"""A text, and the names that the tagger marks in it."""
Judged = tuple[Span, Verdict]
"""A candidate, and what becomes of it."""


class Knowledge(NamedTuple):
    """How a corpus writes words, who its people are, and of which words the tagger is `sure`."""

    evidence: Evidence
    known: Known
    sure: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "casings": self.evidence.casings,
            "votes": self.evidence.votes,
            "names": sorted(self.known.cast.names),
            "no_names": sorted(self.known.cast.no_names),
            "people": sorted(self.known.people),
            "words": sorted(self.known.words),
            "share": self.known.share,
            "sure": sorted(self.sure),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Return it from what `to_json` returned."""
        casings = {key: truecase.Casing(*counts) for key, counts in value["casings"].items()}
        names, no_names = (frozenset(map(tuple, value[name])) for name in ("names", "no_names"))
        people, words, sure = (frozenset(value[name]) for name in ("people", "words", "sure"))
        known = Known(Cast(names, no_names), people, words, value["share"])
        return cls(Evidence(casings, value["votes"]), known, sure)


def find_candidates(given: Knowledge, text: str, spans: Sequence[Sequence[Any]]) -> list[Span]:
    """Return the candidates of a text: what the tagger marks, and the corpus adds."""
    tagged = [Span(*span) for span in spans]
    every = [*tagged, *given.known.cast.spans(text), *corpus.full_names(text)]
    return refine(text, every, given.evidence)


def name_people(given: Knowledge, rows: Sequence[tuple[str]]) -> list[bool]:
    """Tell of each text whether it names somebody by the cast or the lists."""
    return [corpus.names_somebody(text, given.known.cast) for (text,) in rows]


def weigh_people(given: Knowledge, rows: Sequence[Tagged]) -> list[dict[str, int]]:
    """Return the points of each text's words (`corpus.weigh_words`)."""
    return [
        corpus.weigh_words(text, find_candidates(given, text, spans), given.sure)
        for text, spans in rows
    ]


def judge_texts(given: Knowledge, rows: Sequence[Tagged]) -> list[list[Judged]]:
    """Return the candidates of each text with what becomes of them."""
    judged = []
    for text, tagged in rows:
        spans = find_candidates(given, text, tagged)
        verdicts = (judge(around, given.known) for around in surroundings_of(text, spans))
        judged.append(list(zip(spans, verdicts, strict=True)))
    return judged
