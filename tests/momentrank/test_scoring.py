"""Scoring as a whole: conventions, the order of operations, the same result in any order."""

import math
import random
import subprocess
import sys

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momentrank
from momentrank import AP, AxIoU, Judged, NumQ, NumRel, P, UsageError, calc_aggregate, nDCG
from momentrank.matching.aligned import align
from momentrank.segments import build_qrels, build_run, qrels_frame, run_frame

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # random ids need not meet

FIGURE_2 = (
    build_qrels(["q"] * 4, list("abcd"), [0] * 4, [10] * 4, [2, 4, 2, 0]),
    build_run(["q"] * 3, list("abc"), [0] * 3, [10] * 3),
)


def test_a_missing_query_counts_as_zero_but_not_as_the_released_scorer_counts():
    qrels = build_qrels(["a", "b"], ["v", "v"], [0, 0], [1, 1], [4, 4])
    run = build_run(["a"], ["v"], [0], [1])
    measure = nDCG(iou=0.5) @ 10
    assert calc_aggregate([measure], qrels, run)[measure] == 0.5
    assert calc_aggregate([measure], qrels, run, "tvr-ranking")[measure] == 1.0
    per_query = {m.query_id: m.value for m in momentrank.iter_calc([measure], qrels, run)}
    assert per_query == {"a": 1.0, "b": 0.0}


def threshold_cases():
    """Find pairs whose IoU lies at a threshold by one order of operations, not by another."""
    rng = random.Random(1)
    count = 0
    while count < 20:
        times = [rng.randrange(100) / 10 for _ in range(4)]
        ps, pe, gs, ge = *sorted(times[:2]), *sorted(times[2:])
        shared = min(pe, ge) - max(ps, gs)
        if shared <= 0:
            continue
        ours = shared / ((pe - ps) + (ge - gs) - shared)
        theirs = shared / (max(pe, ge) - min(ps, gs))
        for mu in (0.3, 0.5, 0.7):
            if (ours >= mu) != (theirs >= mu):
                count += 1
                yield (ps, pe, gs, ge), mu, ours >= mu


def test_the_order_of_operations_is_that_of_the_definition():
    for (ps, pe, gs, ge), mu, expected in threshold_cases():
        measure = nDCG(iou=mu) @ 1
        scores = calc_aggregate([measure], build_qrels(["q"], ["v"], [gs], [ge], [1]),
                                build_run(["q"], ["v"], [ps], [pe]))  # fmt: skip
        assert (scores[measure] == 1.0) is expected


MOMENT = ["query_id", "video_id", "start", "end"]


def frames(seed):
    """Return qrels and a run as frames, each moment once."""
    case = oracle.case(seed, empty_lists=False)
    rows = [(q, *row) for q, listed in case.qrels.items() for row in listed]
    qrels = pd.DataFrame(rows, columns=[*MOMENT, "level"]).drop_duplicates(MOMENT)
    lists = {query: list(dict.fromkeys(listed)) for query, listed in case.run.items()}
    rows = [(q, *row, n) for q, listed in lists.items() for n, row in enumerate(listed, 1)]
    return qrels, pd.DataFrame(rows, columns=[*MOMENT, "rank"])


MEASURES = [nDCG(iou=0.5) @ 3, AP(iou=0.3), AxIoU @ 3, P(match="bin") @ 2, AP(match="tol"), NumRel]


