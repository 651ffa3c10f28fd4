"""Put replacements into a text, and tidy spaces, articles and sentence case beside them.

What no replacement touches stays letter by letter, slips included: it is no name.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from pipeline.captions.rules.wording import article


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
_ARTICLE_LENGTH = 2
_ARTICLE = re.compile(
    r"\b([Aa])(?:n (?=[bcdfgjklmnpqrstvwyz][a-z]*[aeiou][a-z]+\b)| (?!an\b)(?=[aeio][a-z]))([a-z]+)"
)


class Edited(NamedTuple):
    """A text, and of each of its characters a `1` if an edit wrote it or stands beside it."""

    text: str = ""
    touched: str = ""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with the edits made, capitalised and tidied; of two in one place the first.

    A text without edits is returned as it is.
    """
    done, at = Edited(), 0
    for edit in sorted(edits):
        if edit.end > at:
            done = _kept(done, text[at : max(edit.start, at)], beside=at > 0)
            done = _replaced(done, edit.text, text[edit.end :])
            at = edit.end
    return tidy(_kept(done, text[at:], beside=True)) if at else text


def _kept(done: Edited, text: str, *, beside: bool) -> Edited:
    """Add text of the original; its first letter is touched, if it stands `beside` an edit."""
    if done.text and _SENTENCE_START.search(done.text) and beside:
        text = text[:1].upper() + text[1:]  # a name went from the start of a sentence
    touched = str(int(beside)).ljust(len(text), "0")[: len(text)]
    return Edited(done.text + text, done.touched + touched)


def _replaced(done: Edited, phrase: str, after: str) -> Edited:
    """Add a phrase in place of a name, or, if it is empty, the article that fits what follows."""
    written = _fitted(done.text, phrase, after)
    text = done.text if phrase else _with_fitting_article(done.text, after)
    same = len(text) if text == done.text else max(0, len(text) - _ARTICLE_LENGTH)
    touched = done.touched[: max(0, same - 1)]
    touched += "1" * (len(text) - len(touched))
    return Edited(text + written, touched + "1" * len(written))


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


def tidy(edited: Edited) -> str:
    """Return the text with single spaces and spaced punctuation, where edits touched it."""
    before = None
    while edited != before:  # what one rule leaves, an earlier one may tidy
        before = edited
        for pattern, instead in _TIDY:
            edited = _substituted(pattern, instead, edited)
    text, touched = _substituted(_ARTICLE, _with_sound, edited)
    if touched.startswith("1"):
        text = text.lstrip()
        text = text[:1].upper() + text[1:]
    return text.rstrip() if touched.endswith("1") else text


def _substituted(
    pattern: re.Pattern[str], instead: str | Callable[[re.Match[str]], str], edited: Edited
) -> Edited:
    """Return the text with the matches replaced that an edit touches."""
    text, touched, at = "", "", 0
    for match in pattern.finditer(edited.text):
        start, end = match.span()
        if "1" in edited.touched[start:end]:
            new = match.expand(instead) if isinstance(instead, str) else instead(match)
            text += edited.text[at:start] + new
            touched += edited.touched[at:start] + "1" * len(new)
            at = end
    return Edited(text + edited.text[at:], touched + edited.touched[at:])
