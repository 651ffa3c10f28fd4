"""Conventions with a table of their own: hand-worked cells, and random cases against the oracle."""

import json
import math
from functools import cache

import benchmark_oracle as oracle
import pytest
import scorer

import momentrank as mr
from momentrank import conventions
from momentrank.cli.main import main
from momentrank.segments import build_qrels, build_run

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # random ids need not meet

NMS = {"2d-tan": 0.5, "2d-tan-0.49": 0.49, "2d-tan-0.45": 0.45, "2d-tan-0.4": 0.4}
NAMES = ("qvhighlights", "vcmr", "charades", "nlq", "tall", *NMS, "didemo")
CASES = 100


def segments(truth, lists):
    """Return the oracle's truth and lists as qrels and a run."""
    return (
        scorer.segments(truth, build_qrels, value=True),
        scorer.segments(lists, build_run, value=True),
    )


def cells(name, truth, lists):
    """Return the cells as printed, of queries' moments (start, end) or (video, start, end, ...)."""
    sides = [
        {
            query: [("v", *moment, default) if len(moment) == 2 else moment for moment in moments]
            for query, moments in side.items()
        }
        for side, default in ((truth, 1), (lists, 0.0))
    ]
    convention = conventions.get(name)
    table = convention.table(*segments(*sides))
    return {cell: convention.rounded(share) for cell, share in table.items()}


def compare(name, seeds):
    """Compare every cell with the oracle's."""
    for seed in seeds:
        truth, lists = oracle.cases(seed)
        if name in NMS:
            expected = oracle.two_d_tan(truth, lists, NMS[name])
        else:
            expected = getattr(oracle, name)(truth, lists)
        table = conventions.get(name).table(*segments(truth, lists))
        assert table.keys() == expected.keys()
        for cell, value in expected.items():
            both = value, table[cell]
            assert abs(value - table[cell]) <= 1e-12 or all(map(math.isnan, both)), (seed, cell)
        assert set(conventions.get(name).brief) <= set(table)


@cache
def table_of(name, seed):
    """Return the cells of a case, which several measures are compared with."""
    return conventions.get(name).table(*segments(*oracle.cases(seed)))


@pytest.mark.parametrize("name", NAMES)
def test_random_cases(name):
    compare(name, range(CASES))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_2_000_random_cases(name):
    compare(name, range(CASES, CASES + 2_000))


@pytest.mark.parametrize(
    ("name", "measure", "cell"),
    [
        ("qvhighlights", "R(iou=0.7)@1", "MR-full-R1@0.7"),
        ("qvhighlights", "AP(iou=0.75)", "MR-full-mAP@0.75"),
        ("qvhighlights", "AP(iou=0.5:0.95)", "MR-full-mAP"),
        ("vcmr", "R(iou=0.5)@10", "VCMR-0.5-r10"),
        ("vcmr", "VR@5", "VR-r5"),
        ("charades", "R(iou=0.3)@5", "R@5,IoU=0.3"),
        ("charades", "mIoU", "mIoU"),
        ("nlq", "R(iou=0.5)@1", "Rank@1 mIoU@0.5"),
        ("nlq", "mIoU", "mIoU"),
        ("tall", "R(iou=0.3)@10", "IoU=0.3, R@10"),
        ("2d-tan-0.4", "R(iou=0.3)@5", "Rank@5,mIoU@0.3"),
        ("didemo", "R(iou=1)@5", "rank@5"),
        ("didemo", "mIoU", "mIoU"),
    ],
)
def test_measures_are_cells(name, measure, cell):
    for seed in range(CASES):
        truth, lists = oracle.cases(seed)
        if not truth.keys() & lists.keys():
            continue
        qrels, run = segments(truth, lists)
        value = mr.calc_aggregate([measure], qrels, run, name)[measure]
        assert value == pytest.approx(table_of(name, seed)[cell], abs=1e-12)


# ------------------------------------------------------------------------------- QVHighlights


def qvhighlights(windows, results):
    """Return the cells of one query."""
    rows = [("v", *window) if len(window) == 3 else ("v", *window, 0.0) for window in results]
    return cells("qvhighlights", {"q": windows}, {"q": rows})


