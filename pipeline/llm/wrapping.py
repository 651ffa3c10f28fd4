"""The one JSON object in an answer, taken out of what models put around it.

Servers that cannot be held to a JSON schema send the object in a code fence, after a sentence of
their own, or after `<think> ... </think>`. The wrapping goes; the object is read as it is. Where
several objects differ, nobody can say which one was meant, and none is used.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from momentrank.texts import without_repeats

_THOUGHT_ENDS = "</think>"
_MOST_STARTS = 1000
"""So many opening braces are tried: prose has few, and a hostile answer must not take minutes."""

_decoder = json.JSONDecoder(object_pairs_hook=without_repeats)


def unwrap(content: str, key: str) -> object:
    """Return the JSON value that an answer is, or the one object with `key` that it contains.

    Raises:
        ValueError: there is none, or there are several that differ.
        RecursionError: it is nested too deeply.
    """
    try:
        value: object = _decoder.decode(content)
    except ValueError:
        objects = list(_objects(content))
    else:
        return value
    spoken = _end_of_thought(content, objects)
    found = [each.value for each in objects if each.start >= spoken and key in each.value]
    if not found or any(value != found[0] for value in found):
        raise ValueError(f"{len(found)} JSON objects with {key!r} in the answer")
    return found[0]


class _Object(NamedTuple):
    value: dict[str, Any]
    start: int
    end: int


def _objects(text: str) -> Iterator[_Object]:
    """Yield the JSON objects that stand in a text, the outermost ones."""
    start = text.find("{")
    for _ in range(_MOST_STARTS):
        if start < 0:
            return
        try:
            value, end = _decoder.raw_decode(text, start)
        except ValueError:
            end = start + 1
        else:
            yield _Object(value, start, end)
        start = text.find("{", end)


def _end_of_thought(text: str, objects: Sequence[_Object]) -> int:
    """Return where the last thought ends; a caption may hold the same mark."""
    end = text.rfind(_THOUGHT_ENDS)
    while inside := [each for each in objects if each.start < end < each.end]:
        end = text.rfind(_THOUGHT_ENDS, 0, inside[0].start)
    return end
