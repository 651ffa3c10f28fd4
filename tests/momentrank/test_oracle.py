"""Oracle and scorer on examples that were worked by hand."""

import math
from fractions import Fraction
from itertools import islice, pairwise

import pytest
import scorer
from oracle import SETTINGS, Judged, Result, case, cases, iou, mean, score

NOT_CONDENSED = {"NumRet", "Judged"}
LOG3 = math.log2(3)


def segments(*rows):
    """Make judged segments of video v from (start, end, level) or, at level 1, (start, end)."""
    return [Judged("v", row[0], row[1], row[2] if row[2:] else 1) for row in rows]


def results(*rows):
    return [Result("v", start, end) for start, end in rows]


def value(name, params, judged, ranked, convention="paper"):
    """Return the oracle's value; the scorer must agree."""
    return values(name, params, [(judged, ranked)], convention)[0]


def values(name, params, queries, convention="paper"):
    """Return the oracle's values of many queries, each with its segments and results."""
    qrels = {str(n): judged for n, (judged, _) in enumerate(queries)}
    run = {str(n): ranked for n, (_, ranked) in enumerate(queries)}
    expected = score(name, params, qrels, run, convention)
    if not ("judged_only" in params and name in NOT_CONDENSED):  # the scorer refuses these
        ours = scorer.scores(name, params, convention, qrels, run)
        assert ours.keys() == expected.keys()
        assert all(abs(ours[query] - figure) <= 1e-12 for query, figure in expected.items())
    return list(expected.values())


# ---------------------------------------------------------------------- IoU and its matching


@pytest.mark.parametrize(
    ("result", "segment", "expected"),
    [
        ((0, 2), (1, 3), 1 / 3),
        ((0, 1), (1, 2), 0),  # touching
        ((0, 1), (5, 9), 0),
        ((2, 4), (2, 4), 1),
        ((3, 3), (3, 3), 0),  # no union
        ((3, 3), (0, 9), 0),  # no intersection
    ],
)
def test_iou(result, segment, expected):
    assert iou(Result("v", *result), Judged("v", *segment, 1)) == expected
    assert iou(Result("w", *result), Judged("v", *segment, 1)) == 0


def test_iou_rounds_as_the_order_of_operations_says():
    assert iou(Result("v", 0.1, 0.7), Judged("v", 0.3, 0.9, 1)) == (0.7 - 0.3) / (
        (0.7 - 0.1) + (0.9 - 0.3) - (0.7 - 0.3)
    )


FOUND_242 = [(10, 20), (0, 10), (20, 30)]
FIGURE_2 = segments((0, 10, 4), (10, 20, 2), (20, 30, 2))


@pytest.mark.parametrize(("gain", "expected"), [("log2", 0.8821), ("exp-log2", 0.7592)])
def test_figure_2_of_the_tvr_ranking_paper(gain, expected):
    params = {"iou": 0.5, "cutoff": 3, "dcg": gain}
    assert round(value("nDCG", params, FIGURE_2, results(*FOUND_242)), 4) == expected


def test_dcg_is_what_ndcg_divides():
    params = {"iou": 0.5, "cutoff": 3}
    assert value("DCG", params, FIGURE_2, results(*FOUND_242)) == pytest.approx(2 + 4 / LOG3 + 1)


def test_ndcg_ideal_is_the_k_highest_levels():
    params = {"iou": 0.5, "cutoff": 1}
    assert value("nDCG", params, FIGURE_2, results((10, 20))) == 2 / 4
    assert value("nDCG", params, FIGURE_2, results((0, 10))) == 1
    assert value("nDCG", params | {"dcg": "exp-log2"}, FIGURE_2, results((10, 20))) == 3 / 15


