"""Put replacements into a text, and tidy its spaces, articles and sentence case."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pipeline.rewriters.rules.wording import article


class Edit(NamedTuple):
    """Replace the characters [start, end) of a text."""

    start: int
    end: int
    text: str


_ARTICLE_BEFORE = re.compile(r"\b(an?)\s+$", re.IGNORECASE)
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
# By its letters a word such as hour or x-ray doesn't tell how it sounds: those are left.
_ARTICLE = re.compile(
    r"\b([Aa])(?:n (?=[bcdfgjklmnpqrstvwyz][a-z]*[aeiou][a-z]+\b)| (?!an\b)(?=[aeio][a-z]))([a-z]+)"
)
_PRONOUN = re.compile(r"(?<=[a-z] )(?:He|She|They|Him|Her|Them|His|Their)\b")


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made and capitalised; what two replace, the first does."""
    done, at = "", 0
    for edit in sorted(edits):
        if edit.end > at:
            done = _joined(done, text[at : max(edit.start, at)])
            done += _fitted(done, edit.text, text[edit.end :])
            at = edit.end
            done = done if edit.text else _with_fitting_article(done, text[at:])
    return _joined(done, text[at:])


def _joined(done: str, text: str) -> str:
    """Add text, with a capital where a name went from the start of a sentence."""
    if done and _SENTENCE_START.search(done):
        text = text[:1].upper() + text[1:]
    return done + text


def _fitted(before: str, phrase: str, after: str) -> str:
    """Return a phrase in sentence case, with a space where a name stood close to a word."""
    if not phrase:
        return phrase
    if _SENTENCE_START.search(before):
        phrase = phrase[0].upper() + phrase[1:]
    lead = " " if before[-1:].isalnum() and phrase[0].isalnum() else ""
    return lead + phrase + (" " if after[:1].isalnum() else "")


def _with_fitting_article(before: str, after: str) -> str:
    found = _ARTICLE_BEFORE.search(before.rstrip() + " ")
    word = re.match(r"\s*([A-Za-z]+)", after)
    if not found or not word:
        return before
    fitting = article(word[1])
    fitting = fitting.capitalize() if found[1][0].isupper() else fitting
    return before[: found.start()] + fitting


def _with_sound(match: re.Match[str]) -> str:
    fitting = article(match[2])
    return f"{match[1]}{fitting[1:]} {match[2]}"


def tidy(text: str) -> str:
    """Return the text with single spaces, spaced punctuation and a capital at its start."""
    before = None
    while text != before:  # what one rule leaves, an earlier one may tidy
        before = text
        for pattern, instead in _TIDY:
            text = pattern.sub(instead, text)
    text = _ARTICLE.sub(_with_sound, text)
    text = _PRONOUN.sub(lambda match: match[0].lower(), text.strip())
    return text[:1].upper() + text[1:]
