"""The library as a notebook uses it: what it takes, what it returns, what it warns of."""

import json
import sys
import warnings

import pandas as pd
import pytest

import momentrank as mr
from momentrank import R, SegmentError, nDCG
from momentrank.ids import json_names, query_number

ROWS = [("q1", "v1", 0, 20, 4), ("q1", "v1", 20, 40, 1), ("q2", "v3", 0, 10, 2)]
RESULTS = [("q1", "v1", 0, 10, 0.7), ("q1", "v1", 18, 40, 0.9), ("q2", "v3", 0, 10, 0.5)]
RESULTS_OF_Q2 = [["v3", 0, 10, 0.5]]
LINES = "".join(f"{q} Q0 {v} {s} {e} {level}\n" for q, v, s, e, level in ROWS)
RUN_LINES = "q1 Q0 v1 18 40 1 0.9 x\nq1 Q0 v1 0 10 2 0.7 x\nq2 Q0 v3 0 10 1 0.5 x\n"
MEASURES = [nDCG(iou=0.5) @ 10, "R@1,0.5", "AxIoU@2"]
NAMES = ["query_id", "video_id", "start", "end"]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "my.qrels").write_text(LINES)
    (tmp_path / "my.run").write_text(RUN_LINES)
    return tmp_path


def by_query(rows, make):
    groups = {}
    for query, *row in rows:
        groups.setdefault(query, []).append(tuple(row))
    return {query: make(own) for query, own in groups.items()}


def as_dict(rows):
    return {row[:3]: row[3] for row in rows}


class Polars:
    """A frame of another library."""

    def __init__(self, frame):
        self.to_pandas = lambda: frame


QRELS_FRAME = pd.DataFrame(ROWS, columns=[*NAMES, "level"])
RUN_FRAME = pd.DataFrame(RESULTS, columns=[*NAMES, "score"])


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (QRELS_FRAME, RUN_FRAME),
        (Polars(QRELS_FRAME), Polars(RUN_FRAME)),
        (ROWS, RESULTS),
        (iter(ROWS), iter(RESULTS)),
        (ROWS, [RESULTS[at][:4] for at in (1, 0, 2)]),  # without scores, in order
        (by_query(ROWS, list), by_query(RESULTS, list)),
        (by_query(ROWS, as_dict), by_query(RESULTS, as_dict)),
        (QRELS_FRAME.to_dict("records"), RUN_FRAME.to_dict("records")),
        (by_query(ROWS, list), {"q1": RUN_FRAME[:2].to_dict("records"), "q2": RESULTS_OF_Q2}),
    ],
)
def test_qrels_and_runs_may_be_anything_that_has_their_rows(files, qrels, run):
    expected = mr.evaluate(files / "my.qrels", str(files / "my.run"), MEASURES)
    assert expected["nDCG(iou=0.5)@10"] == pytest.approx((3.5237 / 4.6309 + 1) / 2, abs=1e-4)
    assert mr.evaluate(qrels, run, MEASURES) == expected


def test_a_result_is_looked_up_and_taken_on_as_a_frame():
    result = mr.evaluate(ROWS, RESULTS[:2], MEASURES)
    assert result["R@1,0.5"] == result[R(iou=0.5) @ 1] == result["R(iou=0.5,strict=True)@1"] == 0.5
    assert list(result) == ["nDCG(iou=0.5)@10", "R(iou=0.5,strict=True)@1", "AxIoU@2"]
    frame = result.to_frame()
    assert frame["value"].tolist() == list(result.values())
    per_query = result.to_frame(per_query=True)
    assert per_query.columns.tolist() == ["query_id", *result]
    assert per_query["query_id"].tolist() == ["q1", "q2"]
    assert per_query.drop(columns="query_id").mean().tolist() == pytest.approx([*result.values()])
    assert "R(iou=0.5,strict=True)@1" in str(result)
    assert "<table" in result._repr_html_()


def test_without_measures_a_benchmark_has_its_own_table_and_others_their_usual_measures():
    ours = mr.evaluate(ROWS, RESULTS)
    assert "nDCG(iou=0.5)@10" in ours
    table = mr.evaluate(ROWS, RESULTS, convention="qvhighlights")
    assert table["MR-full-R1@0.5"] == 1
    assert len(table.to_frame()) == len(table) == 84
    with pytest.raises(mr.MeasureError):
        table["R@1,zero"]
    with pytest.raises(KeyError, match=r"was not computed.*MR-full"):
        table["R@1,0.5"]
    with pytest.raises(mr.UsageError, match="name a measure, such as"):
        table.to_frame(per_query=True)


