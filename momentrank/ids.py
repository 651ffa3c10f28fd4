"""Ids and keys as files write them, and as a terminal shows them.

An id may contain any character. In text files it is percent-encoded, so that one id is one field.
In JSON ids may be integers; in TVR-Ranking's JSON a query's id must be one, since its training
code puts it in a tensor.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, SupportsFloat, SupportsIndex

from momentrank.errors import MomentRankError

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
"""An integer of at most 64 bits as Python writes it: it survives reading and writing."""
_NUMBERED = 2**52
"""Integers below this are ids themselves; those from here to 2**53, the largest that a float holds,
stand for other ids."""
_WHOLE = 2**53
"""Up to this, every integer has its own float."""
_KEPT = "!\"#$&'()*+,/:;<=>?@[]\\^`{|}~"


def id_text(value: object) -> str | None:
    """Return a string or a whole number as an id; None for null and everything else.

    Whole floats are integers: one missing value turns a frame's column of integers into floats.
    """
    if isinstance(value, str):
        return value
    if type(value) is int:
        return str(value)
    if isinstance(value, bool) or not isinstance(value, SupportsFloat | SupportsIndex):
        return None
    if isinstance(value, SupportsIndex):
        return str(int(value))
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) <= _WHOLE else None


def encode_id(text: str) -> str:
    """Return `text` as one field: white space, control, non-ASCII characters and % encoded."""
    from urllib.parse import quote

    return quote(text, safe=_KEPT)


def decode_id(field: str) -> str:
    """Return the id that `encode_id` made `field` from."""
    from urllib.parse import unquote

    return unquote(field, errors="strict")


KEY = "query_key"
"""The query's own id, as in the qrels, where `query_id` is a number that stands for it."""


class IdError(MomentRankError):
    """Two ids that are the same in JSON."""


def query_number(query_id: str) -> int:
    """Return the integer that stands for a query in the JSON of TVR-Ranking, 0 to 2**53 - 1.

    An id that is an integer below 2**52 stands for itself. Any other gets a number from 2**52 on,
    derived from its SHA-256: it depends on the id alone, not on the other queries, and fits in a
    float, a JSON number and a 64-bit tensor.
    """
    if _INTEGER.fullmatch(query_id) and 0 <= (number := int(query_id)) < _NUMBERED:
        return number
    digest = hashlib.sha256(query_id.encode("utf-8", "surrogatepass")).digest()
    return _NUMBERED + int.from_bytes(digest[:8], "big") % _NUMBERED


def query_numbers(ids: Iterable[str]) -> dict[str, int]:
    """Return the number of each query id."""
    numbers = {name: query_number(name) for name in ids}
    owner: dict[int, str] = {}
    for name, number in numbers.items():
        if owner.setdefault(number, name) != name:
            raise IdError(
                f"the query ids {owner[number]!r} and {name!r} have the same number, {number}:"
                " change one of the two in the corpus"
            )
    return numbers


def json_names(number: int, query_id: str) -> dict[str, int | str]:
    """Return a query's ids in JSON: its number and, if different, its own id."""
    return {"query_id": number} if str(number) == query_id else {"query_id": number, KEY: query_id}


def own_ids(numbers: Iterable[str], ids: Iterable[str]) -> dict[str, str]:
    """Return the id for each of `numbers` that stands for one of `ids`."""
    derived = {text for text in numbers if _INTEGER.fullmatch(text) and int(text) >= _NUMBERED}
    if not derived:
        return {}
    pairs = ((str(query_number(name)), name) for name in ids)
    return {number: name for number, name in pairs if number in derived}


def as_integers(ids: Iterable[str]) -> list[int] | list[str]:
    """Return ids as integers if all of them are integers, else as they are.

    Distinct ids stay distinct: "07", "+7" and digits of other scripts are not integers here.
    """
    texts = list(ids)
    return list(map(int, texts)) if all(map(_INTEGER.fullmatch, texts)) else texts


def reveal(text: str) -> str:
    r"""Return text for a terminal: what would steer it, or not be seen, is written `\x1b`."""
    return text if text.isprintable() else "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character.isprintable() or character in "\n\t":
        return character
    return character.encode("unicode_escape").decode()


def is_utf8(text: str) -> bool:
    """Tell whether `text` can be written as UTF-8 (no lone surrogates)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, as `object_pairs_hook`."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} appears twice in one object")
    return fields


OTHER_NAMES = {
    **dict.fromkeys(("qid", "q_id", "query", "topic", "topic_id", "desc_id"), "query_id"),
    **dict.fromkeys(("vid", "video", "video_name", "docno", "docid", "doc_id"), "video_id"),
    **dict.fromkeys(("begin", "start_time", "t_start", "st"), "start"),
    **dict.fromkeys(("stop", "end_time", "t_end", "ed"), "end"),
    **dict.fromkeys(("label", "rel", "rel_level", "relevance", "grade"), "level"),
    **dict.fromkeys(("sim", "similarity", "confidence", "pred_score"), "score"),
    **dict.fromkeys(("q0", "iter", "iteration"), "Q0"),
}
"""What other tools call a column."""


def rename_hint(missing: Sequence[str], found: Iterable[object]) -> str:
    """Return which columns to rename to those that are missing, if any have a known name."""
    named = {OTHER_NAMES.get(str(name).strip().lower(), ""): name for name in found}
    pairs = [f"{named[name]!r} to {name!r}" for name in missing if name in named]
    return f"; rename {' and '.join(pairs)}" if pairs else ""