def test_the_threshold_counts():
    assert qvhighlights([(0, 20)], [(0, 10)])["MR-full-R1@0.5"] == 100
    assert qvhighlights([(0, 20)], [(0, 10)])["MR-full-mAP@0.5"] == 100
    assert qvhighlights([(0, 20)], [(0, 10)])["MR-full-R1@0.55"] == 0


def test_r1_is_of_the_first_of_the_list_and_map_follows_the_scores():
    figures = qvhighlights([(0, 20)], [(40, 60, 0.1), (0, 20, 0.9)])
    assert (figures["MR-full-R1@0.5"], figures["MR-full-mAP@0.5"]) == (0, 100)


def test_equal_scores_keep_the_order_of_the_list():
    assert qvhighlights([(0, 20)], [(40, 60), (0, 20)])["MR-full-mAP@0.5"] == 50


def test_only_the_first_ten_of_the_list_count_whatever_their_scores():
    miss, hit = (100, 120, 0.1), (0, 20, 0.9)
    assert qvhighlights([(0, 20)], [miss] * 10 + [hit])["MR-full-mAP"] == 0
    assert qvhighlights([(0, 20)], [miss] * 9 + [hit])["MR-full-mAP"] == 100


def test_a_duplicate_is_a_miss_and_precision_is_interpolated():
    windows = [(0, 10), (20, 30), (40, 50)]
    # hits at ranks 1, 3 and 4: precision 1, then the higher of 2/3 and 3/4, then 3/4
    figures = qvhighlights(windows, [(0, 10), (0, 10), (20, 30), (40, 50)])
    assert figures["MR-full-mAP@0.5"] == round(100 * (1 + 3 / 4 + 3 / 4) / 3, 2)


def test_of_equal_windows_the_last_is_taken():
    # (0, 20) reaches both at .5 and takes the second; (0, 10) then takes the first, (10, 20) none
    windows = [(0, 10), (10, 20)]
    assert qvhighlights(windows, [(0, 20), (0, 10)])["MR-full-mAP@0.5"] == 100
    assert qvhighlights(windows, [(0, 20), (10, 20)])["MR-full-mAP@0.5"] == 50


def test_a_query_counts_in_every_range_in_which_it_has_a_window():
    figures = cells(
        "qvhighlights",
        {"both": [(0, 10), (20, 50)], "long": [(0, 30.5)], "longest": [(0, 151)]},
        {"both": [(20, 50)], "long": [(0, 30.5)], "longest": [(0, 151)]},
    )
    assert figures["MR-short-mAP"] == 0  # of `both` alone, whose window is of another range
    assert figures["MR-middle-R1@0.95"] == 100
    assert figures["MR-long-mAP"] == 100
    assert figures["MR-full-mAP"] == round(100 * (0.5 + 1 + 1) / 3, 2)
    assert math.isnan(qvhighlights([(0, 20)], [(0, 20)])["MR-long-mAP"])  # over no query


@pytest.mark.parametrize("score", [[], [None], [math.nan]])
def test_r1_reads_no_scores(tmp_path, score):
    truth = {"qid": 1, "vid": "v", "query": "?", "duration": 90, "relevant_windows": [[0, 20]]}
    windows = [[0, 20, *score], [40, 60, 0.5]]
    for name, record in [
        ("truth", truth),
        ("run", {"qid": 1, "vid": "v", "pred_relevant_windows": windows}),
    ]:
        (tmp_path / name).write_text(json.dumps(record))
    table = mr.evaluate(tmp_path / "truth", tmp_path / "run", convention="qvhighlights")
    assert table["MR-full-R1@0.7"] == 1


def test_a_missing_query_counts_as_0_and_videos_are_not_compared():
    figures = cells("qvhighlights", {"a": [(0, 20)], "b": [(0, 20)]}, {"a": [("x.mp4", 0, 20, 1)]})
    assert (figures["MR-full-R1@0.5"], figures["MR-full-mAP"]) == (50, 50)


