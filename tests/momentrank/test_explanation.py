"""What took what, for one query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from momentrank import UsageError, iter_calc, nDCG
from momentrank.cli.page import page
from momentrank.explanation import explain
from momentrank.segments import build_qrels, build_run

QRELS = build_qrels(
    ["p", "q", "q", "q"], ["v", "v", "v", "w"], [0, 0, 20, 5], [9, 10, 30, 9], [1, 2, 4, 0]
)
RUN = build_run(["q"] * 4 + ["p"], ["v", "w", "v", "v", "v"], [19, 5, 1, 1, 0], [30, 9, 10, 9, 9])


def test_every_result_is_shown_with_what_it_took():
    found = explain(QRELS, RUN, "q", 0.5, 10)
    rows = [(r.rank, r.taken, round(r.iou, 3), r.level) for r in found.ranking]
    assert rows == [(1, 0, 0.909, 4), (2, 2, 1.0, 0), (3, 1, 0.9, 2), (4, None, 0.0, None)]
    assert [(k.level, k.rank) for k in found.truth] == [(4, 1), (2, 3), (0, 2)]
    assert found.judged == 3
    assert found.ranking[0].gain == 4.0
    assert found.ranking[2].gain == 2 / 2.0


@pytest.mark.parametrize("cutoff", [1, 2, 3, 4])
def test_the_last_line_is_the_measure(cutoff):
    found = explain(QRELS, RUN, "q", 0.5, cutoff)
    per_query = {m.query_id: m.value for m in iter_calc([nDCG(iou=0.5) @ cutoff], QRELS, RUN)}
    assert found.ranking[-1].ndcg == per_query["q"]
    assert len(found.ranking) == cutoff


def test_a_query_without_results_shows_its_truth():
    found = explain(QRELS, build_run(["p"], ["v"], [0], [1]), "q", 0.5, 10)
    assert found.ranking == []
    assert [known.rank for known in found.truth] == [None] * 3


def test_an_unknown_query_is_a_clear_error():
    with pytest.raises(UsageError, match="the qrels have no query 'x'"):
        explain(QRELS, RUN, "x", 0.5, 10)


@given(st.text(min_size=1))
def test_a_page_shows_names_as_text(name):
    bad = f"<script>{name}"
    qrels, run = build_qrels([bad], [bad], [0], [0], [4]), build_run([bad], [bad], [0], [0])
    made = page(explain(qrels, run, bad, 0.5, 10), {"qrels": bad})
    assert "<script>" not in made
    assert "http" not in made.replace(bad, "")
