"""The evaluator: scores runs against qrels by a convention.

Qrels and runs are frames (`read_qrels`, `read_run`) or `Segments`; they are never changed.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ir_measures import CalcResults
from ir_measures.util import Metric

from momentrank import conventions, segments
from momentrank.matching.aligned import AlignedRun, align, restore_own_ids
from momentrank.segments import Floats, Segments

if TYPE_CHECKING:
    import pandas as pd

    from momentrank.measures.base import Measure

    Qrels = Segments | pd.DataFrame
    Run = Segments | pd.DataFrame


class Unmatched(NamedTuple):
    """Queries that only the qrels have, and queries that only the run has."""

    not_in_run: list[str]
    not_in_qrels: list[str]


class Evaluator:
    """Scores several runs against the same qrels."""

    def __init__(self, measures: Iterable["Measure"], qrels: "Qrels", convention: str) -> None:
        """Check the measures and the qrels.

        Raises:
            MeasureError: a measure lacks a parameter.
            UsageError: the convention does not exist or does not define a measure.
            SegmentError: the qrels are malformed.
        """
        self.measures = list(measures)
        self.convention = convention
        for measure in self.measures:
            measure.validate_params()
            conventions.check(measure, convention)
        self.qrels = qrels if isinstance(qrels, Segments) else segments.qrels_from_frame(qrels)

    @property
    def depth(self) -> int | None:
        """How many results of each list are read; None: all."""
        if self.convention == conventions.SH_EVAL:
            return None
        depths = [measure.depth() for measure in self.measures]
        return max((depth for depth in depths if depth), default=1) if all(depths) else None

    def iter_calc(self, run: "Run") -> Iterator[Metric]:
        """Yield the value of each measure for each scored query.

        Raises:
            SegmentError: the run is malformed.
        """
        for measure, (names, values) in self.per_query(run).items():
            for name, value in zip(names, values.tolist(), strict=True):
                yield Metric(name, measure, value)

    def calc_aggregate(self, run: "Run") -> dict["Measure", float]:
        """Return each measure over all scored queries: the mean or, for counts, the sum.

        Raises:
            SegmentError: the run is malformed.
        """
        scored = self.per_query(run).items()
        return {measure: aggregate(measure, values) for measure, (_, values) in scored}

    def calc(self, run: "Run") -> CalcResults:
        """Return both: `aggregated`, by measure, and `per_query`, a list of metrics.

        Raises:
            SegmentError: the run is malformed.
        """
        run = run if isinstance(run, Segments) else segments.run_from_frame(run)
        totals: dict[Any, float] = dict(self.calc_aggregate(run))
        return CalcResults(totals, list(self.iter_calc(run)))

    def per_query(self, run: "Run") -> dict["Measure", tuple[list[str], Floats]]:
        """Return the scored queries and their values for each measure.

        Raises:
            SegmentError: the run is malformed.
        """
        aligned = self._align(run)
        rows = np.flatnonzero(conventions.select_counted(aligned, self.convention))
        names = [self.qrels.queries[row] for row in rows.tolist()]
        return {
            measure: (names, conventions.values(measure, aligned, self.convention)[rows])
            for measure in self.measures
        }

    def find_unmatched(self, run: Segments) -> Unmatched:
        """Return the queries that only the qrels or only the run has."""
        run = restore_own_ids(run, self.qrels)
        ours, theirs = set(self.qrels.queries), set(run.queries)
        return Unmatched(
            [name for name in self.qrels.queries if name not in theirs],
            [name for name in run.queries if name not in ours],
        )

    def _align(self, run: "Run") -> AlignedRun:
        run = run if isinstance(run, Segments) else segments.run_from_frame(run)
        return align(self.qrels, restore_own_ids(run, self.qrels), self.depth)


def aggregate(measure: "Measure", values: Floats) -> float:
    """Return the mean or the sum of queries' values; 0 without queries."""
    aggregator = measure.aggregator()
    for value in values.tolist() or [0.0]:
        aggregator.add(value)
    return float(aggregator.result())