def test_a_segment_is_taken_once_and_level_0_takes_part():
    twice = results((0, 10), (0, 10))
    params = {"iou": 0.5, "cutoff": 2}
    assert value("DCG", params, segments((0, 10, 4)), twice) == 4
    # The first takes the better IoU, of level 0: nothing. The second gets the rest.
    assert value("DCG", params, segments((0, 10, 0), (0, 9, 4)), twice) == 4 / LOG3
    assert value("P", params, segments((0, 10, 0), (0, 9, 4)), twice) == 1 / 2
    assert value("Judged", params, segments((0, 10, 0), (0, 9, 4)), twice) == 1


def test_an_iou_tie_goes_to_the_higher_level():
    around = segments((0, 2, 1), (2, 4, 3))
    params = {"iou": 1 / 3, "cutoff": 2}
    assert value("DCG", params, around, results((1, 3), (0, 2))) == 3 + 1 / LOG3
    assert value("DCG", params, around[::-1], results((1, 3), (0, 2))) == 3 + 1 / LOG3


def test_a_tie_of_iou_and_level_goes_to_the_first_of_the_file():
    around = segments((0, 2), (2, 4))
    params = {"iou": 1 / 3, "cutoff": 2}
    assert value("DCG", params, around, results((1, 3), (0, 2))) == 1
    assert value("DCG", params, around[::-1], results((1, 3), (0, 2))) == 1 + 1 / LOG3


def test_greedy_is_not_the_best_assignment():
    # (0, 6) takes (0, 5), the better one of two; (0, 5) is then left with IoU 3/5 < 0.7.
    params = {"iou": 0.7, "cutoff": 2}
    assert value("P", params, segments((0, 5), (2, 6)), results((0, 6), (0, 5))) == 1 / 2


def test_the_threshold_counts_in_the_paper_and_not_in_the_released_scorer():
    third = (segments((0, 3, 2)), results((0, 1)))
    params = {"iou": 1 / 3, "cutoff": 1}
    for name in ("nDCG", "P", "AP", "Judged"):
        assert value(name, params, *third) == 1, name
        assert value(name, params | {"strict": True}, *third) == 0, name
    assert value("nDCG", params, *third, "tvr-ranking") == 0
    assert value("nDCG", params | {"iou": 0.3}, *third, "tvr-ranking") == 1


def test_tvr_ranking_has_exponential_gain():
    params = {"iou": 0.5, "cutoff": 3}
    assert round(value("nDCG", params, FIGURE_2, results(*FOUND_242), "tvr-ranking"), 4) == 0.7592


# ------------------------------------------------------------------------- measures over IoU

ONE = segments((0, 10))
RISING = results((0, 2), (0, 1), (0, 6))  # IoU 0.2, 0.1, 0.6


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("AxIoU", {"cutoff": 3}, (0.2 + 0.2 + 0.6) / 3),
        ("AxIoU", {"cutoff": 1}, 0.2),
        ("AxIoU", {"cutoff": 5}, (0.2 + 0.2 + 0.6 + 0.6 + 0.6) / 5),  # a short list keeps its best
        ("NCxIoU", {"cutoff": 5, "stop": "uniform"}, (0.2 + 0.2 + 0.6 + 0.6 + 0.6) / 5),
        # half of them leave at 1, a quarter at 2, the rest at 3
        ("NCxIoU", {"cutoff": 3, "stop": "rbp", "p": 0.5}, 0.5 * 0.2 + 0.25 * 0.2 + 0.25 * 0.6),
        ("NCxIoU", {"cutoff": 2, "stop": "rbp"}, 0.2),
        ("NCxIoU", {"cutoff": 3, "stop": "rbp"}, 0.2 * 0.2 + 0.16 * 0.2 + 0.64 * 0.6),
        ("NCxIoU", {"cutoff": 3, "stop": "err"}, 0.2 * 0.2 + 0.08 * 0.2 + 0.72 * 0.6),
        ("NCxIoU", {"cutoff": 4, "stop": "err"}, 0.2 * 0.2 + 0.08 * 0.2 + 0.72 * 0.6),
        ("DCG", {"cutoff": 3, "match": "maxiou"}, 0.2 + 0.1 / LOG3 + 0.6 / 2),
        ("R", {"cutoff": 3, "iou": 0.5}, 1),
        ("R", {"cutoff": 2, "iou": 0.5}, 0),
        ("R", {"cutoff": 3, "iou": 0.6}, 0),  # greater than theta
        ("R", {"cutoff": 3, "iou": 0.6, "strict": False}, 1),
        # precision 1/1, 1/2, 2/3, and where the list has ended 2/4
        ("MeanP", {"cutoff": 3, "iou": 0.1}, (1 + 1 / 2 + 2 / 3) / 3),
        ("MeanP", {"cutoff": 4, "iou": 0.1}, (1 + 1 / 2 + 2 / 3 + 2 / 4) / 4),
        ("MeanP", {"cutoff": 3, "iou": 0.1, "strict": False}, 1),
    ],
)
def test_measures_over_iou(name, params, expected):
    assert value(name, params, ONE, RISING) == pytest.approx(expected, abs=1e-15)


