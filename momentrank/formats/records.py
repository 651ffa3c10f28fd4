"""JSON, as one document or one value per line: columns of values that are checked together.

Only a failed check looks up the wrong value: reading needs no Python call per value.
"""

import json
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from momentrank.formats.source import FormatError, Location, Source, abbreviate
from momentrank.ids import id_text, is_utf8, without_repeats
from momentrank.segments import Floats

_NAMES = {list: "a list", dict: "an object", str: "a string", int: "an integer", float: "a number"}


class Column(NamedTuple):
    """Values and a function for the location of each, used if one is wrong."""

    values: list[Any]
    location: Callable[[int], Location]

    def require(self, *kinds: type) -> "Column":
        """Return this column if each value has one of these types (if any are given).

        A boolean is not an integer here.
        """
        if kinds and not set(map(type, self.values)) <= set(kinds):
            wanted = " or ".join(_NAMES[kind] for kind in kinds)
            self.refuse((type(value) not in kinds for value in self.values), f"must be {wanted}")
        return self

    def refuse(self, wrong: Iterable[bool], reason: str) -> None:
        """Raise for the first wrong value."""
        for row, (value, is_wrong) in enumerate(zip(self.values, wrong, strict=True)):
            if is_wrong:
                raise self.location(row).error(f"{reason}, not {abbreviate(value)}")

    def key(self, name: str, *kinds: type) -> "Column":
        """Return a field of every object."""
        try:
            values = [record[name] for record in self.values]
        except TypeError:
            self.require(dict)
            raise
        except KeyError as exc:
            row = next(row for row, record in enumerate(self.values) if name not in record)
            keys = abbreviate(list(self.values[row]))
            raise self.location(row).error(f"the key {name!r} is missing (found: {keys})") from exc
        return Column(values, lambda row: self.location(row).key(name)).require(*kinds)

    def split_as(self, names: str) -> list["Column"]:
        """Return a column for each of `names`: the n-th values of all lists."""
        self.require(list)
        width = len(names.split())
        if not set(map(len, self.values)) <= {width}:
            wrong = (len(value) != width for value in self.values)
            self.refuse(wrong, f"must be [{names.replace(' ', ', ')}]")
        return self.split(width)

    def split(self, width: int) -> list["Column"]:
        """Return a column for each position in lists known to have this length."""
        flat = list(chain.from_iterable(self.values))
        return [self._item(flat[index::width], index) for index in range(width)]

    def _item(self, values: list[Any], index: int) -> "Column":
        return Column(values, lambda row: self.location(row).item(index))

    def select(self, rows: Sequence[int]) -> "Column":
        """Return the values of some rows."""
        return Column([self.values[row] for row in rows], lambda row: self.location(rows[row]))

    def flat(self, first: int = 0) -> "Column":
        """Return the items of all lists as one column; the lists begin with item `first`."""
        lists = self.require(list).values

        def location(row: int) -> Location:
            before = np.cumsum([0, *map(len, lists)])
            record = int(np.searchsorted(before, row, side="right")) - 1
            return self.location(record).item(first + row - int(before[record]))

        return Column(list(chain.from_iterable(lists)), location)

    def numbers(self) -> Floats:
        """Return the values as numbers; strings and booleans are refused."""
        if not set(map(type, self.values)) <= {int, float}:
            wrong = (type(value) not in {int, float} for value in self.values)
            self.refuse(wrong, "must be a number")
        try:
            return np.array(array("d", self.values))  # numpy takes twice as long over a list
        except OverflowError as exc:
            row = next(row for row, value in enumerate(self.values) if _overflows(value))
            raise self.location(row).error("must be a number below 1e308") from exc

    def ids(self) -> list[str]:
        """Return the values (integers, whole floats or strings) as ids."""
        types = set(map(type, self.values))
        if types == {str}:
            return self.names()
        if types == {int}:
            return list(map(str, self.values))
        read = list(map(id_text, self.values))
        self.refuse((text is None for text in read), "must be an integer or a string")
        return self._replace(values=[text or "" for text in read]).names()

    def names(self) -> list[str]:
        """Return values known to be strings as ids."""
        texts: list[str] = self.values
        distinct = set(texts)
        if "" in distinct:
            self.refuse((not text for text in texts), "an id must be a non-empty string")
        if not "".join(distinct).isascii():
            self.refuse((not is_utf8(text) for text in texts), "an id must be UTF-8")
        return texts

    def distinct_ids(self) -> list[str]:
        """Return the values as ids, which must be distinct."""
        texts = self.ids()
        if len(set(texts)) != len(texts):
            seen: dict[str, int] = {}
            for row, text in enumerate(texts):
                if seen.setdefault(text, row) != row:
                    first = self.location(seen[text])
                    where = f"line {first.line}" if first.line else first.trail
                    raise self.location(row).error(f"{text!r} appears twice (first: {where})")
        return texts


