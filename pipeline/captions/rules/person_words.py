"""Words for people, and how they fit into a text: article, number, case, spaces.

Wordings vary as in the paper's Table 3, and are the same for the same text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from pipeline.captions.rules.coreference import Person
from pipeline.language.lexicon import NUMBERS, Gender, plural
from pipeline.language.syntax import NO_VERBS
from pipeline.names import truecase

PAIR = 2
Options = Sequence[tuple[str, int]]
"""Wordings with their weights; those of weight 0 are for repairs only."""

_NOUNS: dict[Gender, Options] = {
    "man": (("man", 3), ("guy", 1), ("person", 0)),
    "woman": (("woman", 3), ("lady", 1), ("person", 0)),
    "unknown": (("person", 1),),
}
SOMEONE: Options = (("someone", 1), ("a person", 1), ("somebody", 0))
SEVERAL: Options = (("together", 2), ("apart", 1), ("vaguely", 0))
"""Of several people: two people, a man and a woman, or a couple of people."""
OF_UNKNOWN: Options = (("together", 1), ("vaguely", 0))
"""Of several people, if not all are known to be men or women."""
OPENING: Options = (("noun", 4), ("pronoun", 1))
"""Of the only man or woman in a text, at its start."""
_FEW = 5
_VOWELS = ("a", "e", "i", "o", "u")
_SPOKEN_AS_CONSONANT = ("uni", "use", "one", "eu")


class Voice(NamedTuple):
    """What the choice of words depends on: the text, and how often it was rewritten before."""

    text: str
    attempt: int = 0

    def pick(self, options: Options) -> str:
        """Return one of the options by weight; each further attempt takes the next one."""
        slot = f"{options[0][0]}\n{self.text}"
        digest = blake2b(slot.encode("utf-8", "replace"), digest_size=8).digest()
        ticket = int.from_bytes(digest) % sum(weight for _, weight in options)
        first = next(i for i in range(len(options)) if ticket < sum(w for _, w in options[: i + 1]))
        return options[(first + self.attempt) % len(options)][0]

    def noun(self, person: Person) -> str:
        """Return the noun for a person: doctor, man, lady, person."""
        noun = self.pick(_NOUNS[person.gender])
        return self.pick(((person.role, 1), (noun, 0))) if person.role else noun


def article(word: str) -> str:
    """Return `a` or `an`, by the sound of the next word."""
    word = word.lower()
    vowel = word.startswith(_VOWELS) and not word.startswith(_SPOKEN_AS_CONSONANT)
    return "an" if vowel else "a"


def with_article(phrase: str) -> str:
    """Return `an old man` for `old man`."""
    return f"{article(phrase)} {phrase}"


def possessive(phrase: str, suffix: str) -> str:
    """Return a phrase with its possessive ending: a man's, two guys'."""
    return phrase + (suffix[:1] if phrase.endswith("s") else suffix)


def number_word(number: int) -> str:
    """Return `two`, or `12`."""
    return NUMBERS[number] if number < len(NUMBERS) else str(number)


def count_phrase(number: int, noun: str, *, other: bool = False) -> str:
    """Return `two men`, `two other men`, `12 people`."""
    return f"{number_word(number)} {'other ' if other else ''}{plural(noun)}"


def vague_phrase(number: int) -> str:
    """Return roughly how many people there are."""
    return f"{'a couple of' if number == PAIR else 'a few' if number <= _FEW else 'several'} people"


def join_phrases(phrases: Sequence[str]) -> str:
    """Return `a man`, `a man and a woman`, `a man, a boy and a woman`."""
    return " and ".join((", ".join(phrases[:-1]), phrases[-1])) if len(phrases) > 1 else phrases[0]


# The verb after several people: `Ann and Bea walks` becomes `two women walk`

_IRREGULAR = {"is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't"}
_VERB = re.compile(r"(\s+(?:(?:both|then|also|each|just|\w+ly)\s+)?)([a-z']+)\b(?!')")
_SINGULAR = re.compile(r"[a-z]{2,}(?<!s)s")
_LIES = 4  # letters: lies, dies and ties lose their s alone, carries becomes carry


def plural_verb(right: str) -> tuple[int, int, str] | None:
    """Return the place and plural of the singular verb that `right` begins with, if any."""
    match = _VERB.match(right)
    if not match:
        return None
    verb = match[2]
    plural_form = _IRREGULAR.get(verb) or _without_s(verb)
    return (*match.span(2), plural_form) if plural_form != verb else None


def _without_s(verb: str) -> str:
    if verb in NO_VERBS or not _SINGULAR.fullmatch(verb):
        return verb
    if verb.endswith("ies") and len(verb) > _LIES:
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")) else verb[:-1]


# Phrases put into a text. What no edit touches stays exactly as it is, slips included.


class Edit(NamedTuple):
    """Replace the characters [start, end) of a text."""

    start: int
    end: int
    text: str


class _Edited(NamedTuple):
    """A text, and a `1` for each of its characters that an edit wrote or is next to."""

    text: str = ""
    touched: str = ""


_ARTICLE_BEFORE = re.compile(r"\b(an?)\s+$", re.IGNORECASE)
_WORD_AFTER = re.compile(r"\s*([A-Za-z]+)")
_SENTENCE_START = re.compile(
    r"(?:^|[.!?]['\"\u201d\u2019)]*\s+|(?:says|yells|[,:])\s+[\"\u201c])[\"\u201c'\u2018(\s]*$"
)
_TIDY = (
    (re.compile(r"\s+"), " "),
    (re.compile(r"\s+([,;:.!?])(?=\s|[A-Za-z,;:.!?]|$)"), r"\1"),
    (re.compile(r"([,;])(?=[^\W\d])"), r"\1 "),
    (re.compile(r"(?<=[a-z]{2})\.(?=[A-Z][a-z]*\b)"), ". "),
    (re.compile(r",(?:\s*,)+"), ","),
    (re.compile(r"(?<!\.)\.\s*\.(?!\.)"), "."),
    (re.compile(r",\s*([.!?])"), r"\1"),
    (re.compile(r"^[\s,;:]+"), ""),
)
# The spelling of words such as hour or x-ray does not show how they sound: leave them.
_ARTICLE_LENGTH = 2
_ARTICLE = re.compile(
    r"\b([Aa])(?:n (?=[bcdfgjklmnpqrstvwyz][a-z]*[aeiou][a-z]+\b)| (?!an\b)(?=[aeio][a-z]))([a-z]+)"
)


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits applied, and spaces, articles and case next to them tidied.

    Of two edits in one place the first is applied. A text without edits is returned as it is.
    """
    edited, at = _Edited(), 0
    for edit in sorted(edits):
        if edit.end > at:
            edited = _append_original(edited, text[at : max(edit.start, at)], beside=at > 0)
            edited = _append_phrase(edited, edit.text, text[edit.end :])
            at = edit.end
    return _tidy(_append_original(edited, text[at:], beside=True)) if at else text


