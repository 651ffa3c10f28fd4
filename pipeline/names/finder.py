"""Names of people in the texts of one corpus: what the tagger marks and evidence supports.

A tagger sees one sentence; a corpus shows more. Together they follow five rules:

* a text is tagged in the letter case that the corpus gives to its words
  (`pipeline.names.truecase.restore`), so that `ross runs` has a name and `Water runs` has none;
* what the tagger takes for a name is not one if even then it has no capital in mid-sentence;
* a word with a capital that the corpus writes as a name, and that the tagger takes for a
  person's almost everywhere, is also a name where the tagger missed it;
* a word that the corpus or its cast has as a name is one in lower case too, unless it is also a
  common word, and nothing there tells which;
* of all these, only what evidence of a person supports (`pipeline.names.evidence.judging`) is a
  name. The rest is a doubt: it stays in the text, and people look at it.

Rewriting and the check of captions use the same finder: a check that saw less than the
rewriter would pass leftover names, and one that saw more would fail what nobody repairs.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pipeline.core.engine.text_rows import IN_PROCESS, RowMap
from pipeline.names import truecase
from pipeline.names.base import NameTagger, Span
from pipeline.names.evidence import corpus as corpora
from pipeline.names.evidence.cast import Cast
from pipeline.names.evidence.judging import Known, Reason
from pipeline.names.knowledge import (
    Judged,
    Knowledge,
    judge_texts,
    list_names,
    list_suspects,
    name_people,
    weigh_people,
)
from pipeline.names.refinement import (
    MIN_VOTE_SHARE,
    MIN_VOTES,
    Evidence,
    drop_titles,
    votes,
)


class Doubt(NamedTuple):
    """What only the tagger takes for a name; `reason` is the missing evidence."""

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
        map_rows: RowMap = IN_PROCESS,
    ) -> None:
        """Read the corpus; with `of_captions`, it has captions, whose few names mean nothing.

        `map_rows` does the work on each text by itself.
        """
        self._tagger = tagger
        self._map = map_rows
        self._tagged: dict[str, list[Span]] = {}
        texts = list(dict.fromkeys(corpus))
        self._casings = truecase.casings(texts)
        evidence = Evidence(self._casings, votes(texts, self._tag(texts)))
        self._knowledge = self._learn(texts, evidence, cast or Cast(), of_captions=of_captions)
        self._verdicts: dict[str, list[Judged]] = {}

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

    def _learn(
        self, texts: Sequence[str], evidence: Evidence, cast: Cast, *, of_captions: bool
    ) -> Knowledge:
        """Return what the corpus shows about its people."""
        of_word = {
            key: self._casings.get(key, truecase.Casing())
            for key, vote in evidence.votes.items()
            if vote >= MIN_VOTE_SHARE
        }
        words = frozenset(key for key, casing in of_word.items() if not casing.is_name_like)
        rare = {key for key in words if of_word[key].capitals < MIN_VOTES}
        knowledge = Knowledge(evidence, Known(cast, words=words), frozenset(of_word.keys() - rare))
        share = 1.0
        if not of_captions:
            naming = self._map(name_people, knowledge, [(text,) for text in texts])
            share = sum(naming) / max(len(texts), 1)
        learned = knowledge.known._replace(share=share)
        weighed = self._map(weigh_people, knowledge, self._tag_rows(texts))
        people = corpora.people(weighed, learned.names_people)
        knowledge = knowledge._replace(known=learned._replace(people=people))
        judged = self._map(judge_texts, knowledge, self._tag_rows(texts))
        named = list_names(judged) | learned.cast.words()
        suspects = list_suspects(judged)
        known = knowledge.known._replace(named=named, suspects=suspects)
        return knowledge._replace(known=known)

    def _judge(self, texts: Sequence[str]) -> list[list[Judged]]:
        """Return the candidates of each text with their verdicts; each is judged once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._verdicts]
        judged = self._map(judge_texts, self._knowledge, self._tag_rows(new))
        self._verdicts |= zip(new, judged, strict=True)
        return [self._verdicts[text] for text in texts]

    def _tag_rows(self, texts: Sequence[str]) -> list[tuple[str, list[Span]]]:
        return list(zip(texts, self._tag(texts), strict=True))

    def _tag(self, texts: Sequence[str]) -> list[list[Span]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._tagged]
        restored = [truecase.restore(text, self._casings) for text in new]
        tagged = self._tagger.find(restored)
        self._tagged |= zip(new, map(drop_titles, restored, tagged), strict=True)
        return [self._tagged[text] for text in texts]
