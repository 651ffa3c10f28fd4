"""Text: which characters a text may have, what a caption must be, and the words that are counted.

Characters that nobody sees (direction marks, zero-width spaces, tags) make two texts differ that
look the same, or look other than they are. They are removed on the way in, except the joiners that
Arabic, Persian and Indic scripts write with. Controls (ESC, NUL), private-use characters, and the
one that replaces what could not be decoded say that a text is damaged: it is refused.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
# Controls, line and paragraph separators, and halves of a character.
_BREAKS = "\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
# Private use, the replacement character, and what is no character.
_LOST = "\ue000-\uf8ff\ufdd0-\ufdef\ufffc-\uffff\U000f0000-\U0010ffff"
# Unicode's format and default-ignorable characters, and the blank of Braille. Not among them are
# the marks that Arabic and Syriac draw around numbers.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_JOINERS = "\u17b4\u17b5\u180b-\u180f\u200c\u200d"
_JOINED = "\u0600-\u1cff\ua840-\uabff"
"""The letters between which a joiner is part of the spelling."""
_STRAY_JOINER = f"(?<![{_JOINED}])[{_JOINERS}]|[{_JOINERS}](?![{_JOINED}])"
_NOT_IN_A_LINE = re.compile(f"[{_BREAKS}]")
_DAMAGE = re.compile(f"[{_BREAKS}{_LOST}]")
_INVISIBLE = re.compile(f"[{_UNSEEN}]|{_STRAY_JOINER}")
_UNREADABLE = re.compile(f"[{_BREAKS}{_LOST}{_UNSEEN}]|{_STRAY_JOINER}")


def is_line(text: str) -> bool:
    """Tell whether a text is one line: not blank, and without line ends or controls."""
    return bool(text.strip()) and not _NOT_IN_A_LINE.search(text)


def is_damaged(text: str) -> bool:
    """Tell whether a text has a control, a private-use or a replacement character."""
    return _DAMAGE.search(text) is not None


def strip_invisible(text: str) -> str:
    """Return a text without the characters that nobody sees."""
    return _INVISIBLE.sub("", text)


def list_unreadable(text: str) -> list[str]:
    """Return the distinct characters of a text that it may not have, in order: `U+202E`."""
    return list(dict.fromkeys(f"U+{ord(match):04X}" for match in _UNREADABLE.findall(text)))


def strip_unreadable(text: str) -> str:
    """Return a text without the characters that it may not have."""
    return _UNREADABLE.sub("", text)


def reveal(text: str) -> str:
    r"""Return lines for a terminal: what would steer it, or not be seen, is written `\u202e`."""
    return _UNREADABLE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return character if character in "\n\t" else character.encode("unicode_escape").decode()


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; `man's` and `two-fold` are one word each."""
    return WORD.findall(text.lower())


def vocabulary(texts: Iterable[str]) -> set[str]:
    """Return the distinct words of texts."""
    return {word for text in texts for word in words(text)}


def count_words(texts: "pd.Series") -> "pd.Series":
    """Return the number of words of each text."""
    return texts.map(lambda text: len(words(text))).astype("int64")
