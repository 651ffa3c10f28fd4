"""TREC qrels of whole moments: `query_id 0 moment_id level`, for document retrieval tools.

They have no times, so they can be validated but not scored.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from momentrank.formats.lines.fields import floats, ids
from momentrank.formats.lines.rows import first_fields, read_lines
from momentrank.formats.lines.writer import fields
from momentrank.formats.source import Source
from momentrank.segments import MOST_LEVEL

LAYOUT = "query_id 0 moment_id level"
ITERATIONS = ("0", "Q0")


class Judged(NamedTuple):
    """The lines of a file as columns."""

    query: list[str]
    moment: list[str]
    level: list[int]


def is_trec(source: Source) -> bool:
    """Tell whether the first line is one of TREC qrels."""
    first = first_fields(source.text)
    return len(first) == len(LAYOUT.split()) and first[1] in ITERATIONS


def read_qrels(source: Source) -> Judged:
    """Read lines `query_id 0 moment_id level`.

    Raises:
        FormatError: a line is malformed, or a moment appears twice in its query.
    """
    lines = read_lines(source)
    levels = floats(lines, LAYOUT, "level")
    wrong = (levels < 0) | (levels > MOST_LEVEL) | (levels % 1 != 0)
    if wrong.any():
        reason = f"the level must be 0, 1, 2, ... {MOST_LEVEL}"
        raise lines.place(int(np.argmax(wrong))).error(reason)
    query, moment = ids(lines, LAYOUT, "query_id"), ids(lines, LAYOUT, "moment_id")
    pairs = list(zip(query, moment, strict=True))
    if len(set(pairs)) < len(pairs):
        twice = Counter(pairs).most_common(1)[0][0]
        row = len(pairs) - 1 - pairs[::-1].index(twice)
        raise lines.place(row).error(f"the moment {twice[1]!r} appears twice in its query")
    return Judged(query, moment, levels.astype(int).tolist())


def qrels_text(queries: Sequence[str], moments: Sequence[str], levels: Sequence[int]) -> str:
    """Return judged moments as lines.

    Raises:
        FormatError: an id can't be written as a field.
    """
    query, moment = fields(queries), fields(moments)
    rows = zip(queries, moments, levels, strict=True)
    return "".join(f"{query[one]} 0 {moment[other]} {level}\n" for one, other, level in rows)
