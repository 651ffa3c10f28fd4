"""Columns of text files: numbers, minutes.seconds and ids.

A column is converted as a whole; only a failure looks for the wrong line.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from momentrank.formats.source import Place
from momentrank.ids import decode_id
from momentrank.segments import Floats

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MINUTES = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?", re.ASCII)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_MINUTE = 60


class Lines(NamedTuple):
    """The fields of the lines with content, all equal in number; `place` by row."""

    rows: list[list[str]]
    place: Callable[[int], Place]

    @property
    def width(self) -> int:
        """The number of fields per line."""
        return len(self.rows[0])


def column(lines: Lines, layout: str, name: str) -> list[str]:
    """Return the fields of a column of the layout."""
    index = layout.split().index(name)
    return [row[index] for row in lines.rows]


def floats(lines: Lines, layout: str, name: str) -> Floats:
    """Return a column of finite numbers in decimal notation."""
    fields = column(lines, layout, name)
    try:
        values = np.fromiter(map(float, fields), np.float64, len(fields))
        joined = "".join(fields)
        if joined.isascii() and "_" not in joined and np.isfinite(values).all():
            return values
    except ValueError:
        pass
    row = next(row for row, field in enumerate(fields) if not _is_number(field))
    raise lines.place(row).error(f"the {name} must be a number, not {fields[row]!r}")


def _is_number(field: str) -> bool:
    return NUMBER.fullmatch(field) is not None and bool(np.isfinite(float(field)))


def minutes(lines: Lines, layout: str, name: str) -> Floats:
    """Return a column of minutes.seconds as seconds: 3.05 is 3 minutes and 5 seconds."""
    fields = column(lines, layout, name)
    seconds = {field: _seconds(field) for field in set(fields)}
    if None in seconds.values():
        row = next(row for row, field in enumerate(fields) if seconds[field] is None)
        reason = f"the {name} must be minutes.seconds (3.05 is 3 min 5 s), not {fields[row]!r}"
        raise lines.place(row).error(reason)
    return np.array([seconds[field] for field in fields], dtype=np.float64)


def _seconds(field: str) -> float | None:
    match = _MINUTES.fullmatch(field)
    if match is None or int(match[2] or 0) >= _MINUTE:
        return None
    return float(int(match[1]) * _MINUTE + int(match[2] or 0))


def ids(lines: Lines, layout: str, name: str) -> list[str]:
    """Return a column of ids, percent-decoded."""
    fields = column(lines, layout, name)
    encoded = {field for field in set(fields) if "%" in field}
    if not encoded:
        return fields
    decoded = {field: _decode(field) for field in encoded}
    if None in decoded.values():
        row = next(row for row, field in enumerate(fields) if decoded.get(field, "") is None)
        reason = f"the {name} {fields[row]!r} is not percent-encoded UTF-8 (a % itself is %25)"
        raise lines.place(row).error(reason)
    return [decoded.get(field) or field for field in fields]


def _decode(field: str) -> str | None:
    if _BAD_ESCAPE.search(field):
        return None
    try:
        return decode_id(field)
    except UnicodeDecodeError:
        return None