def test_mean_precision_matches_many_to_one():
    assert value("MeanP", {"cutoff": 2, "iou": 0.5}, ONE, results((0, 10), (0, 10))) == 1


def test_iou_is_with_relevant_segments_only():
    judged = segments((0, 10, 1), (0, 2, 0), (5, 10, 2))
    assert value("AxIoU", {"cutoff": 1}, judged, results((0, 2))) == 0.2
    assert value("AxIoU", {"cutoff": 1, "rel": 2}, judged, results((0, 2))) == 0
    assert value("R", {"cutoff": 1, "iou": 0.5, "rel": 2}, judged, results((0, 10))) == 0


# ----------------------------------------------------------------------- precision and kin


def test_average_precision_over_greedy_matches():
    judged = segments((0, 10), (20, 30, 2), (40, 50), (60, 70, 0))
    ranked = results((0, 10), (0, 10), (60, 70), (20, 30))
    assert value("AP", {"iou": 0.5}, judged, ranked) == (1 / 1 + 2 / 4) / 3
    assert value("AP", {"iou": 0.5, "cutoff": 3}, judged, ranked) == 1 / 3
    assert value("AP", {"iou": 0.5, "rel": 2}, judged, ranked) == 1 / 4
    assert value("AP", {"iou": 0.5, "rel": 3}, judged, ranked) == 0
    assert value("P", {"iou": 0.5, "cutoff": 10}, judged, ranked) == 2 / 10
    assert value("Judged", {"iou": 0.5, "cutoff": 10}, judged, ranked) == 3 / 10


def test_overlap_lets_average_precision_pass_1():
    judged = segments((0, 10), (100, 110, 0))
    ranked = results((5, 15), (0, 5), (10, 20), (100, 101), (9, 11))  # (10, 20) only touches
    overlap = {"match": "overlap"}
    assert value("AP", overlap, judged, ranked) == 1 + 1 + 3 / 5
    assert value("AP", overlap | {"once": True}, judged, ranked) == 1
    assert value("P", overlap | {"cutoff": 5}, judged, ranked) == 3 / 5
    assert value("P", overlap | {"cutoff": 5, "once": True}, judged, ranked) == 1 / 5
    assert value("Judged", overlap | {"cutoff": 5}, judged, ranked) == 4 / 5


def test_once_credits_all_that_a_result_overlaps():
    judged = segments((0, 10), (10, 20), (20, 30))
    ranked = results((5, 15), (12, 18), (19, 21))
    assert value("AP", {"match": "overlap", "once": True}, judged, ranked) == (1 + 2 / 3) / 3


def test_a_result_without_length_overlaps_nothing():
    for params in ({"match": "overlap"}, {"iou": 0.1}):
        assert value("P", params | {"cutoff": 1}, ONE, results((5, 5))) == 0
    assert value("P", {"match": "tol", "cutoff": 1}, ONE, results((5, 5))) == 1  # 15 s are watched


