"""Segments of videos as columns: the internal form of qrels and runs.

The segments of a query are contiguous and in order: judged segments as in their file, results by
rank. As frames they have the columns `query_id, video_id, start, end`, and `level` for qrels or
`rank, score` for runs. A malformed row is a SegmentError.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import compress, count
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from momentrank.errors import MomentRankError, UsageError
from momentrank.ids import id_text

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Column = Sequence[float] | npt.NDArray[Any]


REVERSED = "the end is before the start"
MOST = 1e300
LATEST = 1e15
"""Seconds; beyond this, lengths lose precision and equal segments no longer match."""
SLACK = 1.0
"""Seconds by which a segment may end after its video: durations are often rounded."""
SHORT = 2.0
"""Seconds: in a longer video, results that all end within the first one look like shares of it."""
MOST_LEVEL = 1000
"""2 to the power of a level must be finite."""


class SegmentError(MomentRankError):
    """Malformed segments: a time, level, rank or score that is not valid."""

    def __init__(self, row: int, reason: str, source: str = "") -> None:
        """Name the row (from 0), the reason and, if known, whose row it is."""
        super().__init__(f"{source}{', ' if source else ''}row {row}: {reason}")
        self.row, self.reason = row, reason


class Numbers(defaultdict[str, int]):
    """Numbers for names: 0, 1, ... in order of first appearance."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Number `names` first."""
        super().__init__(count().__next__)
        self.encode(list(names))

    def encode(self, names: Sequence[str]) -> Ints:
        """Return the numbers of names, shape (n,); new names get new numbers."""
        return np.fromiter(map(self.__getitem__, names), np.int64, len(names))


class Names(NamedTuple):
    """The numbers of the queries and of the videos of qrels, and the video of each segment (n,)."""

    queries: dict[str, int]
    videos: dict[str, int]
    video: Ints


class Segments(NamedTuple):
    """Segments [start, end) in seconds, by query.

    `query` (n,) is the index in `queries` (distinct ids), ascending; `value` (n,) the level of a
    judged segment, or the score of a result. `missed` are the queries of qrels whose relevant
    moments can't be read: they have one, but it is not among the segments.
    """

    queries: list[str]
    query: Ints
    video: list[str]
    start: Floats
    end: Floats
    value: Floats
    missed: frozenset[str] = frozenset()

    @property
    def rank(self) -> Ints:
        """Return the place of each segment in its query's list, from 1; shape (n,)."""
        first = np.searchsorted(self.query, np.arange(len(self.queries)))
        ranks: Ints = np.arange(1, len(self.query) + 1) - first[self.query]
        return ranks

    def select(self, rows: Bools) -> "Segments":
        """Return some of the segments; queries left without segments are kept."""
        video = list(compress(self.video, rows.tolist()))
        columns = (self.start[rows], self.end[rows], self.value[rows])
        return Segments(self.queries, self.query[rows], video, *columns, self.missed)

    @property
    def is_missed(self) -> Bools:
        """Which queries are missed, shape (queries,)."""
        return np.array([name in self.missed for name in self.queries], dtype=bool)


def number_names(qrels: Segments) -> Names:
    """Number what qrels name, videos from 1."""
    videos = Numbers([""])
    video = videos.encode(qrels.video)
    return Names({name: at for at, name in enumerate(qrels.queries)}, dict(videos), video)


def stack(copies: Sequence[Segments]) -> Segments:
    """Return copies as one collection: the number of its copy precedes a query's id."""
    sizes = np.cumsum([0, *(len(copy.queries) for copy in copies)])
    start, end, value = (
        np.concatenate(column) for column in zip(*(copy[3:6] for copy in copies), strict=True)
    )
    return Segments(
        [f"{number} {name}" for number, copy in enumerate(copies) for name in copy.queries],
        np.concatenate([copy.query + size for copy, size in zip(copies, sizes, strict=False)]),
        [video for copy in copies for video in copy.video],
        start,
        end,
        value,
        frozenset(f"{number} {name}" for number, copy in enumerate(copies) for name in copy.missed),
    )


def iou(start: Floats, end: Floats, other: Floats, other_end: Floats) -> Floats:
    """Return the pairwise intersection over union, shape (n,); 0 where both are empty.

    The order of operations matters: another formula rounds differently at a threshold.
    """
    shared = np.maximum(0.0, np.minimum(end, other_end) - np.maximum(start, other))
    union = (end - start) + (other_end - other) - shared
    ratio: Floats = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return ratio


