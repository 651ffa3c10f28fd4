"""Reading JSON, as one document or one value per line, into a column of records."""

import json

from momentrank.formats.column import Column
from momentrank.formats.source import FormatError, Place, Source
from momentrank.ids import without_repeats

_IDS = ("query_id", "qid", "desc_id")
_EXTRA = "Extra data"  # Python's message for a second value


def read_records(source: Source) -> Column:
    """Return the records of a file: an array's values, or each line's, or the one object.

    Raises:
        FormatError: not JSON (with line and column), or ids that are keys appear twice.
    """
    try:
        value = _parse(source.text)
    except json.JSONDecodeError as exc:
        if exc.msg == _EXTRA and _is_whole(source.text[: exc.pos]):
            return _read_lines(source)
        raise _syntax_error(source, exc) from exc
    except (ValueError, RecursionError) as exc:
        if source.text.strip().partition("\n")[0].rstrip().endswith("}"):
            return _read_lines(source)  # tells the line
        raise Place(source.path).error(_reason(exc)) from exc
    if isinstance(value, list):
        return Column(value, Place(source.path).item)
    place = Place(source.path, 1) if _is_line(source.text, value) else Place(source.path)
    return Column([value], lambda _: place)


def _parse(text: str) -> object:
    """Parse JSON; refuse repeated keys unless it is an array.

    Keys may be ids, so a repeated one would hide a query or a video.
    """
    if text.lstrip()[:1] == "[":
        return json.loads(text)
    return json.loads(text, object_pairs_hook=without_repeats)


def _reason(exc: Exception) -> str:
    if isinstance(exc, RecursionError):
        return "nested too deep"
    return "a number has too many digits" if "digits" in str(exc) else str(exc)


def _is_whole(text: str) -> bool:
    """Tell whether the first of several values is a line of its own."""
    return text.endswith("\n") and "\n" not in text.strip()


def _is_line(text: str, value: object) -> bool:
    """Tell a file of one JSON line from a document."""
    is_record = isinstance(value, dict) and any(name in value for name in _IDS)
    return is_record and "\n" not in text.rstrip()


def _read_lines(source: Source) -> Column:
    values, numbers = [], []
    for number, line in enumerate(source.text.split("\n"), start=1):
        if line and not line.isspace():
            values.append(_parse_line(source, number, line))
            numbers.append(number)
    return Column(values, lambda row: Place(source.path, numbers[row]))


def _parse_line(source: Source, number: int, line: str) -> object:
    try:
        return _parse(line)
    except json.JSONDecodeError as exc:
        raise _syntax_error(source, exc, number) from exc
    except (ValueError, RecursionError) as exc:
        raise Place(source.path, number).error(_reason(exc)) from exc


def _syntax_error(source: Source, exc: json.JSONDecodeError, line: int = 0) -> FormatError:
    where = f"line {line or exc.lineno}, column {exc.colno}"
    return FormatError(f"{source.path}, {where}: not JSON: {exc.msg}")