def test_bins_are_those_of_the_starts():
    judged = segments((10, 20), (290, 400), (650, 660, 0))  # bins 0, 0; 2 not relevant
    ranked = results((301, 310), (0, 5), (299, 600), (700, 710), (950, 960))  # 1, 0, 0, 2, 3
    params = {"match": "bin"}
    assert value("AP", params, judged, ranked) == 1 / 2  # one relevant bin, found second
    assert value("P", params | {"cutoff": 4}, judged, ranked) == 1 / 4
    assert value("Judged", params | {"cutoff": 4}, judged, ranked) == 2 / 4
    assert value("Judged", params | {"cutoff": 3}, judged, ranked) == 2 / 3  # merged: 1, 0, 2
    # Bins of 10 s: 1 and 29 are relevant, (299, 600) is third and begins in 29.
    assert value("AP", params | {"bin": 10}, judged, ranked) == 1 / 3 / 2
    assert value("P", {"match": "bin", "cutoff": 1}, judged, [Result("w", 0, 5)]) == 0


def test_tolerance_looks_from_the_start_only():
    judged = segments((14, 20), (100, 110, 0))
    tol = {"match": "tol", "cutoff": 1}
    assert value("P", tol, judged, results((0, 1))) == 1
    assert value("P", tol | {"tol": 14}, judged, results((0, 99))) == 0  # [0, 14) ends too early
    assert value("P", tol, judged, results((20, 30))) == 0
    assert value("Judged", tol, judged, results((86, 87))) == 1
    assert value("Judged", tol, judged, results((85, 999))) == 0


def test_tolerance_sees_every_window_or_what_was_relevant():
    judged = segments((20, 60))
    # [0, 15) meets nothing, but was seen, and with it where [10, 25) begins.
    ranked = results((0, 1), (10, 11), (25, 26), (40, 41), (70, 71))
    tol = {"match": "tol"}
    assert value("AP", tol, judged, ranked) == 1 / 3 + 2 / 4  # (25, 26), (40, 41)
    # Relevant content only: (10, 11) meets the segment, which is then seen to its end.
    assert value("AP", tol | {"seen": "relevant"}, judged, ranked) == 1 / 2
    # From the middle on: what lies before was not seen.
    middle = results((40, 41), (20, 21), (30, 31))
    assert value("P", tol | {"seen": "relevant", "cutoff": 3}, judged, middle) == 2 / 3
    assert value("P", tol | {"cutoff": 3}, judged, middle) == 2 / 3
    nearer = results((40, 41), (24, 25), (30, 31))  # [24, 39) meets neither; [30, 45) does
    assert value("P", tol | {"cutoff": 3}, judged, nearer) == 2 / 3


def test_other_videos_are_other_worlds():
    there = [Result("w", 0, 10)]
    for params in ({"iou": 0.1}, {"match": "overlap"}, {"match": "bin"}, {"match": "tol"}):
        assert value("AP", params, ONE, there) == 0
        assert value("AP", params, ONE, there + results((0, 10))) == 1 / 2


@pytest.mark.parametrize(
    ("name", "params", "whole", "condensed"),
    [
        ("P", {"iou": 0.5, "cutoff": 2}, 1 / 2, 1 / 2),  # what is left: level 1, level 0
        ("P", {"iou": 0.5, "cutoff": 1}, 0, 1),
        ("nDCG", {"iou": 0.5, "cutoff": 2}, 1 / LOG3, 1),
        ("AP", {"match": "overlap"}, 1 / 2, 1),
        ("AP", {"match": "bin", "bin": 50}, 1 / 2, 1),
        ("AP", {"match": "tol"}, 1 / 2, 1),
        ("AxIoU", {"cutoff": 2}, 1 / 2, 1),
        ("R", {"cutoff": 1, "iou": 0.5}, 0, 1),
        ("DCG", {"cutoff": 2, "match": "maxiou"}, 1 / LOG3, 1),
        ("MeanP", {"cutoff": 1, "iou": 0.5}, 0, 1),
        ("NumRet", {}, 3, 2),
        ("Judged", {"iou": 0.5, "cutoff": 2}, 1 / 2, 1),
    ],
)
def test_condensed_lists_are_without_the_unjudged(name, params, whole, condensed):
    judged = segments((0, 10), (200, 210, 0))
    ranked = results((100, 110), (0, 10), (200, 210))
    assert value(name, params, judged, ranked) == whole
    assert value(name, params | {"judged_only": True}, judged, ranked) == condensed


