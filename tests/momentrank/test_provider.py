"""ir_measures scores moments once the provider is imported, and documents as before."""

import ir_measures
import pandas as pd
import pytest

import momentrank as mr
import momentrank.provider
from momentrank import AP, AxIoU, NumRel, R, nDCG

QRELS = pd.DataFrame(
    [("q1", "v1", 0, 20, 4), ("q1", "v1", 20, 40, 1), ("q2", "v3", 0, 10, 2)],
    columns=["query_id", "video_id", "start", "end", "level"],
)
RUN = pd.DataFrame(
    [("q1", "v1", 0, 10, 0.7), ("q1", "v1", 18, 40, 0.9), ("q2", "v3", 0, 10, 0.5)],
    columns=["query_id", "video_id", "start", "end", "score"],
)
MEASURES = [nDCG(iou=0.5) @ 10, AP(match="overlap"), AxIoU @ 2, R(iou=0.5) @ 1, NumRel]


def test_ir_measures_takes_our_measures():
    expected = mr.calc_aggregate(MEASURES, QRELS, RUN)
    assert ir_measures.calc_aggregate(MEASURES, QRELS, RUN) == expected
    assert ir_measures.calc_aggregate(MEASURES, QRELS.to_numpy().tolist(), RUN) == expected
    results = ir_measures.calc(MEASURES, QRELS, RUN)
    assert results.aggregated == expected
    metrics = list(ir_measures.iter_calc(MEASURES, QRELS, RUN))
    assert set(results.per_query) == set(metrics) == set(mr.iter_calc(MEASURES, QRELS, RUN))
    assert isinstance(metrics[0], ir_measures.Metric)
    assert ir_measures.providers.registry["momentrank"] is momentrank.provider.PROVIDER


def test_measures_of_documents_are_still_those_of_ir_measures():
    qrels, run = {"q": {"d": 1, "e": 0}}, {"q": {"e": 2.0, "d": 1.0}}
    assert ir_measures.calc_aggregate([ir_measures.RR], qrels, run) == {ir_measures.RR: 0.5}
    with pytest.raises(mr.MeasureError, match="nDCG@10 needs iou"):
        ir_measures.calc_aggregate([nDCG @ 10], QRELS, RUN)
