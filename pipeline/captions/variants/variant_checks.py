"""The checks of a variant: a sentence of its own, and neither too near its caption nor too far.

A vaguer one adds nothing: each of its words is the caption's, or a more general one. One that was
changed differs in one place.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, pairwise

from pipeline.captions import form
from pipeline.captions.details import Pair, detail_share, details
from pipeline.captions.variants import general_words
from pipeline.captions.variants.general_words import base_forms
from pipeline.core import text
from pipeline.core.sections import Vary

CHANGED = "changed"
MOST_CHANGED = 3
"""The most words of one thing."""
_SHORTER = "the end is missing"
"""A fault of a rewritten caption that a vaguer one has on purpose."""


@dataclass(frozen=True)
class Checks:
    """How variants are checked: within the limits, against the captions of the corpus.

    `captions` are as `normalize` returns them. `english`: by English words, too.
    """

    limits: Vary
    captions: Container[str]
    english: bool

    def find_fault(self, stratum: str, caption: str, variant: str, similarity: float) -> str:
        """Return the first fault of a variant; '' if it has none."""
        if normalize(variant) in self.captions:
            return "it is a caption of the corpus"
        faults = form.list_faults(self.english, [Pair(caption, (), variant, ())])[0].split("; ")
        if others := [fault for fault in faults if fault not in ("", _SHORTER)]:
            return f"form: {'; '.join(others)}"
        if self.english and (lost := list_lost_denials(caption, variant)):
            return f"denial is lost: {' '.join(lost)}"
        if stratum == CHANGED:
            fault = "" if describe_change(caption, variant) else "more than one thing is changed"
        else:
            fault = self._find_added(caption, variant) or self._find_detail(
                stratum, share_details(caption, variant)
            )
        return fault or self._find_distance(stratum, similarity)

    def _find_added(self, caption: str, variant: str) -> str:
        added = list_added(caption, variant) if self.english else []
        return f"added: {' '.join(added)}" if added else ""

    def _find_detail(self, stratum: str, share: float) -> str:
        limits = self.limits.max_detail
        least, most = (limits.gist, limits.vague) if stratum == "vague" else (-1.0, limits.gist)
        if share > most:
            return f"details: keeps {share:.2f}, more than {most}"
        return f"details: keeps {share:.2f}, no more than {least}" if share <= least else ""

    def _find_distance(self, stratum: str, similarity: float) -> str:
        least, most = getattr(self.limits.similarity, stratum)
        if least <= similarity <= most:
            return ""
        return f"similarity: {similarity:.2f} is not between {least} and {most}"


def normalize(caption: str) -> str:
    """Return what two texts share that are one query: their words, in lower case."""
    return " ".join(text.words(caption))


def share_details(caption: str, variant: str) -> float:
    """Return the share of a caption's details that a variant keeps."""
    return detail_share(details(caption), details(variant))


def list_added(caption: str, variant: str) -> list[str]:
    """Return a variant's words that are not its caption's, nor more general than one of those."""
    told = text.words(caption)
    known = set(chain.from_iterable(map(base_forms, told)))
    nouns = known.union(f"{first} {second}" for first, second in pairwise(told))
    names = filter(None, map(general_words.name_in_general, sorted(nouns)))
    known |= set(filter(None, map(general_words.verb_in_general, sorted(known))))
    known |= general_words.GENERAL
    words = f" {' '.join(text.words(variant))} "
    for name in names:
        words = words.replace(f" {name} ", " ")
    return [
        word
        for word in words.split()
        if not known & base_forms(word) and not general_words.is_person(word, told)
    ]


def list_lost_denials(caption: str, variant: str) -> list[str]:
    """Return a caption's words that deny or leave open what it tells, and that a variant lacks."""
    kept = set(text.words(variant))
    return [word for word in general_words.list_denials(text.words(caption)) if word not in kept]


def describe_change(caption: str, variant: str) -> str | None:
    """Return the one thing that was changed, as `tea -> milk`; None if it is not one.

    Another form of a word is no change.
    """
    before, after = text.words(caption), text.words(variant)
    matcher = SequenceMatcher(None, _without_articles(before), _without_articles(after), False)
    spans = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(spans) != 1:
        return None
    _, i, j, k, m = spans[0]
    old, new = _without_articles(before)[i:j], _without_articles(after)[k:m]
    if not old or not new or max(len(old), len(new)) > MOST_CHANGED:
        return None
    forms = set(chain.from_iterable(map(base_forms, old)))
    if all(forms & base_forms(word) for word in new):
        return None
    return f"{' '.join(old)} -> {' '.join(new)}"


def _without_articles(words: Sequence[str]) -> list[str]:
    return [word for word in words if word not in {"a", "an", "the"}]