# ------------------------------------------------------- recall, ranks, videos, seconds, ranges


def test_recall_of_several_relevant_segments():
    judged = segments((0, 10), (20, 30, 2), (40, 50), (60, 70, 0))
    ranked = results((0, 10), (0, 10), (60, 70), (20, 30))
    assert value("Recall", {"iou": 0.5, "cutoff": 4}, judged, ranked) == 2 / 3
    assert value("Recall", {"iou": 0.5, "cutoff": 3}, judged, ranked) == 1 / 3
    assert value("Recall", {"iou": 0.5, "cutoff": 4, "rel": 2}, judged, ranked) == 1
    assert value("Recall", {"iou": 0.5, "cutoff": 4, "rel": 3}, judged, ranked) == 0
    by_bin = {"match": "bin", "bin": 20, "cutoff": 2}  # of the bins 0, 1, 2 the first two results
    assert value("Recall", by_bin, judged, results((1, 2), (3, 4), (25, 26))) == 2 / 3


def test_reciprocal_rank_of_the_first_relevant_result():
    judged = segments((0, 10), (60, 70, 0))
    ranked = results((60, 70), (5, 20), (0, 10), (0, 10))
    assert value("RR", {"iou": 0.5}, judged, ranked) == 1 / 3
    assert value("RR", {"iou": 0.5, "cutoff": 2}, judged, ranked) == 0
    assert value("RR", {"match": "overlap"}, judged, ranked) == 1 / 2
    assert value("RR", {"iou": 0.5, "judged_only": True}, judged, ranked) == 1 / 2
    assert value("RR", {"iou": 0.5}, judged, []) == 0


def test_mean_iou_is_that_of_the_first_result():
    judged = segments((0, 10), (0, 4, 0))
    assert value("mIoU", {}, judged, results((0, 4), (0, 10))) == 4 / 10
    assert value("mIoU", {}, judged, []) == 0


def test_video_recall_counts_videos():
    judged = [Judged("v", 0, 10, 1), Judged("w", 0, 10, 0)]
    ranked = [Result("w", 0, 10), Result("w", 20, 30), Result("v", 90, 99)]
    assert value("VR", {"cutoff": 1}, judged, ranked) == 0
    assert value("VR", {"cutoff": 2}, judged, ranked) == 1  # the second video, the third result
    assert value("VR", {"cutoff": 2, "rel": 2}, judged, ranked) == 0


def test_maisp_is_precision_in_seconds_over_recall_in_seconds():
    judged = segments((0, 10), (5, 20), (90, 99, 0))  # 20 relevant seconds
    # 5 of 10 seconds, recall .25; nothing new; 20 of 40, recall 1: .5 everywhere.
    assert value("MAiSP", {}, judged, results((-5, 5), (0, 5), (-5, 20))) == pytest.approx(0.5)
    # All of the first result, recall .25 (points 0 to 25): 1; then 20 of 40 seconds.
    expected = (26 * 1 + 75 * 20 / 40) / 101
    assert value("MAiSP", {}, judged, results((0, 5), (5, 40))) == pytest.approx(expected)
    # The rest of the relevant time is not found: 0 beyond recall .25.
    assert value("MAiSP", {}, judged, results((0, 5))) == pytest.approx(26 / 101)
    assert value("MAiSP", {"rel": 2}, judged, results((0, 5))) == 0
    assert value("MAiSP", {}, judged, results((5, 5))) == 0


