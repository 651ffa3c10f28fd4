"""Ids and keys as files write them.

A video's name may hold any character. In qrels and runs it is percent-encoded, so that
one id is one field, whatever it holds. In JSON ids may be integers, and in the JSON of TVR-Ranking
a query's id must be one: its training code makes a tensor of it.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, unquote

from momentrank.errors import MomentRankError

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""As Python writes an integer of at most 64 bits: read and written again it is the same text."""
_NUMBERED = 2**52
"""Integers below are ids as they are; from here to 2**53, the last that a float holds, are numbers
of other ids."""
_KEPT = "!\"#$&'()*+,/:;<=>?@[]\\^`{|}~"


def encode_id(text: str) -> str:
    """Return `text` as one field: white space, control, non-ASCII characters and % encoded."""
    return quote(text, safe=_KEPT)


def decode_id(field: str) -> str:
    """Return the id that `encode_id` made `field` from."""
    return unquote(field, errors="strict")


KEY = "query_key"
"""Beside `query_id`, a number: the query's own id, which is the qrels'."""


class IdError(MomentRankError):
    """Two ids that JSON can't tell apart."""


def query_number(query_id: str) -> int:
    """Return the integer that stands for a query in the JSON of TVR-Ranking, 0 to 2**53 - 1.

    An id that is written as an integer below 2**52 is that integer. Any other gets a number from
    2**52 on, out of its SHA-256: it depends on the id alone, so it stays the same whatever other
    queries there are, and a float, a JSON reader and a tensor of 64 bits all hold it.
    """
    if _INTEGER.fullmatch(query_id) and 0 <= (number := int(query_id)) < _NUMBERED:
        return number
    digest = hashlib.sha256(query_id.encode("utf-8", "surrogatepass")).digest()
    return _NUMBERED + int.from_bytes(digest[:8], "big") % _NUMBERED


def query_numbers(ids: Iterable[str]) -> dict[str, int]:
    """Return the number of each query id.

    Raises:
        IdError: two ids have one number, which of a million ids happens once in 9,000 times.
    """
    numbers = {one: query_number(one) for one in ids}
    owner: dict[int, str] = {}
    for one, number in numbers.items():
        if owner.setdefault(number, one) != one:
            raise IdError(
                f"the query ids {owner[number]!r} and {one!r} have the same number, {number}:"
                " change one of the two in the corpus"
            )
    return numbers


def json_names(number: int, own: str) -> dict[str, int | str]:
    """Return what names a query in JSON: its number, and its own id where that is another."""
    return {"query_id": number} if str(number) == own else {"query_id": number, KEY: own}


def own_ids(numbers: Iterable[str], ids: Iterable[str]) -> dict[str, str]:
    """Return, of the numbers that stand for one of `ids`, that id."""
    made = {text for text in numbers if _INTEGER.fullmatch(text) and int(text) >= _NUMBERED}
    if not made:
        return {}
    pairs = ((str(query_number(one)), one) for one in ids)
    return {number: one for number, one in pairs if number in made}


def as_integers(ids: Iterable[str]) -> list[int] | list[str]:
    """Return ids as integers where every one of them is written as one, else as they are.

    Two ids stay two: "07", "+7" and digits of other scripts are texts.
    """
    texts = list(ids)
    return list(map(int, texts)) if all(map(_INTEGER.fullmatch, texts)) else texts


def is_utf8(text: str) -> bool:
    """Tell whether `text` can be written as UTF-8 (no lone surrogates)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, as `object_pairs_hook`.

    Raises:
        ValueError: a key appears twice, which would hide a value.
    """
    fields = dict(pairs)
    if len(fields) != len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} appears twice in one object")
    return fields
