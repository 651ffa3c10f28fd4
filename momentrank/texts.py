"""Texts that come from anywhere: what can be written as UTF-8, and JSON that hides nothing."""

from collections import Counter
from typing import Any


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
        ValueError: a key stands twice, which would hide a value.
    """
    fields = dict(pairs)
    if len(fields) != len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return fields