def test_a_range_of_thresholds_is_averaged_over():
    judged, ranked = segments((0, 10)), results((0, 6.4))  # reaches .5, .55, .6 of ten
    assert value("AP", {"iou": "0.5:0.95"}, judged, ranked) == pytest.approx(3 / 10)
    assert value("R", {"iou": "0.1:0.7:0.2", "cutoff": 1}, judged, ranked) == pytest.approx(3 / 4)
    judged = segments((0, 10, 4), (20, 30, 1))
    ranked = results((0, 6.4), (20, 30))
    at_half, above = (4 + 1 / LOG3) / (4 + 1 / LOG3), (1 / LOG3) / (4 + 1 / LOG3)
    expected = (3 * at_half + 7 * above) / 10
    ours = value("nDCG", {"iou": "0.5:0.95", "cutoff": 2}, judged, ranked)
    assert ours == pytest.approx(expected)


# -------------------------------------------------------------------- counts, queries, means


def test_counts():
    judged = [*segments((0, 10), (5, 20, 2), (30, 40, 0)), Judged("w", 0, 1, 1)]
    ranked = [*results((0, 10), (0, 10), (35, 36)), Result("x", 0, 0.5)]
    expected = {
        "NumQ": 1,
        "NumRel": 3,
        "NumRet": 4,
        "NumRelRet": 2,
        "VideosRet": 2,
        "VideosRel": 2,
        "LengthRet": 21.5,
        "LengthRel": 26,
    }
    assert {name: value(name, {}, judged, ranked) for name in expected} == expected
    assert value("NumRelRet", {"iou": 1.0, "match": "iou"}, judged, ranked) == 1
    assert value("NumRelRet", {"match": "bin"}, judged, ranked) == 1
    assert value("NumRel", {"rel": 2}, judged, ranked) == 1


QRELS = {"found": ONE, "missing": ONE, "senseless": segments((0, 10, 0))}
RUN = {"found": results((0, 10)), "senseless": results((0, 10)), "unknown": results((0, 10))}


@pytest.mark.parametrize(
    ("convention", "queries", "average", "number"),
    [
        ("paper", ["found", "missing"], 1 / 2, 3),
        ("tvr-ranking", ["found", "senseless"], 1 / 2, 2),
    ],
)
def test_which_queries_count(convention, queries, average, number):
    params = {"iou": 0.5, "cutoff": 1}
    assert list(score("nDCG", params, QRELS, RUN, convention)) == queries
    assert mean("nDCG", params, QRELS, RUN, convention) == average
    assert mean("NumQ", {}, QRELS, RUN, convention) == number


def test_sh_eval_counts_the_queries_in_both():
    assert score("AP", {"match": "overlap"}, QRELS, RUN, "sh-eval") == {"found": 1, "senseless": 0}
    assert mean("AP", {"match": "overlap"}, QRELS, RUN, "sh-eval") == 1 / 2
    assert mean("NumRet", {}, QRELS, RUN, "sh-eval") == 2
    assert mean("AP", {"match": "overlap"}, QRELS, {}, "sh-eval") == 0


def test_a_measure_without_its_model_is_an_error():
    with pytest.raises(ValueError, match="not defined"):
        value("nDCG", {"match": "bin", "cutoff": 1}, ONE, [])
    with pytest.raises(ValueError, match="paperr"):
        value("AxIoU", {"cutoff": 1}, ONE, [], "paperr")


# ------------------------------------------------------------------------------ sh-eval


def sh(name, params, judged, ranked):
    return value(name, params, judged, ranked, "sh-eval")


def test_sh_eval_merges_what_overlaps_or_touches():
    judged = segments((20, 30), (0, 10), (10, 20), (50, 60), (31, 32), (52, 53, 0))
    assert sh("NumRel", {}, judged, []) == 3  # 0 to 30, 31 to 32, 50 to 60
    assert sh("LengthRel", {}, segments((0, 10), (5, 12), (20, 26)), []) == (12 + 6) / 2
    assert value("LengthRel", {}, segments((0, 10), (5, 12)), []) == 17
    assert sh("LengthRet", {}, judged, results((0, 10), (5, 12))) == 17 / 2


