"""The verbs of English texts, by their base forms: `sat`, `sits` and `sitting` are `sit`.

The package lemminflect knows which words can be forms of a verb. Many can be nouns too: those count
if the word before makes them a verb, as in `he waves`, `is waving`, `to wave` and `the man waves`.
Sentences are not parsed, so the number is an estimate, and the report says so.
"""

from collections.abc import Iterable
from functools import cache

from pipeline.core.text import words

LEXICON = "lemminflect"
VERBS = {"VERB", "AUX"}
_OPENERS = (
    "he she it they we you i who someone somebody everyone everybody nobody one to not n't"
    " am is are was were be been being has have had do does did can could will would must should"
    " may might"
)
OPENERS = frozenset(_OPENERS.split())
"""Words before a verb: subjects, auxiliaries, and the `to` of an infinitive."""
_CLOSERS = (
    "a an the this that these those his her its their my your our some another no of"
    " two three four five six several many both all"
)
CLOSERS = frozenset(_CLOSERS.split())
"""Words before a noun."""
ENDINGS = ("s", "ing", "ed")


def verbs(texts: Iterable[str]) -> set[str]:
    """Return the distinct verbs in texts, by their base forms."""
    return {verb for text in texts for verb in _verbs(words(text))}


def _verbs(text: list[str]) -> set[str]:
    pairs = zip(["", *text], text, strict=False)
    return {verb for before, word in pairs if (verb := _verb(before, word))}


def _verb(before: str, word: str) -> str | None:
    """Return the base form of a word that is a verb after another word."""
    readings = _readings(word)
    if not VERBS & readings.keys() or before in CLOSERS:
        return None
    base = readings.get("VERB") or readings["AUX"]
    is_verb = readings.keys() <= VERBS or before in OPENERS
    follows_noun = "NOUN" in _readings(before) and word != base and word.endswith(ENDINGS)
    return base if is_verb or follows_noun else None


@cache
def _readings(word: str) -> dict[str, str]:
    """Return the base form of a word for each part of speech that it can be."""
    from lemminflect import getAllLemmas  # noqa: PLC0415  (--help needs none)

    return {kind: lemmas[0] for kind, lemmas in getAllLemmas(word).items()}