@given(seed=st.integers(0, 10**6), rng=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_where_ranks_say_it(seed, rng):
    qrels, run = frames(seed)
    if qrels.empty or run.empty:
        return
    order = list(range(len(run)))
    rng.shuffle(order)
    mixed = run.iloc[order]
    before = mixed.copy(deep=True)
    scores = calc_aggregate(MEASURES, qrels, run)
    assert calc_aggregate(MEASURES, qrels, mixed) == pytest.approx(scores, abs=0, nan_ok=True)
    pd.testing.assert_frame_equal(mixed, before)


@given(seed=st.integers(0, 10**6))
def test_only_the_first_results_are_looked_at(seed):
    qrels, run = frames(seed)
    shallow = [m for m in MEASURES if m.depth()]
    if qrels.empty or run.empty:
        return
    top = run[run["rank"] <= 3]
    if set(top["query_id"]) == set(run["query_id"]):
        scores = calc_aggregate(shallow, qrels, run)
        assert calc_aggregate(shallow, qrels, top) == pytest.approx(scores, abs=0, nan_ok=True)


def test_an_evaluator_reads_qrels_once_and_scores_many_runs():
    qrels, run = FIGURE_2
    evaluator = momentrank.evaluator([nDCG(iou=0.5) @ 3, NumQ], qrels)
    worse = run._replace(video=["a", "d", "x"])
    first, second = evaluator.calc_aggregate(run), evaluator.calc_aggregate(worse)
    assert first[nDCG(iou=0.5) @ 3] > second[nDCG(iou=0.5) @ 3]
    assert first[NumQ] == second[NumQ] == 1.0
    both = evaluator.calc(run_frame(run))
    assert both.aggregated == first
    assert [m.query_id for m in both.per_query] == ["q", "q"]
    assert momentrank.calc_aggregate(evaluator.measures, qrels_frame(qrels), run) == first


def test_queries_of_only_one_file_are_named():
    qrels = build_qrels(["a", "b"], ["v", "v"], [0, 0], [1, 1], [1, 1])
    run = build_run(["b", "c"], ["v", "v"], [0, 0], [1, 1])
    assert momentrank.evaluator([NumQ], qrels).find_unmatched(run) == (["a"], ["c"])


def test_nothing_retrieved_and_nothing_judged():
    none = build_run([], [], [], [])
    scores = calc_aggregate([*MEASURES, Judged(iou=0.5) @ 5], FIGURE_2[0], none)
    assert {m: v for m, v in scores.items() if m != NumRel} == dict.fromkeys(
        [*MEASURES[:-1], Judged(iou=0.5) @ 5], 0.0
    )
    empty = build_qrels([], [], [], [], [])
    scores = calc_aggregate(MEASURES, empty, FIGURE_2[1])
    assert scores[NumRel] == 0
    assert all(math.isnan(scores[measure]) for measure in MEASURES[:-1])


@pytest.mark.parametrize(
    ("measure", "convention", "message"),
    [
        (NumQ, "trec", "'trec' is not a valid convention, must be one of paper, tvr"),
        (nDCG(iou=0.5) @ 10, "sh-eval", "is not a measure of sh-eval"),
        (AP(match="tol", tol=20), "sh-eval", "is not a measure of sh-eval"),
    ],
)
def test_a_convention_that_does_not_have_a_measure_says_so(measure, convention, message):
    with pytest.raises(UsageError, match=message):
        calc_aggregate([measure], *FIGURE_2, convention)


def test_the_api_can_be_called_as_it_is_written(tmp_path):
    code = (
        "import momentrank as mr\n"
        "from momentrank import calc, calc_aggregate, evaluator, iter_calc, read_run\n"
        "from momentrank.segments import build_qrels, build_run\n"
        "data = build_qrels(['q'], ['v'], [0], [1], [1]), build_run(['q'], ['v'], [0], [1])\n"
        "assert calc_aggregate(['AxIoU@1'], *data) == {mr.AxIoU @ 1: 1.0}\n"
        "for function in (calc, mr.calc, evaluator, iter_calc, mr.iter_calc, read_run):\n"
        "    assert callable(function), function\n"
        "assert mr.calc([mr.AxIoU @ 1], *data).aggregated == {mr.AxIoU @ 1: 1.0}\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_whatever_is_public_is_there():
    for name in momentrank.__all__:
        assert getattr(momentrank, name) is not None
    assert set(momentrank.__all__) == set(dir(momentrank))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        momentrank.nothing  # noqa: B018


def test_pairs_are_those_of_query_and_video():
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 4, 30) for _ in range(4)]
    qrels = build_qrels([f"q{n}" for n in columns[0]], [f"v{n}" for n in columns[1]],
                   [0] * 30, [1] * 30, [1] * 30)  # fmt: skip
    run = build_run(
        [f"q{n}" for n in columns[2]], [f"v{n}" for n in columns[3]], [0] * 30, [1] * 30
    )
    aligned = align(qrels, run)
    expected = [
        (r, t)
        for r in range(len(aligned.results.query))
        for t in range(30)
        if aligned.results.query[r] == aligned.truth.query[t]
        and aligned.results.video[r] == aligned.truth.video[t]
    ]
    assert list(zip(*(p.tolist() for p in aligned.pairs), strict=True)) == expected
