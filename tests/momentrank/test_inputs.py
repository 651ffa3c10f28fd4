"""What is odd about qrels and runs is told for files, frames, lists, dicts and generators alike."""

import datetime
import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import momentrank as mr
from momentrank.cli.main import main

NAMES = ["query_id", "video_id", "start", "end"]
QRELS = [("q", "v", 0.0, 10.0, 2), ("q", "v", 20.0, 30.0, 1)]
RUN = [("q", "v", 0.0, 10.0, 0.9), ("q", "v", 20.0, 30.0, 0.8)]
MEASURES = ["nDCG(iou=0.5)@10", "AP(iou=0.5)", "AxIoU@2", "R@1,0.5", "NumRet", "NumRel"]
KINDS = ["file", "frame", "tuples", "records", "dict", "generator"]


def given_as(kind, rows, value, folder):
    """Return rows as one of the kinds of data that the library reads."""
    if kind == "file":
        name = folder / f"a.{value}"
        middle = "{rank} {value}" if value == "score" else "{value}"
        line = "{} Q0 {} {} {} " + middle + "\n"
        name.write_text(
            "".join(line.format(*row[:4], rank=n, value=row[4]) for n, row in enumerate(rows, 1))
        )
        return name
    if kind == "tuples":
        return rows
    if kind == "generator":
        return (row for row in rows)
    if kind == "dict":
        groups = itertools.groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0])
        return {query: [row[1:] for row in listed] for query, listed in groups}
    frame = pd.DataFrame(rows, columns=[*NAMES, value])
    return frame if kind == "frame" else frame.to_dict("records")


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_a_repeated_judgment_counts_once_and_is_told(kind, tmp_path):
    once = mr.evaluate(QRELS, RUN, MEASURES)
    assert once["nDCG(iou=0.5)@10"] == once["AP(iou=0.5)"] == 1
    where = "line 2: the same segment as in line 1" if kind == "file" else "row 1: the same"
    twice = given_as(kind, [QRELS[0], *QRELS], "level", tmp_path)
    with pytest.warns(UserWarning, match=where):
        assert mr.evaluate(twice, RUN, MEASURES) == once


@pytest.mark.parametrize("kind", KINDS)
def test_a_repeated_result_keeps_its_best_rank_and_what_follows_moves_up(kind, tmp_path):
    once = mr.evaluate(QRELS, RUN, MEASURES)
    twice = [RUN[0], ("q", "v", 0.0, 10.0, 0.85), RUN[1]]
    with pytest.warns(UserWarning, match=r"the same segment as in .*\(1 such row\)"):
        assert mr.evaluate(QRELS, given_as(kind, twice, "score", tmp_path), MEASURES) == once


@pytest.mark.parametrize("kind", KINDS)
def test_two_levels_of_one_moment_are_an_error_that_names_both(kind, tmp_path):
    rows = [*QRELS, ("q", "v", 0.0, 10.0, 3)]
    places = ("line 3", "line 1") if kind == "file" else ("row 2", "row 0")
    message = "{}: the same segment as in {}: level 3, but level 2 there".format(*places)
    with (
        pytest.warns(UserWarning, match=message),
        pytest.raises(mr.MomentRankError, match=message),
    ):
        mr.evaluate(given_as(kind, rows, "level", tmp_path), RUN, MEASURES)
    with pytest.warns(UserWarning, match=message):
        table = mr.evaluate(
            given_as(kind, rows, "level", tmp_path), RUN, "nDCG(iou=0.5)@10", "tvr-ranking"
        )
    assert table["nDCG(iou=0.5)@10"] < 1, "the script counts both"


def test_repeats_below_the_cutoff_make_room_for_what_comes_after(tmp_path, quiet):
    repeated = [("q", "v", 50.0, 60.0, 9.0 - n / 10) for n in range(8)]
    run = given_as("file", [*repeated, *RUN], "score", tmp_path)
    assert mr.evaluate(QRELS, run, "R@2,0.5")["R@2,0.5"] == 1
    assert mr.evaluate(QRELS, run, "R@1,0.5")["R@1,0.5"] == 0


ROWS = st.lists(
    st.tuples(st.just("q"), st.sampled_from("vw"), st.integers(0, 2), st.integers(3, 5)),
    min_size=1, max_size=9,
)  # fmt: skip