def test_other_measures_are_refused():
    for name, measure in [
        ("qvhighlights", "nDCG(iou=0.5)@10"),
        ("qvhighlights", "R(iou=0.5)@5"),
        ("qvhighlights", "AP(iou=0.5)@5"),
        ("qvhighlights", "R(iou=0.5,strict=True)@1"),
        ("vcmr", "AP(iou=0.5)"),
        ("charades", "R(iou=0.5,rel=2)@1"),
        ("spr", "R(iou=0.5)@1"),
        ("didemo", "R(iou=0.5)@1"),
        ("tall", "mIoU"),
    ]:
        with pytest.raises(mr.UsageError, match=f"is not a measure of {name}"):
            mr.evaluator([measure], segments({"q": [("v", 0, 1, 1)]}, {})[0], name)


# ----------------------------------------------------------------------------------------- TVR


def test_svmr_drops_other_videos_and_vr_needs_the_video_alone():
    wrong = [("w", 0, 10, 0.0)] * 4
    figures = cells("vcmr", {"q": [(0, 10)]}, {"q": [*wrong, ("v", 40, 50, 0.0), (0, 10)]})
    names = ("VCMR-0.5-r5", "VCMR-0.5-r10", "SVMR-0.5-r1", "SVMR-0.5-r5", "VR-r1", "VR-r5")
    assert [figures[name] for name in names] == [0, 100, 0, 100, 0, 100]
    below = cells("vcmr", {"q": [(0, 10)]}, {"q": [*wrong * 25, (0, 10)]})
    assert set(below.values()) == {0}  # only 100 results count


@pytest.mark.parametrize(
    ("result", "as_32_bits", "as_64_bits"), [((0.2, 0.7), 100, 0), ((0.4, 0.9), 0, 100)]
)
def test_tvr_computes_in_32_bits(result, as_32_bits, as_64_bits):
    # half of the moment on paper; either kind of float may fall short of it
    assert cells("vcmr", {"q": [(0, 1)]}, {"q": [result]})["VCMR-0.5-r1"] == as_32_bits
    assert cells("charades", {"q": [(0, 1)]}, {"q": [result]})["R@1,IoU=0.5"] == as_64_bits


def test_four_judged_moments_need_a_result_that_reaches_two():
    times = [(0, 10), (50, 60), (50, 61), (100, 110)]
    assert cells("vcmr", {"q": times}, {"q": [(0, 10)]})["VCMR-0.5-r1"] == 0
    assert cells("vcmr", {"q": times}, {"q": [(50, 60)]})["VCMR-0.5-r1"] == 100
    assert cells("vcmr", {"q": times[:3]}, {"q": [(0, 10)]})["VCMR-0.5-r1"] == 100


# ------------------------------------------------------------------- Charades-STA and Ego4D NLQ


def test_charades_has_r_at_1_and_5_and_the_mean_iou_of_the_first():
    figures = cells(
        "charades",
        {"a": [(0, 10)], "b": [(0, 10)], "c": [(0, 10)]},
        {"a": [(0, 5), (0, 10)], "b": [(20, 30)] * 4 + [(0, 7)]},
    )
    assert figures == {
        "R@1,IoU=0.3": 33.33,
        "R@1,IoU=0.5": 33.33,
        "R@1,IoU=0.7": 0.0,
        "R@5,IoU=0.3": 66.67,
        "R@5,IoU=0.5": 66.67,
        "R@5,IoU=0.7": 66.67,
        "mIoU": round(50 / 3, 2),
    }


def test_nlq_must_pass_the_threshold_and_counts_the_queries_of_the_run():
    figures = cells(
        "nlq",
        {"a": [(0, 10)], "b": [(0, 10)], "c": [(0, 10)]},
        {"a": [(0, 5), (0, 6)], "b": [(0, 4)]},
    )
    assert figures == {
        "Rank@1 mIoU@0.3": 100.0,
        "Rank@1 mIoU@0.5": 0.0,
        "Rank@5 mIoU@0.3": 100.0,
        "Rank@5 mIoU@0.5": 50.0,
        "mIoU": 45.0,
    }


# ------------------------------------------------------------------------- TALL, 2D-TAN, DiDeMo