def test_sh_eval_overlap_is_closed_and_consumes_nothing():
    judged = segments((10, 20), (20, 30), (40, 50, 0))
    ranked = results((30, 35), (0, 9), (0, 10), (50, 55), (25, 40))
    overlap = {"match": "overlap"}
    assert sh("AP", overlap, judged, ranked) == 1 / 1 + 2 / 3 + 3 / 5  # one merged segment
    assert sh("NumRelRet", overlap, judged, ranked) == 3
    assert sh("P", overlap | {"cutoff": 10}, judged, ranked) == 3 / 10
    assert sh("Judged", overlap | {"cutoff": 5}, judged, ranked) == 4 / 5
    assert sh("Judged", overlap | {"cutoff": 10}, judged, ranked) == 4 / 10


def test_sh_eval_bins_are_all_that_are_touched():
    judged = segments((290, 600), (10, 20), (900, 901, 0))  # bins 0 and 1; 3 not relevant
    ranked = results((600, 1500), (299, 301), (0, 300))  # 2, 3, 4; 0, 1; nothing new
    by_bin = {"match": "bin"}
    assert sh("NumRel", by_bin, judged, ranked) == 2
    assert sh("NumRelRet", by_bin, judged, ranked) == 2
    assert sh("AP", by_bin, judged, ranked) == (1 / 4 + 2 / 5) / 2
    assert sh("P", by_bin | {"cutoff": 4}, judged, ranked) == 1 / 4
    assert sh("Judged", by_bin | {"cutoff": 5}, judged, ranked) == 3 / 5


def test_sh_eval_tolerance():
    judged = segments((20, 40), (40, 50), (200, 210, 0), (45, 60, 0))
    ranked = results(
        (5, 9),  # [5, 20) ends where the segment begins; unjudged
        (6, 9),  # hit: seen is [6, 50)
        (10, 12),  # meets it again: seen
        (49, 55),  # seen, although judged not relevant too
        (0, 6),  # [0, 15) meets nothing: unjudged
        (190, 200),  # non-relevant is looked for in [190, 200): unjudged
        (190, 201),  # not relevant
    )
    tol = {"match": "tol"}
    assert sh("NumRelRet", tol, judged, ranked) == 1
    assert sh("AP", tol, judged, ranked) == 1 / 2
    assert sh("P", tol | {"cutoff": 2}, judged, ranked) == 1 / 2
    assert sh("Judged", tol | {"cutoff": 7}, judged, ranked) == 4 / 7


def test_sh_eval_tolerance_lets_a_result_without_length_see_and_be_seen_nowhere():
    judged = segments((10, 30), (100, 110, 0), (50, 50))
    ranked = results((12, 20), (15, 15), (105, 105), (45, 46))
    tol = {"match": "tol"}
    # (15, 15) meets the segment within its 15 seconds, and itself nothing that was seen
    assert sh("NumRelRet", tol, judged, ranked) == 2
    assert sh("Judged", tol | {"cutoff": 4}, judged, ranked) == 2 / 4  # (105, 105) meets nothing
    assert sh("NumRel", tol, judged, ranked) == 2  # (50, 50) counts, and can't be met
    assert sh("NumRelRet", tol, judged, results((0, 5), (0, 0))) == 1  # but (0, 0) is a second


def test_sh_eval_maisp():
    judged = segments((10, 20), (40, 50), (45, 50, 0))
    # (5, 15) is played to 20: 5 of 15 seconds in vain; then 10 are, and (40, 45) is played to 50
    ranked = results((5, 15), (60, 70), (40, 45))
    assert sh("MAiSP", {}, judged, ranked) == pytest.approx((1 + 10 * 10 / 15 + 10 * 20 / 35) / 21)
    assert sh("MAiSP", {}, judged, results((5, 9))) == 0
    # of 250 relevant seconds the points are 2 seconds apart, and the last is out of reach
    assert sh("MAiSP", {}, segments((0, 250)), results((0, 250))) == 1 - 1 / 125


