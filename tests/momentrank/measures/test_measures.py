"""Measures as values: their names, their parameters, and what is said of wrong ones."""

import pydoc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momentrank
from momentrank import (
    AP,
    RR,
    VR,
    Judged,
    MeasureError,
    P,
    R,
    Recall,
    conventions,
    mIoU,
    nDCG,
    parse_measure,
)
from momentrank.measures import REGISTRY
from momentrank.measures.params import Choice, Number, Threshold, Whole
from momentrank.measures.parse import parse_measures
from momentrank.segments import build_qrels, build_run


@st.composite
def measures(draw):
    measure = draw(st.sampled_from(list(REGISTRY.values())))
    match = draw(st.sampled_from(["iou", "overlap", "bin", "tol", "maxiou"]))
    params = {}
    for name, param in measure.PARAMS.items():
        own = getattr(measure, "OWN", {})
        if any(name in names and model != match for model, names in own.items()):
            continue
        if isinstance(param, Whole):
            value = draw(st.integers(1, 50))
        elif isinstance(param, Choice):
            value = match if name == "match" else draw(st.sampled_from(param.choices))
        else:
            assert isinstance(param, Number)
            ranges = ["0.5:0.95", "0.1:0.3:0.1"] if isinstance(param, Threshold) else []
            value = draw(st.sampled_from([0.3, 0.5, 1, 0.123456789, *ranges]))
        if param.required or name in {"match", "iou"} or draw(st.booleans()):
            params[name] = value
    if "match" in params and not measure.PARAMS["match"].accepts(match):
        del params["match"]
        params = {k: v for k, v in params.items() if k not in {"once", "bin", "tol", "seen"}}
        params.setdefault("iou", 0.5) if "iou" in measure.PARAMS else None
    return type(measure)(**params)


@given(measures())
def test_the_name_of_a_measure_is_read_as_that_measure(measure):
    try:
        measure.validate_params()
    except MeasureError:
        return
    again = parse_measure(repr(measure))
    assert again == measure
    assert hash(again) == hash(measure)
    assert again.settings() == measure.settings()


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("nDCG(iou=0.5)@10", nDCG(iou=0.5) @ 10),
        (" nDCG( dcg='exp-log2', iou = .5 ) @ 10 ", nDCG(iou=0.5, dcg="exp-log2") @ 10),
        ("NDCG@20,IoU>=0.5", nDCG(iou=0.5) @ 20),
        ("NDCG@20,IoU\u22650.5", nDCG(iou=0.5) @ 20),
        ("R@5,0.7", R(iou=0.7) @ 5),
        ("R@1, IoU=0.7", R(iou=0.7) @ 1),
        ("R@1,IoU>=0.5", R(iou=0.5, strict=False) @ 1),
        ("R@1,IoU>0.5", R(iou=0.5, strict=True) @ 1),
        ("R1@0.5", R(iou=0.5) @ 1),
        ("R1,IoU=.5", R(iou=0.5) @ 1),
        ("mAP@0.5", AP(iou=0.5)),
        ("AP@.75", AP(iou=0.75)),
        ("mAP", AP(iou="0.5:0.95")),
        ("mAP@[.5:.95]", AP(iou="0.5:0.95")),
        ("mAP@0.5:0.9:0.1", AP(iou="0.5:0.9:0.1")),
        ("AP(iou=.50:.95:0.05)", AP(iou="0.5:0.95")),
        ("AP(iou='.5:.95')@10", AP(iou="0.5:0.95") @ 10),
        ("ndcg@10", nDCG(iou=0.5) @ 10),
        ("nDCG(iou=.3:.7)@10", nDCG(iou="0.3:0.7") @ 10),
        ("ndcg(iou=0.5)@10", nDCG(iou=0.5) @ 10),
        ("miou", mIoU),
        ("MRR(iou=.5)", RR(iou=0.5)),
        ("vr@5", VR @ 5),
        ("recall(iou=.5)@10", Recall(iou=0.5) @ 10),
    ],
)
def test_names_are_read(text, measure):
    assert parse_measure(text) == measure


def test_defaults_are_not_shown_and_the_order_is_always_the_same():
    assert repr(AP(tol=30.0, bin=300, match="tol")) == "AP(match='tol',tol=30)"
    assert repr(nDCG(judged_only=False, iou=1.0, cutoff=10)) == "nDCG(iou=1)@10"
    assert AP(match="tol") == AP(match="tol", tol=15)