def _overflows(value: float) -> bool:
    try:
        float(value)
    except OverflowError:
        return True
    return False


_IDS = ("query_id", "qid", "desc_id")
_TOKEN = re.compile(r'(?P<key>"(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[][{}]')
_EXTRA = "Extra data"  # Python's message for a second value


def read_records(source: Source) -> Column:
    """Return the records of a file: an array's values, or each line's, or the one object."""
    try:
        value = _parse(source.text)
    except json.JSONDecodeError as exc:
        if exc.msg == _EXTRA and _is_whole(source.text[: exc.pos]):
            return _read_lines(source)
        raise _syntax_error(source, exc) from exc
    except (ValueError, RecursionError) as exc:
        if source.text.strip().partition("\n")[0].rstrip().endswith("}"):
            return _read_lines(source)  # names the line
        raise Location(source.path, _find_repeat(source.text)).error(_reason(exc)) from exc
    if isinstance(value, list):
        return Column(value, Location(source.path).item)
    is_record = isinstance(value, dict) and any(name in value for name in _IDS)
    is_line = is_record and "\n" not in source.text.rstrip()  # not a document
    return Column([value], lambda _: Location(source.path, 1 if is_line else None))


def _parse(text: str) -> object:
    """Parse JSON; refuse repeated keys unless it is an array.

    Keys may be ids, so a repeated one would hide a query or a video.
    """
    if text.lstrip()[:1] == "[":
        return json.loads(text)
    return json.loads(text, object_pairs_hook=without_repeats)


def _find_repeat(text: str) -> int | None:
    """Return the line of the first repeated key of an object, if any."""
    objects: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        if token[0] in "{[":
            objects.append(set())
        elif token[0] in "]}":
            objects.pop()
        elif token["key"] in objects[-1]:
            return text.count("\n", 0, token.start()) + 1
        elif token["key"]:
            objects[-1].add(token["key"])
    return None


def _reason(exc: Exception) -> str:
    if isinstance(exc, RecursionError):
        return "nested too deep"
    return "a number has too many digits" if "digits" in str(exc) else str(exc)


def _is_whole(text: str) -> bool:
    """Tell whether the first of several values is a line of its own."""
    return text.endswith("\n") and "\n" not in text.strip()


def _read_lines(source: Source) -> Column:
    values, numbers = [], []
    for number, line in enumerate(source.text.split("\n"), start=1):
        if line and not line.isspace():
            values.append(_parse_line(source, number, line))
            numbers.append(number)
    return Column(values, lambda row: Location(source.path, numbers[row]))


def _parse_line(source: Source, number: int, line: str) -> object:
    try:
        return _parse(line)
    except json.JSONDecodeError as exc:
        raise _syntax_error(source, exc, number) from exc
    except (ValueError, RecursionError) as exc:
        raise Location(source.path, number).error(_reason(exc)) from exc


def _syntax_error(source: Source, exc: json.JSONDecodeError, line: int = 0) -> FormatError:
    where = f"line {line or exc.lineno}, column {exc.colno}"
    return FormatError(f"{source.path}, {where}: not JSON: {exc.msg}")