def number_rows(*columns: Ints | Floats) -> Ints:
    """Return a number for each row of a table, in the order of the columns; equal rows share it."""
    order = np.lexsort(columns[::-1])
    differs = np.zeros(len(order), dtype=bool)
    for column in columns:
        differs[1:] |= np.diff(column[order]) != 0
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(differs)
    return numbers


def build_qrels(
    query_ids: Sequence[str],
    video_ids: Sequence[str],
    starts: Column,
    ends: Column,
    levels: Column,
    queries: Sequence[str] = (),
) -> Segments:
    """Return judged segments; those of a query keep their order.

    `queries` gives the order of queries; some may have no segments.
    """
    segments, order = _group(query_ids, video_ids, starts, ends, levels, queries=queries)
    levels = segments.value
    levels_ok = (levels >= 0) & (levels <= MOST_LEVEL) & (levels % 1 == 0)
    _refuse(~levels_ok, order, f"the level must be 0, 1, 2, ... {MOST_LEVEL}")
    return segments


def build_run(
    query_ids: Sequence[str],
    video_ids: Sequence[str],
    starts: Column,
    ends: Column,
    scores: Column | None = None,
    *,
    ranks: Column | None = None,
    queries: Sequence[str] = (),
    warn: Callable[[str], None] | None = None,
) -> Segments:
    """Return ranked results, ordered by `ranks` if given.

    Ties keep the input order; `warn` is called if there are any.
    """
    values = np.zeros(len(starts)) if scores is None else scores
    keys = None
    if ranks is not None:
        keys = read_numbers(ranks, "rank")
        _refuse(~np.isfinite(keys), np.arange(len(keys)), "the rank must be a number")
    segments, order = _group(query_ids, video_ids, starts, ends, values, keys, queries=queries)
    _refuse(~np.isfinite(segments.value), order, "the score must be a number")
    if warn and keys is not None:
        tied = (np.diff(segments.query) == 0) & (np.diff(keys[order]) == 0)
        if tied.any():
            repeated = "1 rank is" if tied.sum() == 1 else f"{tied.sum()} ranks are"
            warn(f"{repeated} repeated within a query; ties keep their order")
    return segments


def _group(
    query_ids: Sequence[str],
    video_ids: Sequence[str],
    starts: Column,
    ends: Column,
    values: Column,
    keys: Floats | None = None,
    *,
    queries: Sequence[str] = (),
) -> tuple[Segments, Ints]:
    """Return segments grouped by query and ordered by `keys`, and their input rows."""
    lengths = {len(query_ids), len(video_ids), len(starts), len(ends), len(values)}
    if len(lengths) > 1:
        raise SegmentError(min(lengths), "the columns differ in length")
    index = Numbers(queries)
    query = index.encode(query_ids)
    start, end = read_numbers(starts, "start"), read_numbers(ends, "end")
    value = read_numbers(values, "value")
    order: Ints = np.arange(len(query))
    if keys is not None:
        order = np.lexsort((keys, query))
    elif (np.diff(query) < 0).any():
        order = np.argsort(query, kind="stable")
    video = list(video_ids)
    if (np.diff(order) != 1).any():
        video = [video[row] for row in order.tolist()]
    start, end = start[order], end[order]
    _refuse(~np.isfinite(start) | ~np.isfinite(end), order, "start and end must be numbers")
    _refuse(end < start, order, REVERSED)
    _refuse((end > LATEST) | (start < -LATEST), order, f"a time must be below {LATEST:g} seconds")
    return Segments(list(index), query[order], video, start, end, value[order]), order


def read_numbers(column: Column, name: str) -> Floats:
    """Return a column of numbers; strings, booleans, nulls and spans of time are refused."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiu":
        return column.astype(np.float64)
    if not set(map(type, column)) <= {int, float}:
        for row, value in enumerate(column):
            is_number = isinstance(value, int | float | np.integer | np.floating)
            if isinstance(value, bool | np.timedelta64) or not is_number:
                is_span = isinstance(value, np.timedelta64) or hasattr(value, "total_seconds")
                hint = "; give its seconds" if is_span else ""
                raise SegmentError(row, f"the {name} must be a number, not {value!r}{hint}")
    try:
        return np.asarray(column, dtype=np.float64)
    except OverflowError:
        row = next(row for row, value in enumerate(column) if abs(value) > MOST)
        raise SegmentError(row, f"the {name} is too large") from None


def _refuse(wrong: Bools, order: Ints, reason: str) -> None:
    if wrong.any():
        raise SegmentError(int(order[wrong].min()), reason)


_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""Factors that spread the bits of a hash."""


