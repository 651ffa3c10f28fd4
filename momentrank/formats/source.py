"""Reading a file as text, and locations in it for error messages.

Gzip is detected from the first bytes, not from the file name.
"""

import csv
import gc
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from momentrank.errors import MomentRankError

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_SHOWN = 60  # characters of an invalid value
_CHUNK = 2**20
SMALL = 64 * 2**20
"""Bytes to which any gzip file may expand."""
MOST_TIMES = 200
"""The largest expansion ratio of larger ones: real runs reach 10, bombs about 1000."""


class FormatError(MomentRankError):
    """A malformed file, or content that a format can't express."""


class Location(NamedTuple):
    """A location in a file: a line, and a path from key to key inside a JSON value."""

    path: Path
    line: int | None = None
    trail: str = ""

    def key(self, name: str) -> "Location":
        """Return the location of a field of the object at this location."""
        step = f".{name}" if re.fullmatch(r"[^\W\d]\w*", name) else f"[{json.dumps(name)}]"
        return self._replace(trail=(self.trail + step).removeprefix("."))

    def item(self, index: int) -> "Location":
        """Return the location of an item, from 0, of the list at this location."""
        return self._replace(trail=f"{self.trail}[{index}]")

    @property
    def inside(self) -> str:
        """Where it is inside the file, in words."""
        return ", ".join(filter(None, [f"line {self.line}" if self.line else "", self.trail]))

    def error(self, reason: str) -> FormatError:
        """Return an error for this location."""
        line = "" if self.line is None else f", line {self.line}"
        trail = f" {self.trail}:" if self.trail else ""
        return FormatError(f"{self.path}{line}:{trail} {reason}")


def abbreviate(value: object) -> str:
    """Return a value as one short line for a message."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def count(number: int, noun: str) -> str:
    """Return a number with its noun: "1 query", "2 queries"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


class Source(NamedTuple):
    """A file's path and its text, without a byte order mark."""

    path: Path
    text: str


def read_source(path: Path, empty: Sequence[str] = ()) -> Source:
    """Read UTF-8 text, compressed or not; files whose names end in `empty` may be empty.

    Raises:
        FormatError: it is missing, empty, damaged or not UTF-8 (with the line).
    """
    raw = _uncompress(path).removeprefix(_BOM)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as exc:
        line = raw.count(b"\n", 0, exc.start) + 1
        byte = f"0x{raw[exc.start]:02x}"
        raise Location(path, line).error(f"not UTF-8 (byte {byte}): {exc.reason}") from exc
    if not text.strip() and not path.name.removesuffix(".gz").endswith(tuple(empty)):
        raise FormatError(f"{path}: the file is empty")
    return Source(path, text)


def read_table(path: Path, columns: Sequence[str]) -> Iterator[tuple[Location, dict[str, str]]]:
    """Yield the rows of a CSV file by its columns, among which `columns` must be.

    Raises:
        FormatError: it is malformed, with its line.
    """
    reader = csv.DictReader(io.StringIO(read_source(path).text), strict=True)
    try:
        names = list(reader.fieldnames or [])
        if wrong := [name for name in columns if names.count(name) != 1]:
            number = names.count(wrong[0]) or "no"
            raise FormatError(
                f"{path}: {number} columns {wrong[0]!r}; it needs {','.join(columns)}"
            )
        for row in reader:
            location = Location(path, reader.line_num)
            if None in row or None in row.values():
                raise location.error(f"must have {len(names)} cells")
            yield location, row
    except csv.Error as exc:
        raise Location(path, reader.line_num).error(str(exc)) from exc


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _uncompress(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return _gunzip(path, raw) if raw.startswith(_GZIP) else raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
        raise FormatError(f"{path}: the gzip file is damaged ({exc})") from exc
    except OSError as exc:
        raise FormatError(f"{path}: {(exc.strerror or str(exc)).lower()}") from exc


def _gunzip(path: Path, raw: bytes) -> bytes:
    most = max(SMALL, MOST_TIMES * len(raw))
    content = bytearray()
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
        while chunk := stream.read(_CHUNK):
            content += chunk
            if len(content) > most:
                raise FormatError(
                    f"{path}: the gzip file expands to more than {MOST_TIMES} times its size;"
                    " if that is intended, gunzip it first"
                )
    return bytes(content)


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause the garbage collector, which would double the time to read a million lists."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
