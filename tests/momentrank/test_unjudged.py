"""Bounds and expected values of unjudged results, against all assignments of levels."""

import random
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from oracle import COUNTS, MODELS, Judged, Result, assignable, differences, score_unjudged
from scorer import largest_difference, measure_of, scores, segments, unjudged_cases

import momentrank as mr
from momentrank import AP, P, R, UsageError, mIoU, nDCG
from momentrank.formats import FormatError
from momentrank.segments import build_qrels, build_run
from momentrank.unjudged import DRAWS, Rates

RATES = [(1, 2, 1, 0.2), (1, 2, 3, 0.3), (3, None, 2, 0.25)]
"""For ranks 1 and 2, and for all below."""
BY_RANK = [{0: 0.5, 1: 0.2, 3: 0.3}] * 2 + [{0: 0.75, 2: 0.25}] * 10


def test_bounds_are_the_highest_of_all_assignments():
    for case in islice(unjudged_cases(35), 500):
        name, params, convention, qrels, run = case
        expected = score_unjudged(name, params, qrels, run, convention)
        assert largest_difference(scores(*case, "bounds"), expected) < 1e-9, case


def test_expected_values_weigh_all_assignments():
    """Of up to 256 combinations; there are four levels."""
    for case in islice(unjudged_cases(36), 200):
        name, params, convention, qrels, run = case
        short = {query: rows[:4] for query, rows in run.items()}
        expected = score_unjudged(name, params, qrels, short, convention, BY_RANK)
        found = scores(name, params, convention, qrels, short, RATES)
        assert largest_difference(found, expected) < 1e-9, case


def pairs_of_lists(seed):
    """Yield measures, a query's judged segments, two lists that share results, and the levels."""
    rng = random.Random(seed)
    for name, params, convention, qrels, run in unjudged_cases(seed):
        query = rng.choice(list(qrels))
        first, others = run.get(query, []), [row for rows in run.values() for row in rows]
        second = rng.sample(first, len(first)) + rng.sample(others, min(2, len(others)))
        second = second[: rng.randrange(1, 8)]
        if convention == "paper":  # which removes repeats
            first, second = (list(dict.fromkeys(rows)) for rows in (first, second))
        own = {"dcg": "exp-log2", "strict": True} if convention == "tvr-ranking" else {}
        own = own | params if params.get("match", MODELS[name][0]) == "iou" else params
        top = max([params.get("rel", 1), *(segment.level for segment in qrels[query])])
        match = "video" if name == "VR" else own.get("match", MODELS[name][0])
        is_range = isinstance(own.get("iou"), str)
        counts = convention != "paper" or name in COUNTS or any(s.level >= 1 for s in qrels[query])
        if counts and not (is_range or not first or not second):
            open_ = [len(assignable(match, own, qrels[query], rows)) for rows in (first, second)]
            if (top + 1) ** sum(open_) <= 1000:
                yield measure_of(name, params), convention, own, qrels[query], (first, second), top


def test_bounds_of_differences_are_those_of_all_assignments():
    """Those of AP and nDCG may be wider in few cases."""
    exact = []
    for case in islice(pairs_of_lists(37), 500):
        measure, convention, own, judged, lists, top = case
        found = list(differences(measure.NAME, own, judged, lists, top))
        qrels = segments({"q": judged}, build_qrels, value=True)
        runs = {name: {"": segments({"q": rows}, build_run, value=False)}
                for name, rows in zip("ab", lists, strict=True)}  # fmt: skip
        evaluator = mr.Evaluator([measure], qrels, convention)
        [(low, high)] = evaluator.bound_differences(runs, [("a", "b")]).values()
        assert low <= min(found) + 1e-9, case
        assert high >= max(found) - 1e-9, case
        bounds = pytest.approx((min(found), max(found)), abs=1e-9)
        if measure.NAME in {"AP", "nDCG"}:
            exact.append(bounds == (low, high))
        else:
            assert (low, high) == bounds, case
    assert len(exact) > 100
    assert sum(exact) / len(exact) > 0.9


def test_a_run_does_not_differ_from_itself():
    measures = [nDCG(iou=0.5) @ 10, AP(iou=0.5), R(iou=0.5) @ 5, "AP(iou=0.5:0.7:0.1)"]
    compared = mr.compare(QRELS, {"a": RUN, "b": RUN}, measures, unjudged="bounds")
    assert set(compared.bounds.values()) == {(0.0, 0.0)}


LIST = [Result(f"v{n}", 0.0, 10.0) for n in range(7)]
JUDGED = [Judged("v1", 0.0, 10.0, 3), Judged("w", 0.0, 10.0, 3), Judged("x", 0.0, 10.0, 2)]


@pytest.mark.parametrize("name", ["nDCG", "AP", "P"])
def test_more_combinations_are_drawn(name):
    assert 4 ** (len(LIST) - 1) > DRAWS
    case = name, {"iou": 0.5, "cutoff": 7}, {"q": JUDGED}, {"q": LIST}, "paper"
    expected = score_unjudged(*case, BY_RANK)
    found = scores(name, case[1], "paper", *case[2:4], RATES)
    assert found == pytest.approx(expected, abs=0.004)