def test_what_a_convention_would_change_is_shown_where_it_is_set():
    explicit = nDCG(strict=False, dcg="log2", iou=0.5, cutoff=10)
    assert repr(explicit) == "nDCG(iou=0.5,dcg='log2',strict=False)@10"
    assert explicit != nDCG(iou=0.5) @ 10
    changes = conventions.get("tvr-ranking").changes
    assert explicit.settings(changes)["dcg"] == "log2"
    assert (nDCG(iou=0.5) @ 10).settings(changes)["dcg"] == "exp-log2"


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (R(iou=np.float64(0.55)) @ np.int64(1), "R(iou=0.55)@1"),
        (R(iou=np.float32(0.55), strict=np.bool_(False)) @ 1, "R(iou=0.55,strict=False)@1"),
        (AP(iou=np.arange(0.5, 1, 0.05)[3]), "AP(iou=0.65)"),
        (AP(match=np.str_("tol"), tol=np.float64(30)), "AP(match='tol',tol=30)"),
        (AP(iou=1 / 3), "AP(iou=0.3333333333333333)"),
    ],
)
def test_numbers_of_numpy_are_plain_numbers(measure, name):
    assert repr(measure) == name
    assert parse_measure(name) == measure
    assert all(type(value).__module__ == "builtins" for value in measure.params.values())


@pytest.mark.parametrize("name", ["R", "MeanP"])
def test_outputs_show_the_comparison_of_r_and_meanp(name):
    qrels = build_qrels(["q"], ["v"], [0], [10], [1])
    run = build_run(["q"], ["v"], [0], [5])
    scores = momentrank.calc_aggregate([f"{name}(iou=0.5)@1"], qrels, run)
    assert list(map(repr, scores)) == [f"{name}(iou=0.5,strict=True)@1"]
    assert scores[f"{name}(iou=0.5)@1"] == scores[parse_measure(f"{name}(iou=0.5)@1")] == 0
    with pytest.raises(KeyError):
        scores["AxIoU@1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDG(iou=0.5)@10", "there is no measure 'nDG'; did you mean nDCG?"),
        ("AP(iou=0.9:0.5)", "0.5:0.9:0.1, not '0.9:"),
        ("nDCG", "nDCG needs iou: nDCG\\(iou=0.5\\)"),
        ("P@10", r"P@10 needs iou: P\(iou=0.5\)@10"),
        ("AxIoU", "AxIoU needs a cutoff: AxIoU@10"),
        ("nDCG(iuo=0.5)@10", "nDCG has no parameter 'iuo'; did you mean iou?"),
        ("NumQ(x=1)", "NumQ has no parameter 'x'; its parameters: none"),
        ("nDCG(iou=0.5,iou=0.7)@10", "a parameter appears twice"),
        ("NCxIoU(stop='err',p=0.3)@5", "p belongs to stop='rbp'"),
        ("DCG@10,IoU>=0.5", "is not a measure"),
        ("mesure", "there is no measure 'mesure'; use one of AP, AUARC"),
        ("nDCG(iou=1.5)@10", "iou must be a number from 0 to 1 or a range in whole steps"),
        ("nDCG(iou=True)@10", "0.5:0.9:0.1, not True"),
        ("nDCG(iou=0.5)@0", "cutoff must be 1, 2, 3, ... 10000, not 0"),
        ("nDCG(iou=0.5,strict=1)@2", "strict must be False or True, not 1"),
        ("nDCG(iou=0.5,dcg='ln')@2", "dcg must be 'log2' or 'exp-log2', not 'ln'"),
        ("P(match='tol',bin=5)@10", "bin belongs to match='bin'"),
        ("nDCG(0.5)@10", "is not a measure; write it like"),
        ("nDCG(iou=0.5)@K", "the cutoff after @ must be a whole number"),
        ("P(match=tol)@5", "tol is not a value; write 'tol'$"),
        ("nDCG(iou=__import__('os'))@1", "is not a value"),
        ("nDCG(**{'iou': 0.5})@1", "has no parameter 'None'"),
        ("(" * 300, "is not a measure"),
    ],
)
def test_what_is_wrong_is_said(text, message):
    with pytest.raises(MeasureError, match=message):
        parse_measure(text)


def test_all_wrong_names_are_told_at_once_and_repeats_are_one():
    with pytest.raises(MeasureError) as caught:
        parse_measures(["nDG@1", "AxIoU@3", "P@10", "XY"])
    assert len(str(caught.value).splitlines()) == 3
    assert parse_measures(["R@1,0.5", "R(iou=0.5)@1"]) == [R(iou=0.5) @ 1]


def test_a_measure_says_how_many_results_it_looks_at():
    assert (nDCG(iou=0.5) @ 10).depth() == 10
    assert nDCG(iou=0.5).depth() is None
    assert (nDCG(iou=0.5, judged_only=True) @ 10).depth() is None
    assert (P(match="bin") @ 10).depth() is None
    assert (Judged(match="tol") @ 10).depth() == 10
    assert momentrank.NumRet.depth() is None
    assert mIoU.depth() == 1
    assert (VR @ 10).depth() is None


def test_help_tells_the_parameters():
    assert "iou: a number from 0 to 1 or a range" in pydoc.render_doc(nDCG)