def find_repeats(segments: Segments) -> tuple[Ints, Ints]:
    """Return the rows that repeat a segment of their query, ascending, and the first row of each.

    Results that can't be read have no video; they repeat nothing.
    """
    keys = segments.query.astype(np.uint64) * _ODD[0]
    for odd, times in zip(_ODD[1:], (segments.start, segments.end), strict=True):
        keys ^= (times + 0.0).view(np.uint64) * odd  # wraps around; -0.0 is 0.0
    order = np.argsort(keys)
    same = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    rows = np.union1d(order[same], order[same + 1]).tolist()  # few: those whose hashes are equal
    firsts: dict[tuple[int, str, float, float], int] = {}
    pairs = []
    for row in rows:
        video = segments.video[row]
        key = int(segments.query[row]), video, float(segments.start[row]), float(segments.end[row])
        first = firsts.setdefault(key, row)
        if first != row and video:
            pairs.append((row, first))
    again, first_rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return again, first_rows


def distinct(segments: Segments) -> Segments:
    """Return each segment of a query once: the first of equal ones, of results the best ranked."""
    again, _ = find_repeats(segments)
    if not len(again):
        return segments
    kept = np.ones(len(segments.query), dtype=bool)
    kept[again] = False
    return segments.select(kept)


def find_null(qrels: Segments) -> list[str]:
    """Return the queries without a relevant moment: one of level 1 or more."""
    has = np.bincount(qrels.query[qrels.value >= 1], minlength=len(qrels.queries)) > 0
    has |= qrels.is_missed
    return [name for name, some in zip(qrels.queries, has.tolist(), strict=True) if not some]


def find_odd_times(
    segments: Segments, noun: str, durations: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """Yield what is odd about segments' times, and the share that a script may refuse.

    `noun` is what messages call them; `durations` are in seconds, of some videos. Results that
    can't be read have no video, and are not counted.
    """
    length: Floats = np.full(len(segments.video), np.inf)
    if durations:
        length = np.array([durations.get(video, np.inf) for video in segments.video], np.float64)
    for wrong, what, weight in (
        (segments.start < 0, "start before 0", 1),
        (segments.end > length + SLACK, "end after their video", 1),
        (segments.start == segments.end, "end where they start", 0),
    ):
        rows = [row for row in np.flatnonzero(wrong).tolist() if segments.video[row]]
        if rows:
            example = _example(segments, rows[0])
            yield f"{noun} that {what}: {len(rows)} ({example})", weight * len(rows) / len(wrong)
    known = np.flatnonzero(np.isfinite(length) & (length > SHORT))
    ends = segments.end[known]
    if len(ends) and ends.max() <= 1 and (ends % 1).any():
        what = f"all {noun} end within a second: are their times shares of the video?"
        yield f"{what} ({_example(segments, int(known[0]))})", 1.0


def _example(segments: Segments, row: int) -> str:
    query, video = segments.queries[segments.query[row]], segments.video[row]
    return f"query {query!r}: {segments.start[row]:g} to {segments.end[row]:g} s of {video!r}"


def read_ids(values: Sequence[object], name: str) -> list[str]:
    """Return a column of ids as strings; whole numbers are integers."""
    if set(map(type, values)) == {str} and "" not in values:
        return cast("list[str]", list(values))
    texts = [id_text(value) for value in values]
    if not all(texts):
        row = next(row for row, text in enumerate(texts) if not text)
        raise SegmentError(row, f"the {name} must be a string or an integer, not {values[row]!r}")
    return list(filter(None, texts))


def qrels_frame(qrels: Segments) -> "pd.DataFrame":
    """Return judged segments as a frame `query_id, video_id, start, end, level`."""
    return _frame(qrels, {"level": qrels.value.astype(np.int64)})


def run_frame(run: Segments) -> "pd.DataFrame":
    """Return results as a frame `query_id, video_id, start, end, rank, score`."""
    return _frame(run, {"rank": run.rank, "score": run.value})


def _frame(segments: Segments, more: dict[str, npt.NDArray[Any]]) -> "pd.DataFrame":
    names = np.array(segments.queries, dtype=object)[segments.query]
    columns = {"query_id": names, "video_id": segments.video}
    return make_frame({**columns, "start": segments.start, "end": segments.end, **more})


def make_frame(columns: Mapping[str, Any] | Sequence[Any]) -> "pd.DataFrame":
    """Return a frame of columns by name, or of rows; nothing else here needs pandas."""
    try:
        import pandas as pd
    except ImportError as exc:
        raise UsageError("frames need pandas: pip install 'momentrank[frames]'") from exc
    return pd.DataFrame(columns)
