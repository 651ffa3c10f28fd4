"""Relevance models on lists that are longer than any in use: the same results, bounded memory."""

import resource
import time

import numpy as np
import oracle
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scorer import scores

from momentrank import calc_aggregate
from momentrank.matching import aligned
from momentrank.matching.timeline import Spans
from momentrank.segments import build_qrels, build_run

BY_PAIRS = [
    ("nDCG", {"iou": 0.5}, "paper"),
    ("AP", {"iou": 0.5, "judged_only": True}, "paper"),
    ("P", {"iou": 0, "cutoff": 5}, "paper"),
    ("Judged", {"iou": 1 / 3, "strict": True, "cutoff": 5}, "paper"),
    ("R", {"iou": 0.5, "cutoff": 3}, "paper"),
    ("AxIoU", {"cutoff": 5, "rel": 2}, "paper"),
    ("AP", {"match": "overlap", "once": True}, "paper"),
]


@pytest.mark.parametrize("block", [1, 3])
@pytest.mark.parametrize(("name", "params", "convention"), BY_PAIRS)
def test_pairs_in_blocks_give_what_all_pairs_at_once_give(
    name, params, convention, block, monkeypatch
):
    monkeypatch.setattr(aligned, "BLOCK", block)
    for seed in range(60):
        case = oracle.case(f"blocks-{seed}")
        expected = oracle.score(name, params, case.qrels, case.run, convention)
        assert scores(name, params, convention, case.qrels, case.run) == pytest.approx(
            expected, abs=1e-12
        )


MEASURES = [
    *("nDCG(iou=0.5)", "AxIoU@100", "R(iou=0.5)@10000", "AP(iou=.5:.95)@1000", "MAiSP", "VR@1"),
    *("AP(match='overlap')", "AP(match='overlap',once=True)", "AP(match='bin')"),
    *("AP(match='tol')", "AP(match='tol',seen='relevant')"),
]
MB = 2**10


@pytest.mark.parametrize("longest", [60, pytest.param(900, marks=pytest.mark.slow)])
def test_a_hundred_thousand_results_in_one_video(longest):
    rng = np.random.default_rng(0)
    start, truth_start = rng.uniform(0, 7200, 100_000).round(2), rng.uniform(0, 7200, 300).round(2)
    columns = (truth_start, truth_start + rng.uniform(1, longest, 300), rng.integers(0, 5, 300))
    qrels = build_qrels(["q"] * 300, ["v"] * 300, *columns)
    end = start + rng.uniform(1, longest, 100_000)
    run = build_run(["q"] * 100_000, ["v"] * 100_000, start, end)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    assert min(calc_aggregate(MEASURES, qrels, run).values()) > 0
    assert time.process_time() - began < 60  # seconds; some 10 on a slow machine
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 700 * MB


spans = st.lists(
    st.tuples(st.booleans(), st.integers(0, 20), st.integers(0, 20)).map(
        lambda row: (row[0], min(row[1:]), max(row[1:]))
    ),
    max_size=30,
)


@given(spans)
@example([(True, 5, 5), (True, 4, 6)])
def test_spans_are_sets_of_seconds(steps):
    ours, seconds = Spans(), set()
    for is_added, start, end in steps:
        span = set(range(start, end))
        assert (ours.last_met(start, end) is not None) == bool(span & seconds)
        if is_added and not span:
            continue  # an empty one would stay, as an instant
        if is_added:
            assert ours.add(start, end) == len(span - seconds)
            seconds |= span
        else:
            assert ours.take(start, end) == len(span & seconds)
            seconds -= span
    assert sum(b - a for a, b in zip(ours.starts, ours.ends, strict=True)) == len(seconds)