@given(ROWS, ROWS, st.integers(0, 5))
def test_repeating_rows_changes_no_value(judged, retrieved, seed):
    rng = np.random.default_rng(seed)
    levels = {row: int(rng.integers(0, 5)) for row in judged}
    qrels, run = [(*row, levels[row]) for row in judged], retrieved
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        once = mr.calc_aggregate(MEASURES, list(dict.fromkeys(qrels)), list(dict.fromkeys(run)))
        assert mr.calc_aggregate(MEASURES, qrels, run) == once


def test_a_generator_that_meets_nothing_is_an_error_as_a_list_is():
    rows = [("q", "w.mp4", 0, 1, 0.5)]
    for run in rows, iter(rows):
        with pytest.raises(mr.MomentRankError, match="no video in common"):
            mr.evaluate(QRELS, run, MEASURES)
        with pytest.raises(mr.MomentRankError, match="no "):
            mr.compare(iter(QRELS), {"a": iter(RUN), "b": iter(rows)}, ["AP(iou=0.5)"])


SPELLINGS = [
    ("caf\u00e9", "cafe\u0301", r"\(U\+00E9 and U\+0065 U\+0301\)"),
    ("Stra\u00dfe", "STRASSE", r"'STRASSE' in the run"),
    ("v1", "\u200bv1", r"\(nothing and U\+200B\)"),
    ("Movie", "movie", "'Movie' in the qrels, 'movie' in the run"),
    ("\uff56\uff11", "v1", r"\(U\+FF56 U\+FF11 and U\+0076 U\+0031\)"),
]


@pytest.mark.parametrize(("ours", "theirs", "shown"), SPELLINGS)
def test_results_in_videos_of_another_spelling_are_counted_whatever_their_share(
    ours, theirs, shown
):
    qrels = [("q", f"v{n}x", 0, 10, 1) for n in range(30_000)] + [("q", ours, 0, 10, 1)]
    run = [("q", f"v{n}x", 0, 10) for n in range(30_000)] + [("q", theirs, 0, 10)]
    with pytest.warns(UserWarning, match=f"meet nothing: 1 of 30001; .*{shown}"):
        mr.evaluate(qrels, run, ["NumRet"])


def test_an_unjudged_video_is_no_other_spelling():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mr.evaluate(QRELS, [*RUN, ("q", "another", 0, 1, 0.1)], MEASURES)


@pytest.mark.parametrize(
    "span",
    [np.timedelta64(5, "s"), pd.Timedelta(seconds=5), datetime.timedelta(seconds=5)],
)
def test_a_span_of_time_is_no_number_of_seconds(span):
    with pytest.raises(
        mr.SegmentError, match=r"row 0: the start must be a number.*give its seconds"
    ):
        mr.evaluate(QRELS, [("q", "v", span, 10, 0.5)], MEASURES)
    frame = pd.DataFrame([("q", "v", 0, 10, 0.5)], columns=[*NAMES, "score"])
    with pytest.raises(mr.SegmentError, match=r"row 0: the end must be a number.*give its seconds"):
        mr.evaluate(QRELS, frame.assign(end=pd.Series([span])), MEASURES)


@pytest.mark.parametrize("kind", ["frame", "records"])
def test_scores_that_contradict_ranks_are_told(kind):
    frame = pd.DataFrame([(*RUN[0][:4], 2, 0.9), (*RUN[1][:4], 1, 0.1)],
                         columns=[*NAMES, "rank", "score"])  # fmt: skip
    run = frame if kind == "frame" else frame.to_dict("records")
    with pytest.warns(UserWarning, match="row 0: the score is higher .*: the rank counts"):
        result = mr.explain(QRELS, run, "q")
    assert [row.start for row in result.ranking] == [20, 0]


def qvhighlights(folder, windows):
    truth = {"qid": 1, "vid": "v", "query": "x", "duration": 60, "relevant_windows": [[20, 30]]}
    (folder / "gt.jsonl").write_text(json.dumps(truth) + "\n")
    line = {"qid": 1, "vid": "v", "pred_relevant_windows": windows}
    (folder / "run.jsonl").write_text(json.dumps(line) + "\n")
    return folder / "gt.jsonl", folder / "run.jsonl"


