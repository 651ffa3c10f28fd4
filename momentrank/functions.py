"""The functions of ir_measures, over segments: measures of runs against qrels, by a convention.

Qrels and runs are frames (`read_qrels`, `read_run`) or `Segments`; they are never changed.
Measures are given as values or by name.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from momentrank.measures.base import Measure
from momentrank.measures.parse import parse_measure
from momentrank.scoring import CalcResults, Evaluator, Metric, Scores

if TYPE_CHECKING:
    from momentrank.scoring import Qrels, Run


def evaluator(
    measures: Iterable[Measure | str], qrels: "Qrels", convention: str = "paper"
) -> Evaluator:
    """Return an evaluator that scores runs against the same qrels.

    Raises:
        MeasureError: a measure is unknown or lacks a parameter.
        UsageError: the convention does not exist or does not define a measure.
        SegmentError: the qrels are malformed.
    """
    parsed = (parse_measure(one) if isinstance(one, str) else one for one in measures)
    return Evaluator(parsed, qrels, convention)


def iter_calc(
    measures: Iterable[Measure | str], qrels: "Qrels", run: "Run", convention: str = "paper"
) -> Iterator[Metric]:
    """Yield the value of each measure for each scored query; see `evaluator`."""
    return evaluator(measures, qrels, convention).iter_calc(run)


def calc_aggregate(
    measures: Iterable[Measure | str], qrels: "Qrels", run: "Run", convention: str = "paper"
) -> Scores:
    """Return each measure over all scored queries; see `evaluator`."""
    return evaluator(measures, qrels, convention).calc_aggregate(run)


def calc(
    measures: Iterable[Measure | str], qrels: "Qrels", run: "Run", convention: str = "paper"
) -> CalcResults:
    """Return each measure over all queries, and for each query; see `evaluator`."""
    return evaluator(measures, qrels, convention).calc(run)
