"""What each result matched is what is scored: by all models and conventions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from momentrank import AP, DCG, VR, AxIoU, MAiSP, NumRet, P, R, UsageError, evaluator, mIoU, nDCG
from momentrank.conventions import CONVENTIONS
from momentrank.explanation import default_measure, explain
from momentrank.rankings import page
from momentrank.segments import build_qrels, build_run

QRELS = build_qrels(
    ["p", "q", "q", "q"], ["v", "v", "v", "w"], [0, 0, 20, 5], [9, 10, 30, 9], [1, 2, 4, 0]
)
RUN = build_run(["q"] * 4 + ["p"], ["v", "w", "v", "v", "v"], [19, 5, 1, 1, 0], [30, 9, 10, 9, 9])
NDCG = nDCG(iou=0.5) @ 10


def explain_query(query="q", measure=NDCG, convention="paper", depth=10, qrels=QRELS, run=RUN):
    return explain(qrels, run, query, measure, convention, depth)


def test_every_result_is_shown_with_what_it_took():
    explanation = explain_query()
    rows = [(r.rank, r.matched, round(r.iou, 3), r.level, r.relevant) for r in explanation.ranking]
    assert rows == [
        (1, 0, 0.909, 4, True),
        (2, 2, 1.0, 0, False),
        (3, 1, 0.9, 2, True),
        (4, None, 0, None, False),
    ]
    assert [(k.level, k.ranks) for k in explanation.truth] == [(4, (1,)), (2, (3,)), (0, (2,))]
    assert explanation.judged == 3
    assert [row.gain for row in explanation.ranking] == [4, 0, 2, 0]
    assert explanation.summary == "query q: nDCG(iou=0.5)@10 = 0.9502 (paper)"


CASES = {
    "paper": [NDCG, P(match="overlap") @ 3, P(match="bin", bin=7) @ 10, AP(match="tol"),
              AP(match="tol", seen="relevant"), R(iou=0.5) @ 2, AxIoU @ 3, mIoU, VR @ 1, MAiSP,
              DCG(match="maxiou") @ 3, nDCG(iou=0.5, judged_only=True) @ 3,
              P(match="overlap", once=True) @ 3],
    "tvr-ranking": [NDCG, nDCG(iou=0.7) @ 3],
    "spr": [NDCG],
    "sh-eval": [P(match=match) @ 10 for match in ("overlap", "bin", "tol")],
    "qvhighlights": [R(iou=0.5) @ 1, AP(iou=0.5)],
    "vcmr": [R(iou=0.5) @ 5, VR @ 1],
    "charades": [R(iou=0.5) @ 5, mIoU],
    "nlq": [R(iou=0.3) @ 5, mIoU],
    "tall": [R(iou=0.3) @ 5],
    **{f"2d-tan{nms}": [R(iou=0.3) @ 5, mIoU] for nms in ("", "-0.49", "-0.45", "-0.4")},
    "didemo": [R(iou=1) @ 3, mIoU],
}  # fmt: skip
ALL = [(convention, measure) for convention, measures in CASES.items() for measure in measures]


@st.composite
def collections(draw):
    """Return qrels and a run of one query in small videos, where much meets, each moment once."""

    def rows(most):
        row = st.tuples(
            st.sampled_from("vw"), st.integers(0, 20), st.integers(0, 12), st.integers(0, 3)
        )
        return draw(st.lists(row, min_size=1, max_size=most, unique_by=lambda row: row[:3]))

    judged, results = rows(4), rows(7)

    def columns(rows):
        video, start, length, value = zip(*rows, strict=True)
        return ["q"] * len(rows), video, start, np.add(start, length).tolist(), value

    return build_qrels(*columns(judged)), build_run(*columns(results))


def test_every_convention_has_a_case():
    assert set(CASES) == set(CONVENTIONS)


@pytest.mark.parametrize(("convention", "measure"), ALL)
@settings(max_examples=30, deadline=None)
@given(collections())
def test_the_value_is_what_is_scored_and_rises_where_a_result_is_relevant(
    convention, measure, collection
):
    qrels, run = collection
    explanation = explain_query(measure=measure, convention=convention, qrels=qrels, run=run)
    values = {m.query_id: m.value for m in evaluator([measure], qrels, convention).iter_calc(run)}
    assert explanation.value == values.get("q")
    if explanation.value is None:
        return
    shorter = [0.0, *(row.value for row in explanation.ranking)]
    assert shorter[-1] == explanation.value
    if measure.NAME in {"P", "nDCG"} and "judged_only" not in measure.params:
        for row, before in zip(explanation.ranking, shorter, strict=False):
            assert (row.value > before) == (row.relevant and row.rank <= measure.params["cutoff"])
    after_nms = convention.startswith(("tall", "2d-tan"))  # their cutoff is among those kept
    if convention == "didemo" and measure.NAME == "R":
        ranks = sorted(min(moment.ranks, default=np.inf) for moment in explanation.truth)[:3]
        assert explanation.value == (bool(ranks) and np.mean(ranks) <= measure.params["cutoff"])
    elif measure.NAME in {"R", "VR"} and convention != "paper" and not after_nms:
        hits = [row.relevant for row in explanation.ranking if row.rank <= measure.params["cutoff"]]
        assert explanation.value == float(any(hits))
    for row in explanation.ranking:
        if row.matched is not None:
            assert row.level == explanation.truth[row.matched].level
            assert row.rank in explanation.truth[row.matched].ranks


@pytest.mark.parametrize("measure", [MAiSP, NumRet])
def test_what_shares_no_time_meets_nothing_but_a_video(measure):
    run = build_run(["q"], ["v"], [12], [15])
    assert explain_query(measure=measure, run=run).judged == 0
    assert explain_query(measure=VR @ 1, run=run).judged == 1


def test_a_query_that_does_not_count_is_told():
    explanation = explain_query(
        "p", run=build_run(["q"], ["v"], [0], [9]), convention="tvr-ranking"
    )
    assert explanation.value is None
    assert "does not count" in explanation.summary


def test_a_query_without_results_shows_its_truth():
    explanation = explain_query(run=build_run(["p"], ["v"], [0], [1]))
    assert explanation.ranking == []
    assert [moment.ranks for moment in explanation.truth] == [()] * 3


def test_without_a_name_each_convention_has_a_measure():
    for convention in CONVENTIONS:
        explain_query(measure=default_measure(convention), convention=convention)


def test_what_cannot_be_explained_is_a_clear_error():
    with pytest.raises(UsageError, match="the qrels have no query 'x'"):
        explain_query("x")
    for convention in ("paper", "qvhighlights"):
        with pytest.raises(UsageError, match="several thresholds; name one"):
            explain_query(measure=AP(iou=".5:.95"), convention=convention)


@given(st.text(min_size=1))
def test_a_page_shows_names_as_text(name):
    bad = f"<script>{name}"
    qrels, run = build_qrels([bad], [bad], [0], [0], [4]), build_run([bad], [bad], [0], [0])
    html = page(explain_query(bad, qrels=qrels, run=run), {"qrels": bad})
    assert "<script>" not in html
    assert "http" not in html.replace(bad, "")
