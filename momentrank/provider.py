"""MomentRank as a provider of ir_measures (the extra `ir-measures`).

    import ir_measures, momentrank.provider
    from momentrank import AxIoU, nDCG

    ir_measures.calc_aggregate([nDCG(iou=0.5) @ 10, AxIoU @ 10], qrels, run)

Importing this module registers it. Qrels and runs are frames or lists as in `momentrank.data`, not
those of ir_measures: a document has no start and end. The convention is `paper`.
"""

from collections.abc import Iterable, Iterator

import ir_measures
from ir_measures import providers

from momentrank import functions
from momentrank.data import Data
from momentrank.measures.base import Measure


class MomentEvaluator(providers.Evaluator):  # type: ignore[misc]  # (ir_measures has no types)
    """Scores several runs against the same qrels."""

    def __init__(self, measures: Iterable[Measure], qrels: Data) -> None:
        """Read the qrels."""
        self.scorer = functions.evaluator(measures, qrels)
        super().__init__(self.scorer.measures, set(self.scorer.qrels.queries))

    def iter_calc(self, run: Data) -> Iterator[ir_measures.Metric]:
        """Yield the value of each measure for each query of the qrels."""
        metrics = functions.iter_calc(self.scorer.measures, self.scorer.qrels, run)
        return (ir_measures.Metric(*metric) for metric in metrics)

    def calc_aggregate(self, run: Data) -> dict[Measure, float]:
        """Return the value of each measure over all queries."""
        return functions.calc_aggregate(self.scorer.measures, self.scorer.qrels, run)

    def calc(self, run: Data) -> ir_measures.CalcResults:
        """Return both."""
        return ir_measures.CalcResults(self.calc_aggregate(run), list(self.iter_calc(run)))


class MomentProvider(providers.Provider):  # type: ignore[misc]  # (ir_measures has no types)
    """Measures of moments."""

    NAME = "momentrank"

    def supports(self, measure: object) -> bool:
        """Tell whether a measure is for moments."""
        return isinstance(measure, Measure)

    def _evaluator(self, measures: Iterable[Measure], qrels: Data) -> MomentEvaluator:
        return MomentEvaluator(measures, qrels)


PROVIDER = providers.register(MomentProvider())
ir_measures.DefaultPipeline.providers.insert(0, PROVIDER)  # first: others go by a measure's name
