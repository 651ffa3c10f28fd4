"""Results without their queries, read strictly or leniently."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from momentrank.formats.source import FormatError, Place, count
from momentrank.formats.table import Table
from momentrank.segments import Bools, Floats


class Windows(NamedTuple):
    """Results without their queries: columns of shape (n,).

    `unscored` are those without a score, `malformed` those that can't be read: they have no video.
    """

    video: list[str]
    start: Floats
    end: Floats
    score: Floats
    unscored: Bools
    malformed: Bools

    def check(self, place: Callable[[int], Place]) -> "Windows":
        """Return the windows.

        Raises:
            FormatError: a time or a score is malformed.
        """
        Table([""] * len(self.video), *self[:4], place).run()
        return self

    def remarks(self, error: FormatError | None, place: Callable[[int], Place]) -> list[str]:
        """Return what the user should be told of them; `error` is the first that is malformed."""
        remarks = []
        if error is not None:
            number = int(self.malformed.sum())
            remarks.append(f"{error} (malformed results, counted as not relevant: {number})")
        unscored = self.unscored & ~self.malformed
        if number := int(unscored.sum()):
            reason = f"no score: the order of the list counts ({count(number, 'such result')})"
            remarks.append(str(place(int(np.argmax(unscored))).error(reason)))
        return remarks


_NONE, _YES = np.zeros(1), np.ones(1, dtype=bool)
MALFORMED = Windows([""], _NONE, _NONE, _NONE, _YES, _YES)
"""A result that can't be read: it keeps its place and is not relevant."""


def read_windows(
    count: int, parse: Callable[[Sequence[int]], Windows], *, lenient: bool
) -> tuple[Windows, FormatError | None]:
    """Return the windows of rows 0 to `count` - 1, and the first error if `lenient`.

    Args:
        count: how many rows there are.
        parse: reads some rows, or raises for the first that is malformed.
        lenient: whether rows that are malformed become windows that meet nothing.

    Raises:
        FormatError: a row is malformed.
    """
    if not lenient:
        return parse(range(count)), None
    errors: list[FormatError] = []
    parts = list(_halve(range(count), parse, errors))
    columns = list(zip(*parts, strict=True))
    video = [name for part in columns[0] for name in part]
    return Windows(video, *map(np.concatenate, columns[1:])), next(iter(errors), None)


def _halve(
    rows: Sequence[int], parse: Callable[[Sequence[int]], Windows], errors: list[FormatError]
) -> Iterator[Windows]:
    """Yield the windows of the rows; only halves with malformed ones are looked at closer."""
    try:
        yield parse(rows)
    except FormatError as exc:
        if len(rows) == 1:
            errors.append(exc)
            yield MALFORMED
            return
        middle = len(rows) // 2
        yield from _halve(rows[:middle], parse, errors)
        yield from _halve(rows[middle:], parse, errors)


def fill_scores(query: Sequence[str], windows: Windows) -> Floats:
    """Return the scores; one that is missing is that of the result before it.

    So the order of the list stays that of the scores.
    """
    if not windows.unscored.any():
        return windows.score
    rows = list(zip(query, windows.score.tolist(), windows.unscored.tolist(), strict=True))
    last = {name: score for name, score, missing in reversed(rows) if not missing}  # the first
    scores = []
    for name, score, missing in rows:
        last[name] = last.get(name, 0.0) if missing else score
        scores.append(last[name])
    return np.array(scores)
