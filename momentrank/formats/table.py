"""A file's columns, converted to `Segments` with the location of each error; and a ground truth."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from momentrank.errors import MomentRankError
from momentrank.formats.source import FormatError, Location, count
from momentrank.segments import (
    REVERSED,
    Bools,
    Floats,
    Ints,
    Names,
    SegmentError,
    Segments,
    build_qrels,
    build_run,
    distinct,
    find_odd_times,
    find_repeats,
    number_names,
)

Durations = Callable[[], Mapping[str, float]]
Texts = Callable[[], Mapping[str, str]]


@dataclass(frozen=True)
class Truth:
    """Judged segments, the format that they were read from, and more, if known."""

    segments: Segments
    format: str = ""
    read_durations: Durations = dict
    read_texts: Texts = dict
    conflict: MomentRankError | None = None
    """An error for a segment that has two levels, if one does."""

    def distinct(self) -> "Truth":
        """Return each segment once; raise the conflict if there is one."""
        if self.conflict:
            raise self.conflict
        return replace(self, segments=distinct(self.segments))

    def odd_times(self, name: str) -> Iterator[str]:
        """Yield what is odd about the times; `name` is that of the qrels, for messages."""
        for message, _ in find_odd_times(self.segments, "judged moments", self.durations):
            yield f"{name}: {message}"

    @cached_property
    def names(self) -> Names:
        """The numbers of queries and videos, which all runs share."""
        return number_names(self.segments)

    @cached_property
    def durations(self) -> Mapping[str, float]:
        """The duration of each video in seconds."""
        return self.read_durations()

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The text of each query."""
        return self.read_texts()

    @cached_property
    def videos(self) -> Mapping[str, str]:
        """The video of each query: that of its first judged segment."""
        segments = self.segments
        names = [segments.queries[query] for query in segments.query.tolist()[::-1]]
        return dict(zip(names, segments.video[::-1], strict=True))


LENIENT = (
    "; --lenient (lenient=True) leaves such moments out, and a query without another one counts as"
    " missed, as scripts count it"
)


class Place(Protocol):
    """Where a row is: in a file, or in the memory of a program."""

    @property
    def inside(self) -> str:
        """Where it is inside its file or list, in words."""

    def error(self, reason: str) -> MomentRankError:
        """Return an error for this place."""


class Row(NamedTuple):
    """A row, from 0, of qrels or a run in memory, whose name `source` is."""

    source: str
    row: int

    @property
    def inside(self) -> str:
        """The row, in words."""
        return f"row {self.row}"

    def error(self, reason: str) -> SegmentError:
        """Return an error for this row."""
        return SegmentError(self.row, reason, self.source)


class Repeats(NamedTuple):
    """Messages about segments that appear twice in their query; and an error if levels differ."""

    remarks: list[str]
    conflict: MomentRankError | None