@pytest.mark.parametrize("measure", ["ndcg@10", nDCG(iou=0.5) @ 10])
def test_one_measure_needs_no_list(measure):
    whole = mr.evaluate(ROWS, RESULTS, [measure])
    assert mr.evaluate(ROWS, RESULTS, measure) == whole
    assert list(mr.calc_aggregate(measure, ROWS, RESULTS).values()) == list(whole.values())
    assert len(mr.compare(ROWS, {"a": RESULTS, "b": RESULTS}, measure, rounds=9)) == 1


def test_runs_are_compared_over_queries():
    pairs = mr.compare(
        ROWS, {"a": RESULTS, "b": RESULTS[:1]}, ["AxIoU@2", "nDCG(iou=0.5)@3"], rounds=99
    )
    frame = pairs.to_frame()
    assert frame[["first", "second"]].drop_duplicates().to_numpy().tolist() == [["a", "b"]]
    assert frame["measure"].tolist() == ["AxIoU@2", "nDCG(iou=0.5)@3"]
    assert (frame["difference"] < 0).all()


def test_a_query_is_explained():
    explanation = mr.explain(ROWS, RESULTS, "q1", "nDCG(iou=0.5)@10")
    assert explanation.value == pytest.approx(3.5237 / 4.6309, abs=1e-4)
    assert explanation.to_frame()["relevant"].tolist() == [True, True]
    numbered = [[(7, *row[1:])] for row in (ROWS[0], RESULTS[0])]
    assert mr.explain(*numbered, 7) == mr.explain(*numbered, "7")


def test_a_measure_without_a_model_is_explained_by_what_is_relevant():
    rows = [*ROWS, ("q1", "v2", 0, 9, 0)]
    explanation = mr.explain(rows, [*RESULTS, ("q1", "v2", 0, 9, 0.1)], "q1", "MAiSP")
    assert explanation.to_frame()["relevant"].tolist() == [True, True, False]


def test_files_are_written_and_converted(tmp_path):
    mr.write_qrels(tmp_path / "a.qrels", QRELS_FRAME)
    mr.write_run(tmp_path / "a.run", RUN_FRAME, tag="mine")
    mr.convert(tmp_path / "a.run", tmp_path / "a.json", "tvr-ranking")
    whole = mr.evaluate(ROWS, RESULTS, MEASURES)
    assert mr.evaluate(tmp_path / "a.qrels", tmp_path / "a.json", MEASURES) == whole
    assert "mine" in (tmp_path / "a.run").read_text()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("q", "v", 0, 1)], r"row 0: must be query_id, video_id, start, end, level; not \('q'"),
        (["q v 0 1 1"], "row 0: must be query_id, video_id, start, end, level; not 'q v"),
        ({"q": {"doc1": 1}}, "row 0: must be query_id, video_id, start, end, level; not 'doc1'"),
        ({"q": [{"video_id": "v"}]}, "row 0: the record has no 'start'"),
        ([("q", "v", 0, 1, 2), ("q", None, 0, 1, 2)], "row 1: the video_id must be a string"),
        ([("q", "v", 0, "x", 2)], "row 0: the end must be a number, not 'x'"),
    ],
)
def test_a_malformed_row_is_told(rows, message):
    with pytest.raises(SegmentError, match=message):
        mr.evaluate(rows, RESULTS, MEASURES)


def test_whose_row_is_malformed_is_told():
    wrong = [("q1", "v1", 5, 4, 1)]
    with pytest.raises(SegmentError, match=r"the qrels, row 0: the end is before the start$"):
        mr.evaluate(wrong, RESULTS, MEASURES)
    with pytest.raises(SegmentError, match="the run, row 0: the end is before the start"):
        mr.explain(ROWS, wrong, "q1")
    with pytest.raises(SegmentError, match="ours, row 0: the end is before the start"):
        mr.compare(ROWS, {"theirs": RESULTS, "ours": wrong}, MEASURES)
    with pytest.raises(mr.UsageError, match="paths, frames, dicts or lists, not 7"):
        mr.evaluate(7, RESULTS, MEASURES)


def test_scores_are_in_all_rows_or_in_none():
    with pytest.raises(SegmentError, match=r"row 1: must be .* and, in all or in none, a score"):
        mr.evaluate(ROWS, [RESULTS[0], RESULTS[1][:4]], MEASURES)


def test_what_reading_a_file_tells_is_a_warning_at_the_call(files):
    twice = LINES + "q1 Q0 v1 0 20 4\n"
    (files / "my.qrels").write_text(twice)
    with pytest.warns(UserWarning, match="the same segment as in line 1") as caught:
        mr.evaluate(files / "my.qrels", files / "my.run", MEASURES)
    assert caught[0].filename == __file__


