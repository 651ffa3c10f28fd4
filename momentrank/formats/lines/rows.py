"""The lines with content of a text file, split into fields.

Blank lines and comments (`# ...`) are skipped; all lines have the same number of fields.
"""

from collections.abc import Callable, Iterable

from momentrank.formats.lines.fields import NUMBER, Lines
from momentrank.formats.lines.layouts import BY_WIDTH, WIDEST
from momentrank.formats.source import Place, Source


def is_comment(line: str) -> bool:
    """Tell a comment, `# ...`, from a line whose query is named `#1`."""
    return line.startswith("#") and (line == "#" or line[1].isspace())


LONGEST = 2**20
"""Characters of a line that are looked at to detect a format."""


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
    """Return the fields of a text file.

    Raises:
        FormatError: two lines differ in their number of fields.
    """
    lines = source.text.split("\n")
    if "#" in source.text:
        lines = ["" if is_comment(line) else line for line in lines]
    fields = [line.split() for line in lines]
    rows = list(filter(None, fields))
    place = _places(source, fields)
    if not rows:
        raise Place(source.path).error("the file contains only comments")
    if len(set(map(len, rows))) > 1:
        row = next(row for row, line in enumerate(rows) if len(line) != len(rows[0]))
        reason = f"{len(rows[row])} columns, where the first line has {len(rows[0])}"
        raise place(row).error(reason)
    return Lines(rows, place)


def _places(source: Source, fields: list[list[str]]) -> Callable[[int], Place]:
    def place(row: int) -> Place:
        numbers = [number for number, line in enumerate(fields, start=1) if line]
        return Place(source.path, numbers[row])

    return place
