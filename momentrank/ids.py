"""Ids as formats write them.

A video's name may hold any character. In qrels and runs it is percent-encoded, so that
one id is one field, whatever it holds. In JSON ids may be integers.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""As Python writes an integer of at most 64 bits: read and written again it is the same text."""
_KEPT = "!\"#$&'()*+,/:;<=>?@[]\\^`{|}~"


def encode_id(text: str) -> str:
    """Return `text` as one field: white space, control, non-ASCII characters and % encoded."""
    return quote(text, safe=_KEPT)


def decode_id(field: str) -> str:
    """Return the id that `encode_id` made `field` from."""
    return unquote(field, errors="strict")


def as_integers(ids: Iterable[str]) -> list[int] | list[str]:
    """Return ids as integers where every one of them is written as one, else as they are.

    Two ids stay two: "07", "+7" and digits of other scripts are texts.
    """
    texts = list(ids)
    return list(map(int, texts)) if all(map(_INTEGER.fullmatch, texts)) else texts
