"""Scores: measures of runs against qrels, by a convention.

The functions are ir_measures' own, over segments. Qrels and runs are frames (`read_qrels`,
`read_run`) or what these are inside, `Segments`; they are never changed.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from ir_measures import CalcResults
from ir_measures.util import Metric

from momentrank import conventions, segments
from momentrank.matching.aligned import Lists, align
from momentrank.matching.own_ids import with_own_ids
from momentrank.measures.base import Measure
from momentrank.measures.parse import parse_measure
from momentrank.segments import Floats, Segments

if TYPE_CHECKING:
    import pandas as pd

    Qrels = Segments | pd.DataFrame
    Run = Segments | pd.DataFrame


class Unmatched(NamedTuple):
    """Queries that only the qrels have, and queries that only the run has."""

    not_in_run: list[str]
    not_in_qrels: list[str]


class Evaluator:
    """Scores runs against qrels that are read once."""

    def __init__(self, measures: Iterable[Measure | str], qrels: "Qrels", convention: str) -> None:
        """Look at measures and qrels.

        Raises:
            MeasureError: a measure lacks a parameter, or a name is none.
            UsageError: the convention is none, or does not have a measure.
            SegmentError: the qrels can't be.
        """
        self.measures = [parse_measure(one) if isinstance(one, str) else one for one in measures]
        self.convention = convention
        for measure in self.measures:
            measure.validate_params()
            conventions.check(measure, convention)
        self.qrels = qrels if isinstance(qrels, Segments) else segments.qrels_of(qrels)

    @property
    def depth(self) -> int | None:
        """How many results of each list are looked at; None: all."""
        if self.convention == conventions.SH_EVAL:
            return None
        depths = [measure.depth() for measure in self.measures]
        return max((depth for depth in depths if depth), default=1) if all(depths) else None

    def iter_calc(self, run: "Run") -> Iterator[Metric]:
        """Yield the value of every measure for every query that counts.

        Raises:
            SegmentError: the run can't be.
        """
        for measure, (names, values) in self.per_query(run).items():
            for name, value in zip(names, values.tolist(), strict=True):
                yield Metric(name, measure, value)

    def calc_aggregate(self, run: "Run") -> dict[Measure, float]:
        """Return each measure over all queries that count: the mean, or the sum of counts.

        Raises:
            SegmentError: the run can't be.
        """
        scored = self.per_query(run).items()
        return {measure: aggregated(measure, values) for measure, (_, values) in scored}

    def calc(self, run: "Run") -> CalcResults:
        """Return both: `aggregated`, by measure, and `per_query`, a list of metrics.

        Raises:
            SegmentError: the run can't be.
        """
        run = run if isinstance(run, Segments) else segments.run_of(run)
        aggregated: dict[Any, float] = dict(self.calc_aggregate(run))
        return CalcResults(aggregated, list(self.iter_calc(run)))

    def per_query(self, run: "Run") -> dict[Measure, tuple[list[str], Floats]]:
        """Return, of each measure, the queries that count and their values.

        Raises:
            SegmentError: the run can't be.
        """
        lists = self._align(run)
        rows = np.flatnonzero(conventions.counting(lists, self.convention))
        names = [self.qrels.queries[row] for row in rows.tolist()]
        return {
            measure: (names, conventions.values(measure, lists, self.convention)[rows])
            for measure in self.measures
        }

    def unmatched(self, run: Segments) -> Unmatched:
        """Return the queries that only one of the two has."""
        run = with_own_ids(run, self.qrels)
        ours, theirs = set(self.qrels.queries), set(run.queries)
        return Unmatched(
            [name for name in self.qrels.queries if name not in theirs],
            [name for name in run.queries if name not in ours],
        )

    def _align(self, run: "Run") -> Lists:
        run = run if isinstance(run, Segments) else segments.run_of(run)
        return align(self.qrels, with_own_ids(run, self.qrels), self.depth)


def aggregated(measure: Measure, values: Floats) -> float:
    """Return the mean of queries' values, or their sum; 0 without any."""
    of_measure = measure.aggregator()
    for value in values.tolist() or [0.0]:
        of_measure.add(value)
    return float(of_measure.result())


def evaluator(
    measures: Iterable[Measure | str], qrels: "Qrels", convention: str = "paper"
) -> Evaluator:
    """Return what scores runs; qrels are looked at once. Measures may be given by name.

    Raises:
        MeasureError: a measure lacks a parameter.
        UsageError: the convention is none, or does not have a measure.
        SegmentError: the qrels can't be.
    """
    return Evaluator(measures, qrels, convention)


def iter_calc(
    measures: Iterable[Measure | str], qrels: "Qrels", run: "Run", convention: str = "paper"
) -> Iterator[Metric]:
    """Yield the value of every measure for every query that counts; see `evaluator`."""
    return evaluator(measures, qrels, convention).iter_calc(run)


def calc_aggregate(
    measures: Iterable[Measure | str], qrels: "Qrels", run: "Run", convention: str = "paper"
) -> dict[Measure, float]:
    """Return each measure over all queries that count; see `evaluator`."""
    return evaluator(measures, qrels, convention).calc_aggregate(run)


def calc(
    measures: Iterable[Measure | str], qrels: "Qrels", run: "Run", convention: str = "paper"
) -> CalcResults:
    """Return each measure over all queries, and for each query; see `evaluator`."""
    return evaluator(measures, qrels, convention).calc(run)