def test_what_a_convention_does_not_compare_need_not_meet():
    elsewhere = [(query, f"{video}.mp4", *more) for query, video, *more in RESULTS]
    tables = [mr.evaluate(ROWS, run, convention="qvhighlights") for run in (elsewhere, RESULTS)]
    assert str(tables[0]) == str(tables[1])
    assert tables[0]["MR-full-R1@0.5"] > 0


def test_what_does_not_meet_is_a_warning_or_if_nothing_does_an_error():
    with pytest.warns(UserWarning, match=r"queries in the qrels but not in the run: 1 \(q2\)"):
        mr.calc_aggregate(MEASURES, ROWS, RESULTS[:2])
    elsewhere = [(query, f"{video}.mp4", *more) for query, video, *more in RESULTS]
    with pytest.raises(mr.MomentRankError, match=r"common: 'v1' in .*, 'v1.mp4' in"):
        mr.evaluate(ROWS, elsewhere, MEASURES)
    with pytest.raises(mr.MomentRankError, match="no video in common"):
        mr.explain(ROWS, elsewhere, "q1")
    with pytest.warns(UserWarning, match="no video in common") as caught:
        assert set(mr.calc_aggregate(MEASURES, ROWS, elsewhere).values()) == {0.0}
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mr.evaluate(ROWS, RESULTS, MEASURES)


TVR = '{"desc_id": 7, "vid_name": "v", "ts": [0, 10], "desc": "A dog."}\n'


def test_what_the_command_hints_at_is_a_warning_unless_a_convention_is_named(tmp_path):
    (tmp_path / "tvr.jsonl").write_text(TVR)
    run = [("7", "v", 0, 9, 0.5)]
    with pytest.warns(UserWarning, match="official numbers of tvr pass convention='vcmr'"):
        mr.evaluate(tmp_path / "tvr.jsonl", run, MEASURES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mr.evaluate(tmp_path / "tvr.jsonl", run, MEASURES, "paper")


def test_numbers_for_queries_are_what_tells_tvr_ranking_from_others_in_its_format(tmp_path):
    moments = {"relevant_moment": [{"video_name": "v", "timestamp": [0, 10], "relevance": 4}]}
    for own, conventions in ("7", ["tvr-ranking"]), ("a", []):
        record = {**json_names(query_number(own), own), "query": "A dog.", **moments}
        (tmp_path / "test.json").write_text(json.dumps([record]))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mr.evaluate(tmp_path / "test.json", [(own, "v", 0, 9, 0.5)], MEASURES)
        hint = "for the official numbers of {0} pass convention={0!r}"
        assert [str(warning.message) for warning in caught] == [
            hint.format(name) for name in conventions
        ]


def test_tied_ranks_of_a_frame_are_a_warning():
    frame = RUN_FRAME.assign(rank=[1, 1, 1])
    with pytest.warns(UserWarning, match="1 rank is repeated within a query; ties"):
        mr.evaluate(ROWS, frame, MEASURES)


def test_what_is_malformed_below_the_cutoff_is_told_and_the_rest_scored(files):
    (files / "my.run").write_text("q1 Q0 v1 0 20 1 0.9 x\nq1 Q0 v1 x 10 2 0.7 x\n")
    with pytest.warns(UserWarning, match=r"line 2: .*not among the first results"):
        result = mr.evaluate(files / "my.qrels", files / "my.run", "R@1,0.5")
    assert list(result.values()) == [0.5]
    with pytest.raises(mr.FormatError, match="line 2"):
        mr.evaluate(files / "my.qrels", files / "my.run", "R@2,0.5")


def test_times_may_be_in_minutes(files):
    (files / "a.qrels").write_text("q Q0 v 1.00 2.00 1\n")
    (files / "a.run").write_text("q Q0 v 1.00 1.30 1 1 x\n")
    paths = (files / "a.qrels", files / "a.run")
    assert mr.evaluate(*paths, "mIoU", time="mm.ss")["mIoU"] == 0.5
    assert mr.explain(*paths, "q", "mIoU", time="mm.ss").value == 0.5
    assert mr.evaluate(*paths, "mIoU")["mIoU"] == pytest.approx(0.3)


def test_without_pandas_a_frame_is_one_line_and_a_notebook_shows_the_text(monkeypatch):
    table, pairs = (
        mr.evaluate(ROWS, RESULTS, MEASURES),
        mr.compare(ROWS, {"a": RESULTS, "b": RESULTS}, MEASURES, rounds=9),
    )
    monkeypatch.setitem(sys.modules, "pandas", None)
    for result in (table, pairs):
        with pytest.raises(mr.UsageError, match=r"frames need pandas: pip install 'momentrank\[fr"):
            result.to_frame()
        assert result._repr_html_() is None
