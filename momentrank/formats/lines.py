"""The lines with content of a text file, split into fields; and their columns.

Blank lines and comments (`# ...`) are skipped; all lines have the same number of fields. A column
is converted as a whole; only on failure is the wrong line looked up.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from momentrank.formats.source import Location, Source
from momentrank.ids import decode_id
from momentrank.segments import MOST_LEVEL, Floats, Ints

QRELS = "query_id Q0 video_id start end level"
RUN = "query_id Q0 video_id start end rank score"
TAGGED = f"{RUN} tag"
JUMP_IN = "query_id Q0 video_id start end jump_in rank score"
RUNS = {7: RUN, 8: TAGGED, 9: f"{JUMP_IN} tag"}
_IDS = 3
"""The columns before the first that may be a number."""
BY_WIDTH = {6: QRELS, **RUNS}
WIDEST = max(BY_WIDTH)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MINUTES = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?", re.ASCII)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_MINUTE = 60


class Lines(NamedTuple):
    """The columns of the lines with content, equally long; `location` by row.

    Of the lines, `rows` are meant; all without them.
    """

    columns: Sequence[Sequence[str]]
    location: Callable[[int], Location]
    rows: Ints | None = None

    @property
    def width(self) -> int:
        """The number of fields per line."""
        return len(self.columns)

    def select(self, rows: Ints) -> "Lines":
        """Return some of all lines."""
        return Lines(self.columns, lambda row: self.location(int(rows[row])), rows)


def column(lines: Lines, layout: str, name: str) -> Sequence[str]:
    """Return the fields of a column of the layout."""
    fields = lines.columns[layout.split().index(name)]
    return fields if lines.rows is None else [fields[row] for row in lines.rows.tolist()]


def floats(lines: Lines, layout: str, name: str) -> Floats:
    """Return a column of finite numbers in decimal notation."""
    at = layout.split().index(name)
    if isinstance(lines.columns, _Columns) and (table := lines.columns.numbers) and at in table:
        return table[at] if lines.rows is None else table[at][lines.rows]
    fields = column(lines, layout, name)
    try:
        values = np.fromiter(map(float, fields), np.float64, len(fields))
        joined = "".join(fields)
        if joined.isascii() and "_" not in joined and np.isfinite(values).all():
            return values
    except ValueError:
        pass
    row = next(row for row, field in enumerate(fields) if not _is_number(field))
    raise lines.location(row).error(f"the {name} must be a number, not {fields[row]!r}")


def _is_number(field: str) -> bool:
    return NUMBER.fullmatch(field) is not None and bool(np.isfinite(float(field)))


def minutes(lines: Lines, layout: str, name: str) -> Floats:
    """Return a column of minutes.seconds as seconds: 3.05 is 3 minutes and 5 seconds."""
    fields = column(lines, layout, name)
    seconds = {field: _seconds(field) for field in set(fields)}
    if None in seconds.values():
        row = next(row for row, field in enumerate(fields) if seconds[field] is None)
        reason = f"the {name} must be minutes.seconds (3.05 is 3 min 5 s), not {fields[row]!r}"
        raise lines.location(row).error(reason)
    return np.array([seconds[field] for field in fields], dtype=np.float64)


def _seconds(field: str) -> float | None:
    match = _MINUTES.fullmatch(field)
    if match is None or int(match[2] or 0) >= _MINUTE:
        return None
    return float(int(match[1]) * _MINUTE + int(match[2] or 0))


def ids(lines: Lines, layout: str, name: str) -> Sequence[str]:
    """Return a column of ids, percent-decoded."""
    fields = column(lines, layout, name)
    if "%" not in "".join(fields):
        return fields
    encoded = {field for field in set(fields) if "%" in field}
    decoded = {field: _decode(field) for field in encoded}
    if None in decoded.values():
        row = next(row for row, field in enumerate(fields) if decoded.get(field, "") is None)
        reason = f"the {name} {fields[row]!r} is not percent-encoded UTF-8 (a % itself is %25)"
        raise lines.location(row).error(reason)
    return [decoded.get(field) or field for field in fields]


def _decode(field: str) -> str | None:
    if _BAD_ESCAPE.search(field):
        return None
    try:
        return decode_id(field)
    except UnicodeDecodeError:
        return None


def is_comment(line: str) -> bool:
    """Tell a comment, `# ...`, from a line whose query is named `#1`."""
    return line.startswith("#") and (line == "#" or line[1].isspace())


LONGEST = 2**20
"""Characters of a line used to detect a format."""


def first_fields(text: str) -> list[str]:
    """Return the fields of the first line with content, if any.

    At most one more than a line can have, from its first `LONGEST` characters: a line of JSON may
    be the whole file.
    """
    lines = (line.split(None, WIDEST) for line in _split_lines(text) if not is_comment(line))
    return next(filter(None, lines), [])


def _split_lines(text: str) -> Iterable[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start : min(end, start + LONGEST)]
        start = end + 1


def is_segments(text: str) -> bool:
    """Tell whether the first line is a segment."""
    fields = first_fields(text)
    if len(fields) not in BY_WIDTH:
        return False
    # An id may begin like JSON, but in JSON no space separates two numbers.
    return fields[0][0] not in "[{" or all(map(NUMBER.fullmatch, fields[3:5]))


def read_lines(source: Source) -> Lines:
    """Return the fields of a text file."""
    if columns := _split_evenly(source.text):
        return Lines(columns, lambda row: Location(source.path, row + 1))
    rows = _split_rows(source)
    numbers = [number for number, _ in rows]
    columns_of_rows = list(zip(*(fields for _, fields in rows), strict=True))
    return Lines(columns_of_rows, lambda row: Location(source.path, numbers[row]))


class _Columns(Sequence[list[str]]):
    """The columns of a text, each cut out of it when it is asked for.

    `starts` and `ends` of the fields have the shape (lines, columns).
    """

    def __init__(self, text: str, starts: Ints, ends: Ints) -> None:
        self._text, self._starts, self._ends = text, starts, ends
        self._read: dict[int, list[str]] = {}

    def __len__(self) -> int:
        return self._starts.shape[1]

    @cached_property
    def numbers(self) -> dict[int, Floats]:
        """The columns of which the first line has a number, if all lines have finite ones there.

        Read in one go: a third of the time that converting each field takes.
        """
        first = self._text.split(None, len(self))
        columns = [at for at in range(_IDS, len(self)) if _is_number(first[at])]
        if not columns:
            return {}
        try:
            table = np.loadtxt(self._text.split("\n"), usecols=columns, comments=None, ndmin=2)
        except ValueError:  # a field that is no number: the caller finds it
            return {}
        is_whole = len(table) == len(self._starts) and np.isfinite(table).all()
        return dict(zip(columns, table.T.copy(), strict=True)) if is_whole else {}

    def __getitem__(self, at: Any) -> Any:
        if at not in self._read:
            spans = zip(self._starts[:, at].tolist(), self._ends[:, at].tolist(), strict=True)
            self._read[at] = [self._text[start:end] for start, end in spans]
        return self._read[at]


_SPACES = np.array([chr(code).isspace() for code in range(128)])


def _split_evenly(text: str) -> _Columns | None:
    """Return the columns if no line is blank, a comment or of another width; else None.

    Fields that nobody reads are not made: most of the time and memory of a large run.
    """
    if "#" in text or not text.isascii():
        return None
    codes = np.frombuffer(text.removesuffix("\n").encode() + b"\n", np.uint8)
    edges = np.flatnonzero(np.diff(~_SPACES[codes], prepend=False))
    starts, ends = edges[::2], edges[1::2]
    widths = np.diff(np.searchsorted(starts, np.flatnonzero(codes == ord("\n"))), prepend=0)
    width = int(widths[0])
    if width == 0 or (widths != width).any():
        return None
    return _Columns(text, starts.reshape(-1, width), ends.reshape(-1, width))


def _split_rows(source: Source) -> list[tuple[int, list[str]]]:
    """Return the number, from 1, and the fields of each line with content."""
    lines = enumerate(source.text.split("\n"), start=1)
    split = ((number, line.split()) for number, line in lines if not is_comment(line))
    rows = [(number, fields) for number, fields in split if fields]
    if not rows:
        raise Location(source.path).error("the file contains only comments")
    width = len(rows[0][1])
    for number, fields in rows:
        if len(fields) != width:
            reason = f"{len(fields)} columns, but the first line has {width}"
            raise Location(source.path, number).error(reason)
    return rows


TREC = "query_id 0 moment_id level"
ITERATIONS = ("0", "Q0")


class Judged(NamedTuple):
    """The lines of a file as columns."""

    query: Sequence[str]
    moment: Sequence[str]
    level: list[int]


def is_trec(source: Source) -> bool:
    """Tell whether the first line is in TREC qrels format."""
    first = first_fields(source.text)
    return len(first) == len(TREC.split()) and first[1] in ITERATIONS


def read_trec(source: Source) -> Judged:
    """Read lines `query_id 0 moment_id level`."""
    lines = read_lines(source)
    levels = floats(lines, TREC, "level")
    wrong = (levels < 0) | (levels > MOST_LEVEL) | (levels % 1 != 0)
    if wrong.any():
        reason = f"the level must be 0, 1, 2, ... {MOST_LEVEL}"
        raise lines.location(int(np.argmax(wrong))).error(reason)
    query, moment = ids(lines, TREC, "query_id"), ids(lines, TREC, "moment_id")
    pairs = list(zip(query, moment, strict=True))
    if len(set(pairs)) < len(pairs):
        twice = Counter(pairs).most_common(1)[0][0]
        row = len(pairs) - 1 - pairs[::-1].index(twice)
        raise lines.location(row).error(f"the moment {twice[1]!r} appears twice in its query")
    return Judged(query, moment, levels.astype(int).tolist())