def test_sh_eval_tolerance_asks_whether_the_result_itself_was_seen():
    judged = segments((10, 30))
    # Before the hit's window, [2, 5) was not seen, though [2, 17) meets the segment: a hit.
    assert sh("NumRelRet", {"match": "tol"}, judged, results((6, 9), (2, 5))) == 2
    assert value("NumRelRet", {"match": "tol"}, judged, results((6, 9), (2, 5))) == 1
    # The window is seen to its end, past the segment's: [29, 44).
    after = segments((10, 30), (44, 60))
    assert sh("NumRelRet", {"match": "tol"}, after, results((29, 31), (43, 45))) == 1
    assert sh("NumRelRet", {"match": "tol"}, after, results((29, 31), (44, 45))) == 2
    # A window that meets two is seen to the end of the later one: [29, 60).
    both = segments((10, 30), (43, 60))
    assert sh("NumRelRet", {"match": "tol"}, both, results((29, 31), (59, 61))) == 1
    # Only hits are seen: (5, 6) meets nothing, and (12, 13) is a hit inside its window.
    assert sh("NumRelRet", {"match": "tol"}, segments((20, 30)), results((5, 6), (12, 13))) == 1
    assert value("NumRelRet", {"match": "tol"}, segments((20, 30)), results((5, 6), (12, 13))) == 0


# ------------------------------------------------------ what holds of every measure, and cases


@pytest.mark.parametrize("n", range(40))
def test_what_holds_of_every_setting(n):
    example = case(n, integer=n % 2 == 0)
    for name, params, convention in SETTINGS:
        scores = score(name, params, example.qrels, example.run, convention)
        assert scores.keys() <= example.qrels.keys()
        assert all(math.isfinite(v) and v >= 0 for v in scores.values())
        if name in {
            "nDCG",
            "R",
            "P",
            "MeanP",
            "AxIoU",
            "NCxIoU",
            "Judged",
            "RR",
            "Recall",
            "VR",
            "MAiSP",
            "mIoU",
        }:
            assert all(v <= 1 + 1e-12 for v in scores.values()), (name, params)


def test_cases_are_seeded_and_nasty():
    examples = list(islice(cases(1), 2000))
    assert examples == list(islice(cases(1), 2000))
    assert examples[7] == case(examples[7].seed)
    names = {trait for example in examples for trait in traits(example)}
    assert names == {
        "duplicated segment",
        "duplicated result",
        "no length",
        "no results",
        "no segments",
        "missing in the run",
        "only in the run",
        "all zero",
        "level 4",
        "touching",
        "tie at a half",
        "tie at a third",
        "tenths",
    }


def traits(example):
    """Name what is nasty about a case."""
    yield from ["missing in the run"] * bool(example.qrels.keys() - example.run.keys())
    yield from ["only in the run"] * bool(example.run.keys() - example.qrels.keys())
    for query, judged in example.qrels.items():
        ranked = example.run.get(query, [])
        ious = {iou(result, segment) for result in ranked for segment in judged}
        facts = {
            "no segments": not judged,
            "no results": query in example.run and not ranked,
            "duplicated segment": len({s[:3] for s in judged}) < len(judged),
            "duplicated result": len(set(ranked)) < len(ranked),
            "no length": any(s.start == s.end for s in [*judged, *ranked]),
            "all zero": bool(judged) and not any(s.level for s in judged),
            "level 4": any(s.level == 4 for s in judged),
            "touching": any(a.end == b.start for a, b in pairwise(judged)),
            "tie at a half": 0.5 in ious,
            "tie at a third": 1 / 3 in ious,
            "tenths": any(Fraction(s.start).denominator > 2 for s in judged),
        }
        yield from (name for name, holds in facts.items() if holds)


def test_integer_cases_are_whole_seconds_and_lists_can_be_full():
    for example in islice(cases(2, integer=True, empty_lists=False), 500):
        rows = [
            row for part in (example.qrels, example.run) for rows in part.values() for row in rows
        ]
        assert all(row.start.is_integer() and 0 <= row.start <= row.end for row in rows)
        assert all([*example.qrels.values(), *example.run.values()])