def test_a_result_that_nobody_could_call_relevant_has_no_bounds():
    judged = {"q": [Judged("v", 0.0, 10.0, 1)]}
    empty = {"q": [Result("w", 5.0, 5.0), Result("v", 0.0, 10.0)]}
    for name, params in (("P", {"iou": 0.5}), ("R", {"iou": 0.5}), ("P", {"match": "overlap"})):
        both = [scores(name, params | {"cutoff": 2}, "paper", judged, empty, each)["q"]
                for each in (None, "bounds")]  # fmt: skip
        assert both[0] == both[1]
    seen = {
        "q": [Result("w", 0.0, 1.0), Result("w", 5.0, 6.0)]
    }  # the second window meets the first
    assert scores("P", {"match": "tol", "cutoff": 2}, "paper", judged, seen, "bounds") == {"q": 0.5}


def test_a_malformed_result_has_no_bounds(tmp_path, capsys):
    from momentrank.cli.main import main

    (tmp_path / "my.qrels").write_text("q Q0 v 0 10 1\n")
    (tmp_path / "my.run").write_text("q Q0 v 0 10 1 .9 t\nq Q0 w 9 3 2 .8 t\nq Q0 x 0 9 3 .7 t\n")
    files = map(str, (tmp_path / "my.qrels", tmp_path / "my.run"))
    measures = "P(iou=0.5)@3", "P(match='bin')@3", "P(match='tol')@3", "VR@3"
    assert main(["evaluate", *files, *measures, "--unjudged", "bounds", "--lenient"]) == 0
    values = [line.split("\t")[2:] for line in capsys.readouterr().out.splitlines()[-4:]]
    assert values == [["0.3333", "0.6667"]] * 3 + [["1.0000", "1.0000"]]


QRELS = [("q1", "v", 0, 10, 3), ("q1", "v", 20, 30, 0), ("q2", "v", 0, 10, 1)]
RUN = [("q1", "v", 20, 30, 0.9), ("q1", "w", 0, 10, 0.8), ("q2", "v", 0, 10, 0.7)]
MEASURES = [nDCG(iou=0.5) @ 10, P(iou=0.5) @ 2, "Judged(iou=0.5)@2"]


def test_evaluate_has_both_values():
    result = mr.evaluate(QRELS, RUN, MEASURES, unjudged="bounds")
    log3 = np.log2(3)
    # Level 3 in the second place, of two of level 3.
    assert result.upper["nDCG(iou=0.5)@10"] == pytest.approx((1 / log3 / (1 + 1 / log3) + 1) / 2)
    assert result.upper["P(iou=0.5)@2"] == 0.5
    assert "Judged(iou=0.5)@2" not in result.upper
    assert result["P(iou=0.5)@2"] == 0.25, "unjudged results are not relevant, as without bounds"
    frame = result.to_frame()
    assert list(frame.columns) == ["measure", "value", "upper"]
    assert frame["upper"].isna().tolist() == [False, False, True]
    queries = result.to_frame(per_query=True)
    assert queries["P(iou=0.5)@2 upper"].tolist() == [0.5, 0.5]
    rates = mr.evaluate(QRELS, RUN, MEASURES, unjudged=[(1, 5, 2, 0.5)])
    assert rates.expected["P(iou=0.5)@2"] == pytest.approx((0.25 + 0.5) / 2)
    assert "expected" in str(rates)
    frame = pd.DataFrame({"level": [2], "share": 0.5, "rank_low": 1, "rank_high": [None]})
    for kind in (object, "float64", "Int64"):  # the last is that of an audit's table
        frame["rank_high"] = frame["rank_high"].astype(kind)
        assert mr.evaluate(QRELS, RUN, MEASURES, unjudged=frame).expected == rates.expected


def test_an_evaluator_has_them_too():
    evaluator = mr.evaluator(MEASURES, QRELS)
    upper = evaluator.calc_aggregate(RUN, "bounds")
    assert upper[P(iou=0.5) @ 2] == 0.5
    assert {metric.value for metric in evaluator.iter_calc(RUN, "bounds")} == {
        metric.value for metric in evaluator.calc(RUN, "bounds").per_query
    }