def _starts_sentence(before: str) -> bool:
    return bool(_SENTENCE_START.search(before)) and not truecase.ends_abbreviated(before)


def _append_original(edited: _Edited, text: str, *, beside: bool) -> _Edited:
    """Add original text; its first letter counts as touched if it is `beside` an edit."""
    if edited.text and beside and _starts_sentence(edited.text):
        text = text[:1].upper() + text[1:]  # a name was dropped from the start of a sentence
    touched = str(int(beside)).ljust(len(text), "0")[: len(text)]
    return _Edited(edited.text + text, edited.touched + touched)


def _append_phrase(edited: _Edited, phrase: str, after: str) -> _Edited:
    """Add a phrase for a name, or, if it is empty, the article that fits what follows."""
    if phrase:
        text, same = edited.text, len(edited.text)
        phrase = _fit_phrase(text, phrase, after)
    else:
        text = _fit_article(edited.text, after)
        same = len(text) - (0 if text == edited.text else _ARTICLE_LENGTH)
    touched = edited.touched[: max(0, same - 1)].ljust(len(text) + len(phrase), "1")
    return _Edited(text + phrase, touched)


def _fit_phrase(before: str, phrase: str, after: str) -> str:
    """Return a phrase in sentence case, with a space where a name touched a word."""
    if _starts_sentence(before):
        phrase = phrase[0].upper() + phrase[1:]
    lead = " " if before[-1:].isalnum() and phrase[0].isalnum() else ""
    return lead + phrase + (" " if after[:1].isalnum() else "")


def _fit_article(before: str, after: str) -> str:
    match, word = _ARTICLE_BEFORE.search(before.rstrip() + " "), _WORD_AFTER.match(after)
    if not match or not word:
        return before
    fitting = article(word[1])
    return before[: match.start()] + (fitting.capitalize() if match[1][0].isupper() else fitting)


def _correct_article(match: re.Match[str]) -> str:
    return f"{match[1]}{article(match[2])[1:]} {match[2]}"


def _tidy(edited: _Edited) -> str:
    """Return the text with single spaces and spaced punctuation, where edits touched it."""
    before = None
    while edited != before:  # an earlier rule may tidy what a later one leaves
        before = edited
        for pattern, instead in _TIDY:
            edited = _substitute(pattern, instead, edited)
    text, touched = _substitute(_ARTICLE, _correct_article, edited)
    if touched.startswith("1"):
        text = text.lstrip()
        text = text[:1].upper() + text[1:]
    return text.rstrip() if touched.endswith("1") else text


def _substitute(
    pattern: re.Pattern[str], instead: str | Callable[[re.Match[str]], str], edited: _Edited
) -> _Edited:
    """Return the text with those matches replaced that an edit touches."""
    text, touched, at = "", "", 0
    for match in pattern.finditer(edited.text):
        start, end = match.span()
        if "1" in edited.touched[start:end]:
            new = match.expand(instead) if isinstance(instead, str) else instead(match)
            text += edited.text[at:start] + new
            touched += edited.touched[at:start] + "1" * len(new)
            at = end
    return _Edited(text + edited.text[at:], touched + edited.touched[at:])
