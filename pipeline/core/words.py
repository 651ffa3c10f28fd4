"""The words of texts: how many, and how many different ones, wherever they are counted."""

import re
from collections.abc import Iterable

import pandas as pd

WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; a possessive or a hyphen joins, not parts."""
    return WORD.findall(text.lower())


def vocabulary(texts: Iterable[str]) -> set[str]:
    """Return the different words of texts."""
    return {word for text in texts for word in words(text)}


def lengths(texts: pd.Series) -> pd.Series:
    """Return how many words each text has."""
    return texts.map(lambda text: len(words(text))).astype("int64")