def test_repeats_of_a_judged_moment_are_unjudged_as_in_judged():
    run = [("q2", "v", 0, 10, 0.9), ("q2", "v", 1, 10, 0.8)]
    result = mr.evaluate(QRELS[2:], run, ["P(iou=0.5)@2", "Judged(iou=0.5)@2"], unjudged="bounds")
    assert (result.upper["P(iou=0.5)@2"], result["Judged(iou=0.5)@2"]) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("measure", "convention", "words"),
    [
        ("MAiSP", "paper", "over seconds"),
        ("nDCG(iou=0.5,judged_only=True)@5", "paper", r"name nDCG\(iou=0.5\)@5"),
        ("Judged(iou=0.5)@5", "paper", "no measure"),
        ("NumRel", "paper", "no measure"),
        ("nDCG(iou=0.5)@5", "spr", "use the convention paper"),
        ("R@1,0.5", "charades", "use the convention paper"),
        ("AP(match='tol')", "sh-eval", "use the convention paper"),
    ],
)
def test_what_has_no_bounds_says_so(measure, convention, words):
    with pytest.raises(UsageError, match=words):
        mr.evaluate(QRELS, RUN, [measure], convention, unjudged="bounds")


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ([], "no rate for rank 2"),
        ([(1, 1, 2, 0.5)], "no rate for rank 2"),
        ([(3, None, 2, 0.5)], "no rate for rank 2"),
        ([(1, 5, 2, 0.5), (5, None, 2, 0.5)], "rank 5 is in two ranges"),
        ([(1, 5, 2, 0.5), (1, 5, 2, 0.1)], "appears twice"),
        ([(1, 5, 2, 0.5), (1, 5, 1, 0.6)], "do not sum to 1"),
        ([(1, 5, 2, 0.5), (1, 5, 0, 0.6)], "do not sum to 1"),
        ([(0, 5, 2, 0.5)], "whole numbers from 1 up"),
        ([(4, 3, 2, 0.5)], "whole numbers from 1 up"),
        ([(1, 5, 1.5, 0.5)], "level must be"),
        ([(1, 5, 2, 1.5)], "share must be"),
        ([(1, 5, 2, float("nan"))], "share must be"),
        ([(1, 5, 2)], "row 0: must be rank_low"),
        ([(1, 5, 2, "many")], "row 0: share must be a number"),
    ],
)
def test_rates_that_contradict_themselves_are_refused(rates, words):
    with pytest.raises(UsageError, match=words):
        mr.evaluate(QRELS, RUN, MEASURES, unjudged=rates)


def test_what_is_neither_bounds_nor_rates_is_refused():
    with pytest.raises(UsageError, match="'bounds' or rates, not 5"):
        mr.evaluate(QRELS, RUN, MEASURES, unjudged=5)


def test_rates_are_read_from_a_file(tmp_path):
    path = tmp_path / "rates.csv"
    path.write_text("level,rank_low,rank_high,share,note\n2,1,5,.5,x\n1,1,5,.1,\n2,6,,.25,\n")
    rates = Rates.read(path)
    assert rates.levels == [0, 1, 2]
    found = rates.of(np.array([5, 6, 900]))
    assert found.ravel() == pytest.approx([0.4, 0.1, 0.5, 0.75, 0, 0.25, 0.75, 0, 0.25])
    for text, words in (
        ("rank_low,level,share\n", "no columns 'rank_high'"),
        ("rank_low,rank_high,level,share,share\n", "2 columns 'share'"),
        ("rank_low,rank_high,level,share\n", "no rates"),
        ("rank_low,rank_high,level,share\n1,2,3,.5\n1,x,3,.5\n", "line 3: rank_high .*'x'"),
        ("rank_low,rank_high,level,share\n1,2,1_0,.5\n", "line 2: level .*'1_0'"),
        ("rank_low,rank_high,level,share\n1,2,3,2\n", "rates.csv, line 2.*share"),
    ):
        path.write_text(text)
        with pytest.raises(FormatError, match=words):
            mr.evaluate(QRELS, RUN, MEASURES, unjudged=path)


def test_a_frame_of_rates_has_all_columns():
    frame = pd.DataFrame({"rank_low": [1], "level": 2, "share": 0.5})
    with pytest.raises(FormatError, match="no columns 'rank_high'"):
        mr.evaluate(QRELS, RUN, MEASURES, unjudged=frame)


def test_qrels_without_a_relevant_moment_allow_the_lowest_relevant_level():
    qrels = [("q", "w", 50, 60, 1)]
    run = [("q", "w", 0, 10, 0.9)]
    measures = [P(iou=0.5, rel=2) @ 1, R(iou=0.5) @ 1, mIoU]
    assert set(mr.evaluate(qrels, run, measures, unjudged="bounds").upper.values()) == {1.0}
    none = mr.evaluate([("q", "w", 50, 60, 0)], run, measures, unjudged="bounds")
    assert none.left_out == ["q"]
    assert np.isnan([*none.values(), *none.upper.values()]).all()


def test_compare_says_what_depends_on_unjudged_results():
    runs = {"a": RUN, "b": [*RUN[:1], ("q2", "x", 0, 5, 0.9)], "c": RUN[:1]}
    frame = mr.compare(QRELS, runs, ["P(iou=0.5)@2"], unjudged="bounds").to_frame()
    assert frame["within_unjudged"].tolist() == [True, False, True]
    assert frame["unjudged_low"].tolist() == pytest.approx([-0.5, -0.5, -0.25])
    assert frame["unjudged_high"].tolist() == pytest.approx([0.0, -0.25, 0.0])
    with pytest.raises(UsageError, match="'bounds'"):
        mr.compare(QRELS, runs, ["P(iou=0.5)@2"], unjudged="rates.csv")
