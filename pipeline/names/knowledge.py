"""What a corpus shows about names, and what follows for single texts, in any process."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pipeline.names import truecase
from pipeline.names.base import Span
from pipeline.names.evidence import corpus
from pipeline.names.evidence.judging import Known, Verdict, judge
from pipeline.names.evidence.lists import family_names, given_names, is_elsewhere, is_word
from pipeline.names.evidence.lower_case import may_be_lower
from pipeline.names.evidence.surroundings import surroundings_of
from pipeline.names.refinement import Evidence, refine

Tagged = tuple[str, Sequence[Span]]
"""A text, and the names that the tagger marks in it."""
Judged = tuple[Span, Verdict]
"""A candidate, and the verdict on it."""


class Knowledge(NamedTuple):
    """How a corpus writes words, who its people are, and which words the tagger is `sure` of."""

    evidence: Evidence
    known: Known
    sure: frozenset[str] = frozenset()


def find_candidates(knowledge: Knowledge, text: str, spans: Sequence[Span]) -> list[Span]:
    """Return the candidates of a text: what the tagger marks and what the corpus adds."""
    every = [*spans, *knowledge.known.cast.spans(text), *corpus.full_names(text)]
    if knowledge.known.names_people:
        every += corpus.possible_names(text) + corpus.guesses(text)
    return refine(text, every, knowledge.evidence, knowledge.known.named)


def name_people(knowledge: Knowledge, rows: Sequence[tuple[str]]) -> list[bool]:
    """Tell for each text whether it names a person by the cast or the lists."""
    return [corpus.names_somebody(text, knowledge.known.cast) for (text,) in rows]


def weigh_people(knowledge: Knowledge, rows: Sequence[Tagged]) -> list[dict[str, int]]:
    """Return the points of each text's words (`corpus.weigh_words`)."""
    return [
        corpus.weigh_words(text, find_candidates(knowledge, text, spans), knowledge.sure)
        for text, spans in rows
    ]


def judge_texts(knowledge: Knowledge, rows: Sequence[Tagged]) -> list[list[Judged]]:
    """Return the candidates of each text with their verdicts."""
    judged = []
    for text, tagged in rows:
        spans = find_candidates(knowledge, text, tagged)
        verdicts = (judge(around, knowledge.known) for around in surroundings_of(text, spans))
        judged.append(list(map(_decide, spans, verdicts)))
    return judged


def _decide(span: Span, verdict: Verdict) -> Judged:
    """Return a candidate with its verdict; a guess is no name by the tagger's word."""
    if span.score or verdict.kind != "name":
        return span, verdict
    if verdict.reason == "tagger":
        return span, Verdict("weak", "unknown")
    return span._replace(score=1.0), verdict


def list_names(judged: Iterable[Sequence[Judged]]) -> frozenset[str]:
    """Return the words that are names in the texts of a corpus by more than the tagger's word."""
    return frozenset(
        word.key
        for of_text in judged
        for span, verdict in of_text
        if verdict.kind == "name" and verdict.reason != "lower"
        for word in truecase.words(span.text)
        if not word.is_lower
        and may_be_lower(word.key)
        and (verdict.reason != "tagger" or _is_name_only(word.key))
    )


def list_suspects(judged: Iterable[Sequence[Judged]]) -> frozenset[str]:
    """Return the places, makes and peoples that may be somebody's name in several texts."""
    texts = Counter(
        word.key
        for of_text in judged
        for span, verdict in of_text
        if verdict.kind == "weak" and verdict.reason in ("start", "word", "unknown")
        for word in truecase.words(span.text)
    )
    return frozenset(
        key for key, count in texts.items() if count >= corpus.MIN_DEEDS and is_elsewhere(key)
    )


def _is_name_only(word: str) -> bool:
    """Tell whether the lists have it as a first name, or as a family name and no word."""
    return word in given_names() or (word in family_names() and not is_word(word))