@pytest.mark.parametrize(
    ("windows", "message"),
    [
        (
            [[33.3, 50.0, 0.9], [80, 100, 0.1]],
            "results that end after their video: 1 .*80 to 100 s",
        ),
        ([[0.33, 0.5, 0.9], [0, 1, 0.1]], "are their times shares of the video"),
    ],
)
def test_times_that_are_no_seconds_of_the_video_are_told(tmp_path, windows, message):
    paths = qvhighlights(tmp_path, windows)
    with pytest.warns(UserWarning, match=message):
        mr.evaluate(*paths, convention="qvhighlights")


def test_an_evaluator_reads_runs_of_any_kind_and_compare_says_what_it_wants():
    scorer = mr.evaluator(["AP(iou=0.5)"], QRELS)
    for run in (RUN, iter(RUN), pd.DataFrame(RUN, columns=[*NAMES, "score"])):
        assert scorer.calc_aggregate(run)["AP(iou=0.5)"] == 1
    assert mr.Evaluator(scorer.measures, QRELS, "paper").calc(RUN).aggregated["AP(iou=0.5)"] == 1
    with pytest.raises(mr.UsageError, match="dict of names and runs"):
        mr.compare(QRELS, [RUN, RUN], ["AP(iou=0.5)"])


@pytest.mark.parametrize(
    ("old", "new"),
    [("qid", "query_id"), ("docno", "video_id"), ("vid", "video_id"), ("start_time", "start"),
     ("End_Time", "end")],
)  # fmt: skip
def test_another_tools_column_names_are_renamed_in_the_message(old, new):
    frame = pd.DataFrame(RUN, columns=[*NAMES, "score"]).rename(columns={new: old})
    for run in frame, frame.to_dict("records"):
        with pytest.raises(mr.MomentRankError, match=f"rename '{old}' to '{new}'"):
            mr.evaluate(QRELS, run, MEASURES)
    with pytest.raises(mr.UsageError, match="rename 'rel' to 'level'"):
        mr.evaluate(pd.DataFrame(QRELS, columns=[*NAMES, "rel"]), RUN, MEASURES)


def test_records_are_in_the_order_of_their_ranks():
    rows = [{**dict(zip(NAMES, row, strict=False)), "rank": 2 - n} for n, row in enumerate(RUN)]
    assert [row.start for row in mr.explain(QRELS, rows, "q").ranking] == [20, 0]
    with pytest.raises(mr.SegmentError, match="row 1: the record has no 'rank'"):
        mr.evaluate(QRELS, [rows[0], dict(zip(NAMES, RUN[1], strict=False))], MEASURES)


def test_names_of_columns_and_ids_that_look_like_options_are_told(tmp_path, capsys):
    qrels = given_as("file", [("-a", *QRELS[0][1:])], "level", tmp_path)
    run = given_as("file", [("-a", *RUN[0][1:])], "score", tmp_path)
    assert main(["evaluate", str(qrels), str(run), "--columns", "qid Q0 vid start end rel"]) == 2
    assert "rename 'qid' to 'query_id'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["explain", str(qrels), str(run), "-a"])
    assert "begins with - comes last, after --" in capsys.readouterr().err
    assert main(["explain", str(qrels), str(run), "--", "-a"]) == 0


def test_the_corpus_says_how_long_videos_are(tmp_path, capsys):
    (tmp_path / "corpus.json").write_text('{"v": [60, 0], "w": [60, 1]}')
    qrels = given_as("file", QRELS, "level", tmp_path)
    run = given_as("file", [*RUN, ("q", "v", 80, 100, 0.1)], "score", tmp_path)
    corpus = ["--corpus", str(tmp_path / "corpus.json")]
    assert main(["evaluate", str(qrels), str(run), "AP(iou=0.5)", *corpus]) == 0
    assert "results that end after their video: 1" in capsys.readouterr().err


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_score_or_level_that_is_no_number_is_called_what_it_is(bad):
    with pytest.raises(mr.SegmentError, match="the run, row 0: the score must be a number"):
        mr.evaluate(QRELS, [(*RUN[0][:4], bad)], MEASURES)
    with pytest.raises(mr.SegmentError, match="the qrels, row 1: the level must be"):
        mr.evaluate([QRELS[0], (*QRELS[1][:4], bad)], RUN, MEASURES)
