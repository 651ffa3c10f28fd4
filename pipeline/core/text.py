"""Text: what a caption must be, and the words that are counted."""

import re
from collections.abc import Iterable

import pandas as pd

WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
# Controls, line and paragraph separators, and halves of a character.
_NOT_IN_A_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def is_line(text: str) -> bool:
    """Tell whether a text is one line: not blank, and without line ends or controls."""
    return bool(text.strip()) and not _NOT_IN_A_LINE.search(text)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; `man's` and `two-fold` are one word each."""
    return WORD.findall(text.lower())


def vocabulary(texts: Iterable[str]) -> set[str]:
    """Return the distinct words of texts."""
    return {word for text in texts for word in words(text)}


def count_words(texts: pd.Series) -> pd.Series:
    """Return the number of words of each text."""
    return texts.map(lambda text: len(words(text))).astype("int64")