def test_nms_makes_room_for_others_and_each_script_has_its_own():
    # the second result overlaps the first by .45; without it, the last is the fifth
    times = [(0, 20), (11, 20), (41, 50), (61, 70), (81, 90), (10, 30)]
    lists = {"q": [("v", *pair, -rank) for rank, pair in enumerate(times)]}
    truth = {"q": [(10, 30)]}
    assert cells("charades", truth, lists)["R@5,IoU=0.5"] == 0
    for name, limit in NMS.items():
        assert cells(name, truth, lists)["Rank@5,mIoU@0.5"] == (100 if limit < 0.45 else 0)
    figures = cells("tall", truth, lists)  # NMS at .35 and .45
    assert [figures[f"IoU={iou}, R@5"] for iou in (0.4, 0.5)] == [1, 0]
    assert figures["IoU=0.5, R@10"] == 1


def test_2d_tan_must_pass_the_threshold_that_tall_must_reach():
    assert cells("2d-tan", {"q": [(0, 10)]}, {"q": [(0, 5)]})["Rank@1,mIoU@0.5"] == 0
    assert cells("tall", {"q": [(0, 10)]}, {"q": [(0, 5)]})["IoU=0.5, R@1"] == 1


def test_tall_goes_by_score_and_takes_the_last_of_equal_ones_unless_all_are_equal():
    other, right = ("v", 40, 50), ("v", 0, 10)
    for scores, value in [((0.1, 0.9), 1), ((0.9, 0.1), 0), ((0.5, 0.5), 0)]:
        lists = {"q": [(*other, scores[0]), (*right, scores[1])]}
        assert cells("tall", {"q": [(0, 10)]}, lists)["IoU=0.5, R@1"] == value
    lists = {"q": [(*other, 0.5), (*right, 0.5), (*other, 0.1)]}
    assert cells("tall", {"q": [(0, 10)]}, lists)["IoU=0.5, R@1"] == 1


def test_didemo_leaves_out_the_person_who_comes_off_worst():
    people = [(0, 5), (0, 5), (5, 10), (20, 30)]
    ranked = [(0, 5), (5, 10), (0, 10)]
    figures = cells("didemo", {"q": people, "missed": [(0, 5)]}, {"q": ranked})
    assert figures == {"rank@1": 0, "rank@5": 0.5, "mIoU": round((1 + 1 + 0) / 3 / 2, 6)}
    assert cells("didemo", {"q": people[:2]}, {"q": ranked})["rank@1"] == 1
    assert cells("didemo", {"q": people}, {"q": [(0, 5)]})["rank@5"] == 0  # one has no rank


def test_didemos_file_names_its_convention(tmp_path):
    times = [[0, 0], [0, 0], [1, 1], [4, 5]]
    truth, run = tmp_path / "val_data.json", tmp_path / "lists.json"
    truth.write_text(json.dumps([{"annotation_id": 1, "video": "v", "times": times}]))
    run.write_text(json.dumps([[[0, 0], [1, 1], [0, 1]]]))
    with pytest.warns(UserWarning, match="convention='didemo'"):
        assert mr.evaluate(truth, run, ["mIoU"])["mIoU"] == 1
    assert mr.evaluate(truth, run, convention="didemo")["mIoU"] == pytest.approx(2 / 3)


# ----------------------------------------------------------------------------------------- SPR


def spr(truth, lists, measure="nDCG(iou=0.5)@10"):
    return mr.calc_aggregate([measure], *segments(truth, lists), "spr")[measure]


def test_spr_drops_level_0_before_it_matches_and_skips_queries():
    truth = {
        "q1": [("v1", 0, 20, 4), ("v1", 20, 40, 1), ("v2", 100, 110, 0)],
        "q2": [("v3", 0, 10, 2)],
        "irrelevant": [("v1", 0, 10, 0)],
    }
    results = [("v1", 0, 10, 0.9), ("v1", 10, 22, 0.8), ("v1", 18, 40, 0.7), ("v2", 100, 110, 0.6)]
    lists = {"q1": results, "irrelevant": results}
    ideal = 15 + 1 / math.log2(3)
    assert spr(truth, lists) == pytest.approx((15 + 1 / math.log2(4)) / ideal)
    assert round(spr(truth, lists), 4) == 0.9916  # the example of docs/scoring.md
    assert spr({"q": [("v", 0, 10, 0), ("v", 0, 9, 4)]}, {"q": [("v", 0, 10, 1)]}) == 1


