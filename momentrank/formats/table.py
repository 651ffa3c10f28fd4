"""A file's columns, converted to `Segments` with the place of each error."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from momentrank.formats.source import Place
from momentrank.segments import Floats, Numbers, SegmentError, Segments, build_qrels, build_run

_ODD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
"""Factors that spread the bits of a hash."""


class Table(NamedTuple):
    """The segments of a file as columns, in file order.

    `queries` are the distinct ids of a file in which queries may have no segments. `ranks` are
    those of a file with ranks. `notes` are what the user should be told, a line each.
    """

    query: Sequence[str]
    video: Sequence[str]
    start: Floats
    end: Floats
    value: Floats
    place: Callable[[int], Place]
    queries: list[str] | None = None
    ranks: Floats | None = None
    notes: Sequence[str] = ()

    def qrels(self) -> Segments:
        """Return the table as judged segments.

        Raises:
            FormatError: a time or a level is malformed.
        """
        return self._with_all_queries(self._check(build_qrels))

    def run(self) -> Segments:
        """Return the table as results, by rank or in file order.

        Raises:
            FormatError: a time, rank or score is malformed.
        """
        return self._with_all_queries(self._check(build_run, ranks=self.ranks))

    def _check(self, make: Callable[..., Segments], **more: Any) -> Segments:  # noqa: ANN401  (as `make`)
        columns = (self.query, self.video, self.start, self.end, self.value)
        try:
            return make(*columns, **more)
        except SegmentError as exc:
            raise self.place(exc.row).error(exc.reason) from exc

    def _with_all_queries(self, segments: Segments) -> Segments:
        """Return the segments with those queries included that have none."""
        if self.queries is None or len(self.queries) == len(segments.queries):
            return segments
        index = {name: number for number, name in enumerate(self.queries)}
        new = np.array([index[name] for name in segments.queries], dtype=np.int64)
        return segments._replace(queries=self.queries, query=new[segments.query])

    def contradiction(self) -> str | None:
        """Describe the first segment with two levels, if any; both count, so it is a warning."""
        seen: dict[Any, int] = {}
        for row in self._repeats():
            key = self.query[row], self.video[row], self.start[row], self.end[row]
            first = seen.setdefault(key, row)
            if self.value[first] != self.value[row]:
                return self._contradicts(first, row)
        return None

    def _repeats(self) -> list[int]:
        """Return the rows that share query, start and end with another; perhaps a few more."""
        query = Numbers().encode(self.query).astype(np.uint64)
        keys = query * _ODD[0]
        for odd, times in zip(_ODD[1:], (self.start, self.end), strict=True):
            keys ^= (times + 0.0).view(np.uint64) * odd  # wraps around; -0.0 is 0.0
        in_order = np.sort(keys)
        repeated = in_order[1:][in_order[1:] == in_order[:-1]]
        rows: list[int] = np.flatnonzero(np.isin(keys, repeated)).tolist() if len(repeated) else []
        return rows

    def _contradicts(self, first: int, row: int) -> str:
        place, levels = self.place(first), self.value[[first, row]]
        inside = f"line {place.line}" if place.line else ""
        where = ", ".join(filter(None, [inside, place.trail]))
        differ = f"level {levels[1]:g}, but level {levels[0]:g} in {where}"
        return str(self.place(row).error(f"the same segment appears twice: {differ}; both count"))