class Table(NamedTuple):
    """The segments of a file, or of rows in memory, as columns, in their order.

    `queries` are the distinct ids of a file in which queries may have no segments. `ranks` are
    those of a file with ranks. `notes` are messages to the user, one line each. `unscored` is
    the number of results without a score, `missed` are the queries of which no relevant moment can
    be read.
    """

    query: Sequence[str]
    video: Sequence[str]
    start: Floats
    end: Floats
    value: Floats
    location: Callable[[int], Place]
    queries: list[str] | None = None
    ranks: Floats | None = None
    notes: Sequence[str] = ()
    durations: Durations = dict
    texts: Texts = dict
    unscored: int = 0
    missed: frozenset[str] = frozenset()

    def qrels(self) -> Segments:
        """Return the table as judged segments."""
        segments = self._with_all_queries(self._check(build_qrels, {REVERSED: LENIENT}))
        return segments._replace(missed=self.missed)

    def run(self, warn: Callable[[str], None] | None = None) -> Segments:
        """Return the table as results, by rank or in file order; `warn` is told of equal ranks."""
        return self._with_all_queries(self._check(build_run, ranks=self.ranks, warn=warn))

    def _check(
        self, make: Callable[..., Segments], hints: Mapping[str, str] | None = None, **more: Any
    ) -> Segments:
        columns = (self.query, self.video, self.start, self.end, self.value)
        try:
            return make(*columns, **more)
        except SegmentError as exc:
            place, hint = self.location(exc.row), (hints or {}).get(exc.reason, "")
            if isinstance(place, Row):  # the hints are about reading files
                hint = ""
            raise place.error(exc.reason + hint) from exc

    def without_reversed(self) -> "Table":
        """Return the table without moments that end before they start, and a note about them.

        All queries stay, as scripts iterate over them: those left without a moment are missed.
        """
        wrong = self.end < self.start
        if not wrong.any():
            return self
        relevant, read = (
            frozenset(self.query[row] for row in np.flatnonzero(rows).tolist())
            for rows in (self.value >= 1, (self.value >= 1) & ~wrong)
        )
        rows = np.flatnonzero(~wrong).tolist()
        query, video = [self.query[row] for row in rows], [self.video[row] for row in rows]
        queries = self.queries or list(dict.fromkeys(self.query))
        lost = len(set(self.query) - set(query))
        left = f"moments left out: {int(wrong.sum())}"
        left += f"; queries left without one, which count as missed: {lost}" if lost else ""
        reason = f"{REVERSED} ({left})"
        return self._replace(
            query=query,
            video=video,
            start=self.start[rows],
            end=self.end[rows],
            value=self.value[rows],
            location=lambda row: self.location(rows[row]),
            queries=queries,
            notes=[*self.notes, str(self.location(int(np.argmax(wrong))).error(reason))],
            missed=relevant - read,
        )

    def without_negative(self) -> "Table":
        """Return the table with levels below 0, as in MediaEval's files, as 0, and a note."""
        low = self.value < 0
        if not low.any():
            return self
        row = int(np.argmax(low))
        reason = f"level {self.value[row]:g} counts as 0, not relevant"
        reason += f" ({count(int(low.sum()), 'such row')})"
        level = np.where(low & (self.value % 1 == 0), 0.0, self.value)
        return self._replace(
            value=level, notes=[*self.notes, str(self.location(row).error(reason))]
        )

    def _with_all_queries(self, segments: Segments) -> Segments:
        """Return the segments, including queries that have none."""
        if self.queries is None or len(self.queries) == len(segments.queries):
            return segments
        index = {name: number for number, name in enumerate(self.queries)}
        new = np.array([index[name] for name in segments.queries], dtype=np.int64)
        return segments._replace(queries=self.queries, query=new[segments.query])

    def remarks(self, run: Segments) -> Iterator[str]:
        """Yield messages to the user about the results, one line each."""
        yield from self.notes
        if message := self._misordered(run):
            yield message
        yield from self.repeats(run).remarks

    def _misordered(self, run: Segments) -> str | None:
        """Describe the first result with a higher score than the one before it, if any."""
        higher = (run.value[1:] > run.value[:-1]) & (run.query[1:] == run.query[:-1])
        if not higher.any():
            return None
        row = int(self._rows(run)[1 + int(np.argmax(higher))])
        what = "rank" if self.ranks is not None else "order of the list"
        reason = f"the score is higher than that of the result before it: the {what} counts"
        return str(
            self.location(row).error(f"{reason} ({count(int(higher.sum()), 'such result')})")
        )

    def _rows(self, segments: Segments) -> Ints:
        """Return the row of the table of each segment."""
        index = {name: number for number, name in enumerate(segments.queries)}
        query = np.array([index[name] for name in self.query])
        keys = np.zeros(len(query)) if self.ranks is None else self.ranks
        rows: Ints = np.lexsort((keys, query))
        return rows

    def repeats(self, segments: Segments, *, judged: bool = False) -> Repeats:
        """Return what there is to say about segments that repeat one of their query."""
        again, first = find_repeats(segments)
        if not len(again):
            return Repeats([], None)
        rows = self._rows(segments)
        differs = judged & (segments.value[again] != segments.value[first])
        if differs.any():
            at = int(np.argmax(differs))
            new, old = segments.value[[again[at], first[at]]]
            what = f": level {new:g}, but level {old:g} there"
            hint = f"{what}; `paper` counts a segment once: keep one of the two"
            pair = int(rows[again[at]]), int(rows[first[at]])
            return Repeats([str(self._repeat(*pair, what))], self._repeat(*pair, hint))
        number = count(len(again), "such row")
        what = f" ({number}); `paper` counts a segment once, scripts each time"
        return Repeats([str(self._repeat(int(rows[again[0]]), int(rows[first[0]]), what))], None)

    def _repeat(self, row: int, first: int, what: str) -> MomentRankError:
        return self.location(row).error(
            f"the same segment as in {self.location(first).inside}{what}"
        )


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

    def select(self, rows: Ints) -> "Windows":
        """Return some of the windows."""
        video = [self.video[row] for row in rows.tolist()]
        times = self.start[rows], self.end[rows]
        return Windows(video, *times, self.score[rows], self.unscored[rows], self.malformed[rows])

    def check(self, location: Callable[[int], Location]) -> "Windows":
        """Return the windows."""
        Table([""] * len(self.video), *self[:4], location).run()
        return self

    def remarks(self, error: FormatError | None, location: Callable[[int], Location]) -> list[str]:
        """Return messages to the user about them; `error` is the first malformed one's."""
        remarks = []
        if error is not None:
            number = int(self.malformed.sum())
            remarks.append(f"{error} (malformed results, counted as not relevant: {number})")
        unscored = self.unscored & ~self.malformed
        if number := int(unscored.sum()):
            reason = f"no score: the order of the list counts ({count(number, 'such result')})"
            remarks.append(str(location(int(np.argmax(unscored))).error(reason)))
        return remarks


_NONE, _YES = np.zeros(1), np.ones(1, dtype=bool)
MALFORMED = Windows([""], _NONE, _NONE, _NONE, _YES, _YES)
"""A result that can't be read: it keeps its rank and is not relevant."""


def read_windows(
    count: int, parse: Callable[[Sequence[int]], Windows], *, lenient: bool
) -> tuple[Windows, FormatError | None]:
    """Return the windows of rows 0 to `count` - 1, and the first error if `lenient`.

    `parse` reads some rows, or raises for the first that is malformed; if `lenient`, malformed rows
    become windows that meet nothing.
    """
    if not lenient:
        return parse(range(count)), None
    errors: list[FormatError] = []
    windows = list(_halve(range(count), parse, errors))
    columns = list(zip(*windows, strict=True))
    video = [name for videos in columns[0] for name in videos]
    return Windows(video, *map(np.concatenate, columns[1:])), next(iter(errors), None)


def _halve(
    rows: Sequence[int], parse: Callable[[Sequence[int]], Windows], errors: list[FormatError]
) -> Iterator[Windows]:
    """Yield the windows of the rows; only halves with malformed ones are divided further."""
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
    """Return the scores; a missing one repeats that of the result before it.

    So the list stays in the order of its scores.
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
