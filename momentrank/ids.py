"""Ids in formats that are separated by spaces.

A video's name may hold any character. In qrels and runs it is percent-encoded, so that
one id is one field, whatever it holds.
"""

from urllib.parse import quote, unquote

_KEPT = "!\"#$&'()*+,/:;<=>?@[]\\^`{|}~"


def encode_id(text: str) -> str:
    """Return `text` as one field: white space, control, non-ASCII characters and % encoded."""
    return quote(text, safe=_KEPT)


def decode_id(field: str) -> str:
    """Return the id that `encode_id` made `field` from."""
    return unquote(field, errors="strict")
