"""A file's columns, converted to `Segments` with the place of each error."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from momentrank.formats.source import Place
from momentrank.segments import Floats, SegmentError, Segments, build_qrels, build_run


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
        keys = list(
            zip(self.query, self.video, self.start.tolist(), self.end.tolist(), strict=True)
        )
        if len(set(keys)) == len(keys):
            return None
        seen: dict[Any, int] = {}
        for row, key in enumerate(keys):
            first = seen.setdefault(key, row)
            if self.value[first] != self.value[row]:
                return self._contradicts(first, row)
        return None

    def _contradicts(self, first: int, row: int) -> str:
        place, levels = self.place(first), self.value[[first, row]]
        inside = f"line {place.line}" if place.line else ""
        where = ", ".join(filter(None, [inside, place.trail]))
        differ = f"level {levels[1]:g}, but level {levels[0]:g} in {where}"
        return str(self.place(row).error(f"the same segment appears twice: {differ}; both count"))
