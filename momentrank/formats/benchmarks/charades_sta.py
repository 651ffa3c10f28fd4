"""Charades-STA (Gao et al., ICCV 2017): lines `VIDEO START END##sentence`.

The lines have no ids: the k-th one of a video is the query `VIDEO#k`, from 0. Durations are in
Charades' own CSV file.
"""

import re
from collections import Counter
from typing import NamedTuple

import numpy as np

from momentrank.formats.benchmarks.base import moment_id
from momentrank.formats.lines import NUMBER, Lines, floats
from momentrank.formats.source import Place, Source
from momentrank.formats.table import Table

NAME = "charades-sta"
SHAPE = "lines VIDEO START END##sentence"
CONVENTION = "charades"
MARK = "##"
LAYOUT = "video_id start end"
DURATIONS = ("id", "length")
"""The columns of Charades' CSV file: a video, and its duration in seconds."""
_FIRST = re.compile(
    rf"\s*[^\s{{\[]\S{{0,200}}[ \t]+(?:{NUMBER.pattern})[ \t]+(?:{NUMBER.pattern})[ \t]*{MARK}",
    re.ASCII,
)


class Line(NamedTuple):
    """A moment as the file has it, unchecked."""

    video: str
    start: str
    end: str
    sentence: str


def split_line(text: str) -> Line | None:
    """Return the parts of a line; None if it is not `VIDEO START END##sentence`."""
    head, mark, sentence = text.partition(MARK)
    fields = head.split()
    if not mark or len(fields) != len(LAYOUT.split()):
        return None
    video, start, end = fields
    return Line(video, start, end, sentence)


def is_annotations(text: str) -> bool:
    """Tell whether the first line with content is one of Charades-STA."""
    return _FIRST.match(text) is not None


def read_annotations(source: Source) -> Table:
    """Read one moment of level 1 per line."""
    numbered = [
        (number, line)
        for number, line in enumerate(source.text.split("\n"), start=1)
        if line and not line.isspace()
    ]
    lines = []
    for number, text in numbered:
        line = split_line(text)
        if line is None:
            raise Place(source.path, number).error(f"must be {SHAPE.removeprefix('lines ')}")
        lines.append(line)

    def place(row: int) -> Place:
        return Place(source.path, numbered[row][0])

    fields = Lines([list(line[:3]) for line in lines], place)
    seen: Counter[str] = Counter()
    queries = [moment_id(line.video, seen) for line in lines]
    start, end = floats(fields, LAYOUT, "start"), floats(fields, LAYOUT, "end")

    def texts() -> dict[str, str]:
        return {query: line.sentence.strip() for query, line in zip(queries, lines, strict=True)}

    videos = [line.video for line in lines]
    return Table(queries, videos, start, end, np.ones(len(lines)), place, queries, texts=texts)