def test_spr_on_random_cases():
    compared = 0
    for seed in range(CASES):
        truth, lists = oracle.cases(seed)
        for cutoff, iou in ((1, 0.3), (3, 0.5), (10, 0.7)):
            if (expected := oracle.spr(truth, lists, cutoff, iou)) is not None:
                value = spr(truth, lists, f"nDCG(iou={iou})@{cutoff}")
                assert value == pytest.approx(expected, abs=1e-12), seed
                compared += 1
    assert compared > CASES


# ----------------------------------------------------------------------------------- the command


def evaluate(capsys, *arguments):
    """Return what the command prints for one run as JSON, and what it says."""
    assert main(["evaluate", *map(str, arguments), "--json"]) == 0
    output = capsys.readouterr()
    content = json.loads(output.out)
    return content[str(arguments[1])], output.err


@pytest.fixture
def tvr(tmp_path):
    """Write TVR's annotations of one moment, and return its file and one that submits lists."""
    truth = {
        "desc_id": 90,
        "desc": "?",
        "vid_name": "v",
        "ts": [0, 10],
        "duration": 60,
        "type": "v",
    }
    annotations = tmp_path / "tvr.jsonl"
    annotations.write_text(json.dumps(truth))

    def submit(**lists):
        content = {
            task: [{"desc_id": 90, "desc": "?", "predictions": predictions}]
            for task, predictions in lists.items()
        }
        path = tmp_path / "submission.json"
        path.write_text(json.dumps({"video2idx": {"w": 3, "v": 7}, **content}))
        return path

    return annotations, submit


def test_each_task_of_a_submission_to_tvr_is_scored_by_its_own_list(tvr, capsys):
    annotations, submit = tvr
    wrong, right = [3, 0, 10, 0.9], [7, 0, 10, 0.8]
    options = ("--convention", "vcmr")
    lists = {task: [wrong, wrong, right] for task in ("VCMR", "SVMR", "VR")}
    late = submit(**lists).rename(annotations.with_name("late.json"))
    path = submit(VCMR=[wrong, right], SVMR=[[7, 40, 50, 0.9], right], VR=[right])
    figures, _ = evaluate(capsys, annotations, path, *options)
    names = ("VCMR-0.5-r1", "VCMR-0.5-r5", "SVMR-0.5-r1", "SVMR-0.5-r5", "VR-r1")
    assert [figures[name] for name in names] == [0, 100, 0, 100, 100]
    table = mr.evaluate(annotations, path, convention="vcmr")
    assert {name: 100 * value for name, value in table.items()} == figures
    each = {"VR@1": 1, "R@1,0.5": 0, "R@2,0.5": 1}
    assert [*mr.evaluate(annotations, path, each, "vcmr").values()] == [*each.values()]
    pairs = mr.compare(annotations, {"a": late, "b": path}, each, "vcmr")
    assert pairs.to_frame()["difference"].tolist() == [*each.values()]
    assert [*evaluate(capsys, annotations, path, *each, *options)[0].values()] == [*each.values()]
    for name, value in each.items():
        assert mr.explain(annotations, path, "90", name, "vcmr").value == value
        assert main(["explain", str(annotations), str(path), "90", name, *options]) == 0
        assert f" = {value:.4f} (vcmr)" in capsys.readouterr().out
    with pytest.warns(UserWarning, match="only VCMR of VCMR, SVMR, VR is read"):
        mr.convert(path, path.with_name("one.run"), "segments")
    for alone in ((path, "--run-format", "vcmr"), (submit(VCMR=[wrong, right]),)):
        figures, _ = evaluate(capsys, annotations, *alone, *options)
        assert [figures[name] for name in names] == [0, 100, None, None, None]
    figures, _ = evaluate(capsys, annotations, submit(SVMR=[right]), *options)
    assert [figures[name] for name in names] == [None, None, 100, 100, None]
    assert main(["evaluate", str(annotations), str(path), "VR@1", *options]) == 2
    assert "needs the list VR, but the run has only SVMR" in capsys.readouterr().err


def test_a_benchmarks_file_names_its_convention_where_none_is_asked_for(tvr, capsys):
    annotations, submit = tvr
    path = submit(VCMR=[[7, 0, 10, 0.8]])
    hint = "--convention vcmr"
    assert hint in evaluate(capsys, annotations, path, "R@1,0.5")[1]
    assert hint not in evaluate(capsys, annotations, path, "R@1,0.5", "--convention", "paper")[1]
